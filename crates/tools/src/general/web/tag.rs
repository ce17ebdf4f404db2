//! Tags and text of a page, one after the other.

use super::entity::plain;

/// How many attributes of one tag are looked at.
const MOST_ATTRIBUTES: usize = 64;

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text as it is written.
    Text(&'a str),
    /// A tag that opens, with its name in lower case.
    Open(Tag<'a>),
    /// One that closes.
    Close(String),
}

/// A tag that opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: String,
    inner: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute; empty where it has none.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.inner;
        for _ in 0..MOST_ATTRIBUTES {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if rest.is_empty() {
                return None;
            }
            let end =
                rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/')).unwrap_or(rest.len());
            let (own, after) = rest.split_at(end.max(1).min(rest.len()));
            let after = after.trim_start();
            let (value, next) = match after.strip_prefix('=') {
                Some(value) => value_of(value.trim_start()),
                None => ("", after),
            };
            if own.eq_ignore_ascii_case(name) {
                return Some(plain(value).into_owned());
            }
            rest = next;
        }
        None
    }
}

fn value_of(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let end = inner.find(quote).unwrap_or(inner.len());
            let (value, rest) = inner.split_at(end);
            return (value, rest.get(1..).unwrap_or_default());
        }
    }
    text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len()))
}

/// Elements whose content is no text, whatever it looks like, up to their own closing tag.
const RAW: &[&str] = &["script", "style", "textarea", "title", "noscript", "iframe", "xmp", "template"];

/// Goes through a page.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// The element whose raw content comes next.
    raw: Option<&'static str>,
    /// How many more bytes are looked at for the ends of quotes. Without a bound, a page of quotes that are never closed
    /// would be looked at as often as it has tags.
    patience: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(page: &'a str) -> Self {
        Self { rest: page, raw: None, patience: page.len().saturating_mul(4).saturating_add(1 << 16) }
    }

    fn cut(&mut self, at: usize) -> &'a str {
        let (before, after) = self.rest.split_at(at);
        self.rest = after;
        before
    }

    /// Where the closing tag of a raw element begins.
    fn end_of_raw(&self, name: &str) -> usize {
        let mut from = 0;
        while let Some(at) = self.rest.get(from..).and_then(|rest| rest.find("</")) {
            let start = from + at;
            let after = self.rest.get(start + 2..).unwrap_or_default();
            let is_own = after.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name));
            let is_whole = after
                .get(name.len()..)
                .is_none_or(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
            if is_own && is_whole {
                return start;
            }
            from = start + 2;
        }
        self.rest.len()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take() {
            let end = self.end_of_raw(name);
            let text = self.cut(end);
            if !text.is_empty() {
                return Some(Token::Text(text));
            }
        }
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(start) = self.rest.find('<') else {
                return Some(Token::Text(self.cut(self.rest.len())));
            };
            if start > 0 {
                return Some(Token::Text(self.cut(start)));
            }
            let after = self.rest.get(1..).unwrap_or_default();
            if after.starts_with("!--") {
                // A comment that is not closed takes the rest with it, as in browsers.
                let end =
                    self.rest.get(4..).and_then(|rest| rest.find("-->")).map_or(self.rest.len(), |at| at + 7);
                self.cut(end);
                continue;
            }
            if after.starts_with(['!', '?']) {
                let end = self.rest.find('>').map_or(self.rest.len(), |at| at + 1);
                self.cut(end);
                continue;
            }
            let is_close = after.starts_with('/');
            let name = after.trim_start_matches('/');
            if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                // A sign and no tag.
                return Some(Token::Text(self.cut(1)));
            }
            let end = end_of_tag(self.rest, &mut self.patience);
            let whole = self.cut(end);
            let inner = whole.trim_start_matches(['<', '/']).trim_end_matches('>');
            let end = inner.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(inner.len());
            let (name, inner) = inner.split_at(end);
            let name = name.to_ascii_lowercase();
            if is_close {
                return Some(Token::Close(name));
            }
            self.raw = RAW.iter().copied().find(|raw| *raw == name);
            return Some(Token::Open(Tag { name, inner }));
        }
    }
}

/// Where a tag ends: at the first `>` that stands in no quotes.
fn end_of_tag(text: &str, patience: &mut usize) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().take(*patience) {
        match (quote, byte) {
            (None, b'>') => {
                *patience -= at;
                return at + 1;
            }
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    *patience = patience.saturating_sub(text.len());
    // A quote that is not closed: at the first `>` then, so that one mistake does not take the page.
    text.find('>').map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expect: &str) {
        let tokens: Vec<String> = Tokens::new(page)
            .map(|token| match token {
                Token::Text(text) => format!("'{text}'"),
                Token::Open(tag) => format!("<{}>", tag.name),
                Token::Close(name) => format!("</{name}>"),
            })
            .collect();
        assert_eq!(tokens.join(" "), expect, "{page:?}");
    }

    #[test]
    fn a_page_is_tags_and_text() {
        check("<P>a<br/>b</P >", "<p> 'a' <br> 'b' </p>");
        check("1 < 2 <b>", "'1 ' '<' ' 2 ' <b>");
        check("<!DOCTYPE html><!-- <p>x --><i>", "<i>");
        check("<script>if (a<b) '</p>'</script>x", "<script> 'if (a<b) '</p>'' </script> 'x'");
        check("<style></STYLE>x", "<style> </style> 'x'");
        check("<a title='>'>x", "<a> 'x'");
        check("<a title='>x", "<a> 'x'");
        check("<!-- never closed", "");
        check("<script>never closed", "<script> 'never closed'");
        check("<", "'<'");
    }

    #[test]
    fn attributes_are_found_in_every_manner_of_writing() {
        let page = "<a HREF = \"/x?a=1&amp;b\" hidden data-x=y class='c d'/>";
        let Some(Token::Open(tag)) = Tokens::new(page).next() else { panic!("no tag") };
        let value = |name: &str| tag.attribute(name);
        assert_eq!(value("href").as_deref(), Some("/x?a=1&b"));
        assert_eq!(value("hidden").as_deref(), Some(""));
        assert_eq!(value("data-x").as_deref(), Some("y"));
        assert_eq!(value("class").as_deref(), Some("c d"));
        assert_eq!(value("x"), None);
    }
}
