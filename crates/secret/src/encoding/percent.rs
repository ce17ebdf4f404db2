//! `%2F`: which bytes are written like that differs from library to library.

/// What is never encoded: letters, digits and these.
const UNRESERVED: &[u8] = b"-._~";

/// What else a library leaves as it is, by who does.
const SPARED: &[&[u8]] = &[
    // Strict: RFC 3986, Python's `quote_plus`, Go's `QueryEscape`.
    b"",
    // Python's `quote`, which is made for paths.
    b"/",
    // `encodeURIComponent`.
    b"!*'()",
    // Forms of a browser.
    b"*",
    // `encodeURI`, which leaves whatever may stand in an address.
    b";/?:@&=+$,#!*'()",
    // The path of an address, by the standard.
    b"/:@!$&'()*+,;=",
    // The user's part of an address.
    b"!$&'()*+,;=",
];

/// The form that most libraries write.
pub(super) fn strict(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte))
}

pub(super) fn all(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for spared in SPARED {
        let keeps =
            |byte: u8| byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte) || spared.contains(&byte);
        let once = encode(text, keeps);
        forms.push(once.replace("%20", "+"));
        forms.push(encode(&once, keeps));
        forms.push(once);
    }
    // A form of a browser encodes the tilde, old libraries too.
    let old = encode(text, |byte| byte.is_ascii_alphanumeric() || b"*-._".contains(&byte));
    forms.push(old.replace("%20", "+"));
    forms.push(encode(text, |_| false));
    forms
}

fn encode(text: &str, keeps: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        if keeps(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_forms_are_all_there() {
        let forms = all("p@ss w/rd~ü");
        for expect in [
            "p%40ss%20w%2Frd~%C3%BC",
            "p%40ss+w%2Frd~%C3%BC",
            "p%40ss%20w/rd~%C3%BC",
            "p@ss%20w/rd~%C3%BC",
            "p%40ss+w%2Frd%7E%C3%BC",
            "p%2540ss%2520w%252Frd~%25C3%25BC",
            "%70%40%73%73%20%77%2F%72%64%7E%C3%BC",
        ] {
            assert!(forms.iter().any(|form| form == expect), "{expect} is not in {forms:#?}");
        }
    }
}
