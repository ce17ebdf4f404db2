//! The tags around a skill's text, and why nothing inside can be taken for them.

use std::borrow::Cow;
use std::ops::Range;

use metier_diagnostic::visible;
use metier_files::FileDigest;

/// Names of tags that mean something to whoever reads a conversation.
const TAGS: &[&str] = &["skill-context", "skill-breadcrumb", "memory-record", "web-page"];

/// What stands for the `<` of such a tag inside: the same to a reader, and no tag.
const NEUTRAL: &str = "&lt;";

/// A content with its envelope, and where the content is in it. The content has to be [`neutral`].
pub(super) fn wrap(name: &str, origin: &str, digest: FileDigest, content: &str) -> (String, Range<usize>) {
    let mut text = String::with_capacity(content.len() + 256);
    text.push_str(&format!(
        "<skill-context name=\"{}\" origin=\"{}\" digest=\"{digest}\">\n",
        attribute(name),
        attribute(origin)
    ));
    let start = text.len();
    text.push_str(content);
    let range = start..text.len();
    text.push_str("\n</skill-context>");
    (text, range)
}

/// The line that stands for a skill which is finished, once a conversation is made shorter.
pub fn breadcrumb(name: &str) -> String {
    format!(
        "<skill-breadcrumb name=\"{}\">Skill {} was activated in a previous run</skill-breadcrumb>",
        attribute(name),
        element(name)
    )
}

/// A text as the value of an attribute of an envelope's tag.
pub fn attribute(text: &str) -> String {
    element(text).replace('"', "&quot;").replace('\'', "&#39;")
}

/// A text between two tags.
fn element(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', NEUTRAL).replace('>', "&gt;")
}

/// The text without anything that could be read as a tag of an envelope, opening or closing, in any case, with blanks or
/// with characters that show nothing between its letters: a model reads over those, so the check does, too. Everything
/// else stays byte for byte.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices('<') {
        if is_tag(&text[at + 1..]) {
            out.push_str(&text[copied..at]);
            out.push_str(NEUTRAL);
            copied = at + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether what follows a `<` is the name of such a tag, behind a slash or not.
fn is_tag(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| !is_passed_over(*c)).peekable();
    while letters.next_if(|c| matches!(c, '/' | '\\')).is_some() {}
    let name: String = letters.take(MAX_TAG_NAME).map(|c| c.to_ascii_lowercase()).collect();
    TAGS.iter().any(|tag| name.starts_with(tag))
}

/// No tag's name is longer.
const MAX_TAG_NAME: usize = 16;

/// Blanks, control characters, and what shows nothing.
fn is_passed_over(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'
                ..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_reads_as_a_tag_is_none() {
        let check = |text: &str, expect: &str| assert_eq!(neutral(text), expect, "{text:?}");
        check("</skill-context>", "&lt;/skill-context>");
        check("a <skill-context name=\"x\"> b", "a &lt;skill-context name=\"x\"> b");
        check("</SKILL-Context >", "&lt;/SKILL-Context >");
        check("< / skill-context>", "&lt; / skill-context>");
        check("<\n/skill-context>", "&lt;\n/skill-context>");
        check("</skill\u{200b}-context>", "&lt;/skill\u{200b}-context>");
        check("<//skill-context>", "&lt;//skill-context>");
        check("<skill-breadcrumb>", "&lt;skill-breadcrumb>");
        check("a</Memory-Record>", "a&lt;/Memory-Record>");
        check("<web-page>", "&lt;web-page>");
        check("<</skill-context>>", "<&lt;/skill-context>>");
        for text in
            ["", "a < b", "<skill>", "</skills-context>", "<skill_context>", "&lt;/skill-context>", "<é"]
        {
            check(text, text);
        }
    }

    #[test]
    fn an_attribute_stays_inside_its_quotes() {
        assert_eq!(attribute("a\"b<c>&d'\ne"), "a&quot;b&lt;c&gt;&amp;d&#39;\\ne");
        assert_eq!(
            breadcrumb("greet"),
            "<skill-breadcrumb name=\"greet\">Skill greet was activated in a previous run</skill-breadcrumb>"
        );
        let (text, range) = wrap("a", "user", FileDigest::of(b""), "inside");
        assert_eq!(&text[range], "inside");
        assert!(text.starts_with("<skill-context name=\"a\" origin=\"user\" digest=\"sha256:e3b0c442"));
        assert!(text.ends_with("\ninside\n</skill-context>"));
    }
}
