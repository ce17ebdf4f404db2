//! Tags and text of a page, one after the other, as browsers read them.

use html5gum::{DefaultEmitter, StartTag, Tokenizer};

/// A piece of a page.
#[derive(Debug)]
pub(super) enum Token {
    /// Text, with what is written by name or number in its place.
    Text(String),
    /// A tag that opens.
    Open(Tag),
    /// One that closes, by its name in lower case.
    Close(String),
}

/// A tag that opens.
#[derive(Debug)]
pub(super) struct Tag {
    /// In lower case.
    pub(super) name: String,
    start: StartTag<()>,
}

impl Tag {
    /// The value of an attribute; empty where it has none.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.start.attributes.get(name.as_bytes()).map(|value| text(value))
    }
}

/// Goes through a page. Scripts, styles and their like are one piece of text up to their own closing tag.
pub(super) fn tokens(page: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(page, emitter).filter_map(|Ok(token)| match token {
        html5gum::Token::String(piece) => Some(Token::Text(text(&piece))),
        html5gum::Token::StartTag(start) => Some(Token::Open(Tag { name: text(&start.name), start })),
        html5gum::Token::EndTag(end) => Some(Token::Close(text(&end.name))),
        html5gum::Token::Comment(_) | html5gum::Token::Doctype(_) | html5gum::Token::Error(_) => None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expect: &str) {
        let tokens: Vec<String> = tokens(page)
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
        check("1 < 2 <b>", "'1 < 2 ' <b>");
        check("<!DOCTYPE html><!-- <p>x --><i>", "<i>");
        check("<script>if (a<b) '</p>'</script>x", "<script> 'if (a<b) '</p>'' </script> 'x'");
        check("<style></STYLE>x", "<style> </style> 'x'");
        check("<a title='>'>x", "<a> 'x'");
        check("<!-- never closed", "");
        check("<script>never closed", "<script> 'never closed'");
        check("<", "'<'");
    }

    /// Where a reader that guesses finds other text than a browser shows, text could be hidden from one of the two.
    #[test]
    fn what_is_broken_is_read_as_browsers_do() {
        check("<a title='>x", "");
        check("<!-->x<!-- -->", "'x'");
        check("<!--a--!>x", "'x'");
        check("<!--a-- >x", "");
        check("<?php x ?>y</ z>w", "'y' 'w'");
        check("<script><!--<script></script>x</script>y", "<script> '<!--<script></script>x' </script> 'y'");
        check("&amp;lt; &#60;b&#62; &unknown; &notit; &copy", "'&lt; <b> &unknown; ¬it; ©'");
    }

    #[test]
    fn attributes_are_found_in_every_manner_of_writing() {
        let page = "<a HREF = \"/x?a=1&amp;b\" hidden data-x=y class='c d'/class=z>";
        let Some(Token::Open(tag)) = tokens(page).next() else { panic!("no tag") };
        let value = |name: &str| tag.attribute(name);
        assert_eq!(value("href").as_deref(), Some("/x?a=1&b"));
        assert_eq!(value("hidden").as_deref(), Some(""));
        assert_eq!(value("data-x").as_deref(), Some("y"));
        assert_eq!(value("class").as_deref(), Some("c d"));
        assert_eq!(value("x"), None);
    }
}
