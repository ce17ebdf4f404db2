//! Applying fixes until nothing is left to fix, and proving that nothing else changed.

use metier_diagnostic::{Diagnostic, Edit, apply};
use metier_skill::code::REPAIRS;
use metier_skill::yaml::{Kind, Node};
use metier_skill::{KeyValue, Manifest, ManifestKey};
use std::collections::BTreeMap;

/// How often fixes are applied one after another. A repair can uncover a second one and hardly ever a third; fixes
/// that undo each other must end.
const MAX_ROUNDS: usize = 8;

/// A text after all of its fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// The text.
    pub text: String,
    /// What was done, in the words of the fixes.
    pub done: Vec<String>,
}

/// Applies the fixes that `judge` offers for a SKILL.md, again and again until it offers none. `None` when there was
/// nothing to do, when the fixes do not come to an end, or when a key that no fix is about would read differently: then
/// the text is better left alone.
pub fn mend(source: &str, folder: Option<&str>, judge: impl Fn(&str) -> Vec<Diagnostic>) -> Option<Mended> {
    let (mut text, mut done) = (source.to_owned(), Vec::new());
    for _ in 0..MAX_ROUNDS {
        let fixes: Vec<_> = judge(&text).into_iter().filter_map(|found| found.fix).collect();
        if fixes.is_empty() {
            return (text != source).then_some(Mended { text, done });
        }
        let edits: Vec<Edit> = fixes.iter().flat_map(|fix| fix.edits.iter().cloned()).collect();
        let next = apply(&text, &edits);
        if next == text || !is_faithful(&text, &next, &edits, folder) {
            return None;
        }
        done.extend(fixes.into_iter().map(|fix| fix.label));
        text = next;
    }
    None
}

/// Whether everything that no edit touches still means the same.
fn is_faithful(before: &str, after: &str, edits: &[Edit], folder: Option<&str>) -> bool {
    let parsed = |text: &str| {
        let parsed = metier_skill::parse(text.as_bytes(), folder);
        let repairs = parsed.diagnostics.iter().filter(|found| REPAIRS.contains(&found.code)).count();
        parsed.document.map(|document| (document, repairs))
    };
    let (Some((old, old_repairs)), Some((new, repairs))) = (parsed(before), parsed(after)) else {
        return false;
    };
    // A file that has to be repaired to be read is no better for being fixed.
    if repairs > old_repairs {
        return false;
    }
    let touched = touched_keys(before, old.frontmatter.map_or(0..0, metier_diagnostic::Span::range), edits);
    let (old, new) = (meanings(&old.manifest), meanings(&new.manifest));
    let keys = old.keys().chain(new.keys());
    keys.filter(|key| !touched.contains(&canonical(key))).all(|key| old.get(key) == new.get(key))
}

/// The keys in whose lines an edit stands.
fn touched_keys(source: &str, frontmatter: std::ops::Range<usize>, edits: &[Edit]) -> Vec<String> {
    let mut keys = Vec::new();
    let mut key = String::new();
    let mut at = frontmatter.start;
    for line in source.get(frontmatter).unwrap_or_default().split_inclusive('\n') {
        let is_top = !line.starts_with([' ', '\t', '#', '-']);
        if let Some((name, _)) = line.split_once(':').filter(|_| is_top) {
            key = canonical(name.trim());
        }
        let range = at..at + line.len();
        let is_touched =
            |edit: &Edit| edit.span.range().start < range.end && edit.span.range().end >= range.start;
        if edits.iter().any(is_touched) {
            keys.push(key.clone());
        }
        at = range.end;
    }
    keys
}

/// One spelling for all spellings of a key.
fn canonical(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// What each key means, as a text that has no places in it.
fn meanings(manifest: &Manifest) -> BTreeMap<&str, String> {
    let mut found: BTreeMap<&str, String> = ManifestKey::ALL
        .iter()
        .filter_map(|key| {
            let meaning = match key.value(manifest)? {
                KeyValue::Written(node) => shape(node),
                KeyValue::Tools(list) => format!("{:?}", list.value),
                value => format!("{value:?}"),
            };
            Some((key.name, meaning))
        })
        .collect();
    // What keys mean beside their own values.
    found.insert("name", format!("{} {:?}", manifest.name, manifest.title));
    found.insert("disable-model-invocation", format!("{:?}", manifest.user_only));
    found.insert("needs", format!("{:?}", manifest.more.needs));
    found.extend(manifest.more.extra.iter().map(|(key, value)| (key.as_str(), shape(value))));
    found
}

/// A value without its places.
fn shape(node: &Node<'_>) -> String {
    match &node.kind {
        Kind::Scalar { text, .. } => format!("{text:?}"),
        Kind::Sequence(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(",")),
        Kind::Mapping(entries) => {
            let pairs = entries.iter().map(|entry| format!("{:?}:{}", entry.key, shape(&entry.value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_diagnostic::{Code, Fix, Severity, Span};

    static CODE: Code = Code::new("test", Severity::Warning, "A test.");
    const FILE: &str = "---\nname: a\ndescription: Use when b.\nlicense: MIT\n---\nbody\n";

    fn offering(find: &'static str, put: &'static str) -> impl Fn(&str) -> Vec<Diagnostic> {
        move |text| {
            let Some(at) = text.find(find) else { return Vec::new() };
            let edits = vec![Edit::replace(at, at + find.len(), put)];
            let fix = Fix { label: format!("write `{put}`"), edits };
            vec![Diagnostic::new(&CODE, "x").at(Span::empty(at), text).fix(fix)]
        }
    }

    #[test]
    fn fixes_are_applied_until_none_is_left() {
        let mended = mend(FILE, Some("a"), offering("MIT", "Apache-2.0")).unwrap();
        assert_eq!(mended.text, FILE.replace("MIT", "Apache-2.0"));
        assert_eq!(mended.done, ["write `Apache-2.0`"]);
        assert_eq!(mend(FILE, Some("a"), |_| Vec::new()), None);
    }

    #[test]
    fn every_key_has_a_meaning_that_is_compared() {
        let read = |text: String| metier_skill::parse(text.as_bytes(), Some("a")).document.unwrap().manifest;
        let without = read("---\nunknown: x\n---\nbody\n".to_owned());
        for key in ManifestKey::ALL {
            let with = read(format!("---\n{}: {}\n---\nbody\n", key.name, key.example));
            assert_ne!(meanings(&with).get(key.name), meanings(&without).get(key.name), "{}", key.name);
        }
    }

    #[test]
    fn a_fix_that_changes_another_key_or_never_ends_is_not_made() {
        assert_eq!(mend(FILE, Some("a"), offering("description: ", "when: ")), None);
        assert_eq!(mend(FILE, Some("a"), offering("name: a\nd", "name: a\nx-d")), None);
        assert_eq!(mend(FILE, Some("a"), offering("MIT", "MITMIT")), None);
        assert_eq!(mend(FILE, Some("a"), offering("---\nname", "name")), None);
    }
}
