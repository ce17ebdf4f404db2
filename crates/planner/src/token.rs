//! A request as words and quoted texts, each with its byte range.

use std::ops::Range;

/// One word of a request, or a text in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The word without what stands around it; a quoted text without its quotes.
    pub(crate) text: &'a str,
    /// Where it stands, marks around it included.
    pub(crate) place: Range<usize>,
    /// Whether it stood in quotes.
    pub(crate) is_quoted: bool,
    /// Whether a colon ends it: what comes behind is what it is about.
    pub(crate) has_colon: bool,
}

/// The quotes that people write, each with the one that closes it.
const QUOTES: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»')];

/// A longer request is not split into tokens: it is a pasted text, and only a reader could tell which part is meant for a
/// command.
pub(crate) const MAX_REQUEST: usize = 8 * 1024;

/// The tokens of a request, in order; none where it is longer than [`MAX_REQUEST`].
pub(crate) fn tokens(request: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    if request.len() > MAX_REQUEST {
        return tokens;
    }
    let mut at = 0;
    while let Some(rest) = request.get(at..).filter(|rest| !rest.is_empty()) {
        let blanks = rest.len() - rest.trim_start().len();
        if blanks > 0 {
            at += blanks;
            continue;
        }
        if let Some((text, length)) = quoted(rest) {
            let behind = at + length;
            let marks = trailing_marks(&request[behind..]);
            let has_colon = request[behind..behind + marks].contains(':');
            tokens.push(Token { text, place: at..behind + marks, is_quoted: true, has_colon });
            at = behind + marks;
            continue;
        }
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..length];
        let text = bare(word);
        if !text.is_empty() {
            let has_colon = word.ends_with(':');
            tokens.push(Token { text, place: at..at + length, is_quoted: false, has_colon });
        }
        at += length;
    }
    tokens
}

/// A quoted text that begins here, and how many bytes it takes with its quotes. It ends where a word ends, so that an
/// apostrophe inside is text.
fn quoted(rest: &str) -> Option<(&str, usize)> {
    let open = rest.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(begin, _)| *begin == open)?;
    let inner = &rest[open.len_utf8()..];
    let end = inner.char_indices().find(|(at, c)| {
        let behind = &inner[at + c.len_utf8()..];
        c == close && behind[trailing_marks(behind)..].chars().next().is_none_or(char::is_whitespace)
    });
    let (end, _) = end.filter(|(end, _)| !inner[..*end].trim().is_empty())?;
    Some((&inner[..end], open.len_utf8() + end + close.len_utf8()))
}

/// How many bytes of marks come before the next blank.
fn trailing_marks(text: &str) -> usize {
    text.len() - text.trim_start_matches(['.', ',', ';', ':', '!', '?', ')']).len()
}

/// A word without the marks around it. Dots alone are a path.
fn bare(word: &str) -> &str {
    if word.chars().all(|c| c == '.') && word.len() <= 2 {
        return word;
    }
    let word = word.trim_start_matches(['(', '[', '"', '“', '„', '«', '‘']);
    word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '”', '»', '’'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &str, expect: &[&str]) {
        let shown: Vec<String> = tokens(request)
            .into_iter()
            .map(|token| {
                assert!(request[token.place.clone()].contains(token.text));
                let text = token.text;
                let colon = if token.has_colon { ":" } else { "" };
                if token.is_quoted { format!("[{text}]{colon}") } else { format!("{text}{colon}") }
            })
            .collect();
        assert_eq!(shown, expect, "{request:?}");
    }

    #[test]
    fn words_lose_the_marks_around_them() {
        check("Add  milk, (eggs) and #3!", &["Add", "milk", "eggs", "and", "#3"]);
        check("count . in ../x.", &["count", ".", "in", "../x"]);
        check("todo: buy", &["todo:", "buy"]);
        check(" ?! ", &[]);
    }

    #[test]
    fn quoted_texts_stay_whole() {
        check("add \"buy milk, now\" to it", &["add", "[buy milk, now]", "to", "it"]);
        check("add 'it's late', please", &["add", "[it's late]", "please"]);
        check("add “a b”. «c d»: `e`", &["add", "[a b]", "[c d]:", "[e]"]);
        check("don't say 'hello", &["don't", "say", "'hello"]);
        check("\"\" x", &["x"]);
        check("5\" nails", &["5", "nails"]);
    }
}
