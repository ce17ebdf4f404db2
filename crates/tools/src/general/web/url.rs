//! Addresses of pages.

use std::fmt;

use metier_policy::Host;

/// The longest address that is taken. Browsers and servers take about as much.
const MOST: usize = 8192;

/// How a page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::general) enum Scheme {
    Http,
    Https,
}

/// The address of a page: of whom, at which port, which page. One spelling each, so that what is decided about is what is
/// asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::general) struct Url {
    pub(in crate::general) scheme: Scheme,
    pub(in crate::general) host: Host,
    pub(in crate::general) port: u16,
    /// The path and the query, as they stand in a request.
    pub(in crate::general) target: String,
}

/// Why a text is no address of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::general) enum NoUrl {
    #[error("the address is longer than {MOST} bytes")]
    Long,
    #[error("the address begins with neither `https://` nor `http://`")]
    Scheme,
    #[error("the address has a user name or a password in it; leave out what stands before `@`")]
    UserInfo,
    #[error(transparent)]
    Host(#[from] metier_policy::NoHost),
    #[error("the port is no number from 1 to 65535")]
    Port,
    #[error("the address has a control character in it")]
    Control,
}

impl Scheme {
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl Url {
    /// Parses an absolute URL. One without `http://` or `https://` is an error.
    pub(in crate::general) fn parse(text: &str) -> Result<Self, NoUrl> {
        let text = text.trim();
        if text.len() > MOST {
            return Err(NoUrl::Long);
        }
        // A line break in an address would begin a header in the request.
        if text.chars().any(char::is_control) {
            return Err(NoUrl::Control);
        }
        let (scheme, rest) = if let Some(rest) = strip(text, "https://") {
            (Scheme::Https, rest)
        } else if let Some(rest) = strip(text, "http://") {
            (Scheme::Http, rest)
        } else {
            return Err(NoUrl::Scheme);
        };
        // Some readers take a backslash for a slash; nobody may read another host than we do.
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        if authority.contains('@') {
            return Err(NoUrl::UserInfo);
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, if port.is_empty() { scheme.port() } else { number(port)? })
            }
            _ => (authority, scheme.port()),
        };
        Ok(Self { scheme, host: Host::new(host)?, port, target: target("/", tail) })
    }

    /// The address that a page of this one names: whole, or seen from here.
    pub(in crate::general) fn join(&self, text: &str) -> Result<Self, NoUrl> {
        let text = text.trim();
        if text.len() > MOST {
            return Err(NoUrl::Long);
        }
        if let Some(rest) = text.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.scheme.word()));
        }
        if has_scheme(text) {
            return Self::parse(text);
        }
        if text.chars().any(char::is_control) {
            return Err(NoUrl::Control);
        }
        let own = self.target.split(['?']).next().unwrap_or("/");
        let target = match text.chars().next() {
            None | Some('#') => self.target.clone(),
            Some('?') => target(own, text),
            Some('/' | '\\') => target("/", text),
            Some(_) => {
                let folder = own.rfind('/').map_or("/", |at| own.get(..=at).unwrap_or("/"));
                target("/", &format!("{folder}{text}"))
            }
        };
        Ok(Self { target, ..self.clone() })
    }

    /// The host as a request names it, with the port where it is not the usual one.
    pub(in crate::general) fn authority(&self) -> String {
        let host = self.host.as_str();
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.word(), self.authority(), self.target)
    }
}

fn strip<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// Whether a text begins with a scheme: letters and a colon before the first slash.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_letter)
}

fn number(text: &str) -> Result<u16, NoUrl> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_plain && *port > 0).ok_or(NoUrl::Port)
}

/// The path and the query as a request has them: without a fragment, without steps upwards, every byte that is no plain
/// character of an address written as `%XX`.
fn target(path: &str, tail: &str) -> String {
    let tail = tail.split('#').next().unwrap_or_default();
    let (own, query) = match tail.split_once('?') {
        Some((own, query)) => (own, Some(query)),
        None => (tail, None),
    };
    let path = if own.is_empty() { path.to_owned() } else { own.replace('\\', "/") };
    let mut steps: Vec<&str> = Vec::new();
    let mut is_folder = path.ends_with('/');
    for step in path.split('/').skip(1) {
        is_folder = matches!(step, "" | "." | "..");
        match step {
            "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    if is_folder && steps.last().is_some_and(|last| !last.is_empty()) {
        steps.push("");
    }
    let mut target = format!("/{}", steps.join("/"));
    if let Some(query) = query {
        target.push('?');
        target.push_str(query);
    }
    let mut out = String::with_capacity(target.len());
    for byte in target.bytes() {
        match byte {
            b'!' | b'#'..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_spelling() {
        let check = |text: &str, expect: &str| {
            let got = Url::parse(text).map_or_else(|error| format!("! {error}"), |url| url.to_string());
            assert_eq!(got, expect, "{text:?}");
        };
        check("https://Example.org", "https://example.org/");
        check(" HTTPS://example.org:443/a#b ", "https://example.org/a");
        check("http://example.org:8080/a b?c=ü", "http://example.org:8080/a%20b?c=%C3%BC");
        check("https://example.org/a/../../b/./c/", "https://example.org/b/c/");
        check("https://example.org?x=1", "https://example.org/?x=1");
        check("https://example.org\\@evil.example/", "https://example.org/@evil.example/");
        check("https://[::1]:8443/", "https://[::1]:8443/");
        check("https://0x7f.1/", "https://127.0.0.1/");
        check("https://a%41b/", "! `a%41b` is no host name; write it as `api.example.com`");
        for text in ["ftp://a/", "file:///etc/passwd", "example.org", "javascript:alert(1)", ""] {
            check(text, "! the address begins with neither `https://` nor `http://`");
        }
        check(
            "https://me:pw@example.org/",
            "! the address has a user name or a password in it; leave out what stands before `@`",
        );
        check("https://example.org:0/", "! the port is no number from 1 to 65535");
        check("https://example.org:+80/", "! the port is no number from 1 to 65535");
        check("https://example.org/a\r\nX: y", "! the address has a control character in it");
        assert!(
            Url::parse("https:///x").is_err()
                && Url::parse(&format!("https://a/{}", "x".repeat(MOST))).is_err()
        );
    }

    #[test]
    fn a_link_is_seen_from_its_page() {
        let page = Url::parse("https://example.org/docs/a.html?q=1").unwrap();
        let check = |link: &str, expect: &str| {
            let got = page.join(link).map_or_else(|error| format!("! {error}"), |url| url.to_string());
            assert_eq!(got, expect, "{link:?}");
        };
        check("b.html", "https://example.org/docs/b.html");
        check("../c", "https://example.org/c");
        check("/d?x#y", "https://example.org/d?x");
        check("?z", "https://example.org/docs/a.html?z");
        check("#part", "https://example.org/docs/a.html?q=1");
        check("//other.example/e", "https://other.example/e");
        check("http://other.example/", "http://other.example/");
        check("a/b:c", "https://example.org/docs/a/b:c");
        check("javascript:alert(1)", "! the address begins with neither `https://` nor `http://`");
    }
}
