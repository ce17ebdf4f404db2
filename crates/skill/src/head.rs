//! The frontmatter of Markdown files that are no skills, such as those that define an agent: the same delimiters, the same repairs,
//! and a tree instead of a manifest.

use crate::parse::strict_entries;
use crate::repair::{self, Mended};
use crate::yaml::{Kind, Node, Value};
use metier_diagnostic::{Diagnostic, Span};

/// What stands before the body of a Markdown file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The keys, a mapping. `None` where there is no frontmatter, or none that could be read.
    pub keys: Option<Value>,
    /// The byte where the body begins.
    pub body: usize,
    /// What was mended, or why nothing could be read. A file without frontmatter is no problem here.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads what stands before the body of a Markdown file. Never fails, as [`crate::parse()`] does not.
pub fn head(text: &str) -> Head {
    if let Some((entries, split)) = strict_entries(text) {
        let keys = Node { span: Span::from(split.yaml), kind: Kind::Mapping(entries) };
        return Head { keys: Some(keys.into_owned()), body: split.body, diagnostics: Vec::new() };
    }
    let (keys, body, diagnostics) = match repair::mend(text) {
        Mended::Frontmatter(found) => {
            let keys = Node { span: found.yaml, kind: Kind::Mapping(found.entries) };
            (Some(keys), found.body, found.findings.into_diagnostics(text))
        }
        Mended::Empty { body, at } => {
            (Some(Node { span: at, kind: Kind::Mapping(Vec::new()) }), body, Vec::new())
        }
        Mended::Missing => (None, 0, Vec::new()),
        Mended::Refused(reason) => (None, 0, vec![*reason]),
    };
    Head { keys, body, diagnostics }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, keys: Option<&[&str]>, body: &str, codes: &[&str]) {
        let head = head(text);
        let found = head.keys.as_ref().and_then(Node::entries);
        let found: Option<Vec<&str>> = found.map(|entries| entries.iter().map(|entry| &*entry.key).collect());
        assert_eq!(found.as_deref(), keys, "{text:?}");
        assert_eq!(&text[head.body..], body, "{text:?}");
        let said: Vec<&str> = head.diagnostics.iter().map(|found| found.code.name()).collect();
        assert_eq!(said, codes, "{text:?}");
    }

    #[test]
    fn keys_and_body_are_told_apart_and_an_unquoted_colon_is_mended() {
        check("---\nname: a\nskills: [b]\n---\nBe kind.\n", Some(&["name", "skills"]), "Be kind.\n", &[]);
        check("---\ndescription: Use when: asked\n---\nx", Some(&["description"]), "x", &["unquoted-colon"]);
        check("---\n---\nx", Some(&[]), "x", &[]);
        check("Just text, and a good deal of it.", None, "Just text, and a good deal of it.", &[]);
        check("---js\na\n---\n", None, "---js\na\n---\n", &["frontmatter-engine"]);
        check("---\n- a\n---\n", None, "---\n- a\n---\n", &["frontmatter-not-a-mapping"]);
    }

    #[test]
    fn spans_are_of_the_file() {
        let text = "---\nname: a\nmodel: fast\n---\n";
        let keys = head(text).keys.unwrap();
        assert_eq!(keys.get("model").unwrap().span.of(text), "fast");
    }
}
