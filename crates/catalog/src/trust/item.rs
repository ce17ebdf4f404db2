//! One thing that a project switches on, with a description for the person who decides.

use super::entry::{EntryDigest, TrustEntry, TrustKind};
use metier_diagnostic::visible;
use serde::Serialize;
use std::collections::BTreeSet;

/// One thing that a project switches on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustItem {
    /// What is compared.
    #[serde(flatten)]
    pub entry: TrustEntry,
    /// What it is, such as ``MCP server `github` ``. Never a key.
    pub what: String,
    /// What it would do, a line each. Nothing is cut.
    pub details: Vec<Detail>,
    /// The same in one line.
    pub detail: String,
    /// Whether this represents something that is missing, such as a list of tools that no longer restricts. It counts as a
    /// change only if the record has the thing.
    #[serde(skip)]
    pub(crate) is_absence: bool,
}

/// One line about a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// The line, fit for a terminal.
    pub text: String,
    /// The environment variables whose values would be used.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub variables: BTreeSet<String>,
}

impl Detail {
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self { text: shown(text.as_ref()), variables: BTreeSet::new() }
    }

    /// A line about a text in which `${NAME}` stands for a variable.
    pub(super) fn filled(text: impl AsRef<str>) -> Self {
        Self { variables: variables_in(text.as_ref()), ..Self::new(text) }
    }
}

impl TrustItem {
    pub(crate) fn new(entry: TrustEntry, details: Vec<Detail>) -> Self {
        let what = format!("{} `{}`", entry.kind.word(), shown(&entry.name.name));
        Self::called(what, entry, details)
    }

    /// An item with words of its own, where the kind and the name do not say enough or say it twice.
    pub(super) fn called(what: String, entry: TrustEntry, details: Vec<Detail>) -> Self {
        let lines: Vec<&str> = details.iter().map(|detail| detail.text.as_str()).collect();
        let detail = lines.join("; ");
        Self { entry, what, details, detail, is_absence: false }
    }

    /// An item for something that is missing.
    pub(super) fn absent(kind: TrustKind, place: &str, name: &str) -> Self {
        let entry = TrustEntry::new(kind, place, name, EntryDigest::of_parts(&[]));
        Self { is_absence: true, ..Self::new(entry, vec![Detail::new("is gone, so it restricts nothing")]) }
    }
}

/// A stranger's text for one line of a terminal: nothing hides, nothing is left out.
pub(super) fn shown(text: &str) -> String {
    visible(&text.replace('\t', "\\t")).into_owned()
}

/// The names in `${NAME}` and `${NAME:-text}`, as the MCP client reads them.
pub(crate) fn variables_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some((_, from)) = rest.split_once("${") {
        let Some((inside, after)) = from.split_once('}') else { break };
        let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
        names.insert(name.to_owned());
        rest = after;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_where_the_client_fills_them_in() {
        let names = |text: &str| variables_in(text).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(names("Bearer ${A}, ${B:-x}${C}"), "A B C");
        assert_eq!(names("$A ${A"), "");
    }

    #[test]
    fn nothing_of_a_name_is_hidden() {
        let item = TrustItem::new(
            TrustEntry::server(".mcp.json", "my\tdb\u{200b}", &serde_json::json!({})),
            Vec::new(),
        );
        assert_eq!(item.what, "MCP server `my\\tdb\\u{200b}`");
    }
}
