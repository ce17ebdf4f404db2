//! What stands in a secret's place.

/// Brackets around a name, the usual ones first.
const BRACKETS: &[(&str, &str)] = &[
    ("[", "]"),
    ("<", ">"),
    ("(", ")"),
    ("{", "}"),
    ("*", "*"),
    ("|", "|"),
    ("~", "~"),
    ("#", "#"),
    ("_", "_"),
];

/// Words between the brackets when the name itself is a part of a secret.
const WORDS: &[&str] = &["redacted", "removed", "hidden", "***", "---", "..."];

/// A text for a secret of this name that cannot become a part of a secret again, whatever stands beside it.
///
/// That matters for a value such as `secret` or `]x[`: in place of one the usual text would show it, or make it with its
/// neighbours. When nothing fits, because secrets begin with every byte there is, the usual text has to do.
pub(super) fn marker(name: &str, words: &[&[u8]]) -> Vec<u8> {
    let named = BRACKETS.iter().map(|(open, close)| format!("{open}secret {name}{close}"));
    let other = WORDS
        .iter()
        .flat_map(|word| BRACKETS.iter().map(move |(open, close)| format!("{open}{word}{close}")));
    let bytes = (b'!'..=b'~').chain(0x80..=0xff).map(|byte| vec![byte]);
    let mut candidates = named.chain(other).map(String::into_bytes).chain(bytes);
    candidates
        .find(|candidate| !words.iter().any(|word| touches(candidate, word)))
        .unwrap_or_else(|| format!("[secret {name}]").into_bytes())
}

/// Whether a word could lie over the marker, wholly or in part.
fn touches(marker: &[u8], word: &[u8]) -> bool {
    let holds = |long: &[u8], short: &[u8]| {
        long.windows(short.len()).any(|window| window.eq_ignore_ascii_case(short))
    };
    if holds(marker, word) || holds(word, marker) {
        return true;
    }
    (1..marker.len().min(word.len())).any(|length| {
        marker[..length].eq_ignore_ascii_case(&word[word.len() - length..])
            || marker[marker.len() - length..].eq_ignore_ascii_case(&word[..length])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_never_a_part_of_a_secret() {
        let check = |words: &[&str], expect: &str| {
            let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            let marker = marker("KEY", &words);
            assert_eq!(String::from_utf8_lossy(&marker), expect, "{words:?}");
        };
        check(&["hunter22"], "[secret KEY]");
        check(&["secret"], "[redacted]");
        check(&["KEY"], "[redacted]");
        check(&["key"], "[redacted]");
        check(&["]abc"], "<secret KEY>");
        check(&["abc["], "<secret KEY>");
        check(&["abc[secret"], "<secret KEY>");
        check(&["a[secret KEY]b"], "<secret KEY>");
        check(&["abc[", "<abc", ">abc"], "(secret KEY)");
    }
}
