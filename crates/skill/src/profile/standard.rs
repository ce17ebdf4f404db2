//! The open standard: six keys, exact rules, and a reference validator that reads a small part of YAML. A skill loads
//! here when that validator has nothing to say.

use super::fence::{Fence, Reading, read};
use super::opinion::{Bench, Opinion, Refusal};
use super::python::{Breaks, odd_break, stray_tab};
use super::text::{grouped, shown};
use super::{FileView, loss};
use crate::name::{MAX_NAME, normal_form};
use crate::yaml::{Entry, Feature, Kind, Node};
use metier_diagnostic::{Position, Span};
use unicode_normalization::char::is_combining_mark;

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1_024;
/// The longest `compatibility`, in characters.
const MAX_COMPATIBILITY: usize = 500;

pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    if !matches!(file.document_name, "SKILL.md" | "skill.md") {
        let reason = format!("the file is called `{}`; it must be `SKILL.md`", file.document_name);
        bench.pass_over(Opinion::refused(reason));
    }
    bench.require_utf8(file);
    let reading = read_simply(file)?;
    for entry in &reading.entries {
        bench.key(entry, opinion(entry, file));
    }
    bench.require_keys(&reading, &["name", "description"]);
    Ok(())
}

/// Reads as the validator does: no flow, no anchors, no tags, no repeated keys, even indentation, no second document.
fn read_simply<'a>(file: &FileView<'a>) -> Result<Reading<'a>, (Span, Opinion)> {
    let reading = read(file, Fence::Anywhere)?;
    if let Some((feature, span)) = reading.first_feature(file.source) {
        let (what, help) = match feature {
            Feature::Flow => {
                ("a list or mapping in brackets", "write it over several lines, or in quotes as a text")
            }
            Feature::Anchor => ("an anchor", "write the value out"),
            Feature::Tag => ("a tag", "leave it out"),
        };
        return Err((span, Opinion::refused(format!("{what} is not read")).help(help)));
    }
    let tab = stray_tab(&reading.entries, file.source, reading.yaml.clone());
    if let Some(odd) = tab.or_else(|| odd_break(&reading.entries, file.source, Breaks::InBlocks)) {
        return Err(odd);
    }
    if reading.entries.is_empty() {
        let reason = "the frontmatter is no mapping of keys to values";
        return Err((reading.place(), Opinion::refused(reason).help("write `name:` and `description:`")));
    }
    match trouble(&reading.entries, file.source) {
        Some(trouble) => Err(trouble),
        None => Ok(reading),
    }
}

/// The first mapping, from the outside in, with a repeated key or with inner mappings at different columns.
fn trouble(entries: &[Entry<'_>], source: &str) -> Option<(Span, Opinion)> {
    for (at, entry) in entries.iter().enumerate() {
        if entries[..at].iter().any(|earlier| earlier.key == entry.key) {
            let opinion = Opinion::refused(format!("`{}` stands twice", entry.key));
            return Some((entry.key_span, opinion.help("remove one of them")));
        }
    }
    let mappings = || entries.iter().filter(|entry| entry.value.entries().is_some());
    let column = |entry: &Entry<'_>| Position::of(source, entry.value.span.start as usize).column;
    let first = mappings().next().map(column);
    if let Some(odd) = mappings().find(|entry| Some(column(entry)) != first) {
        let reason = format!("what stands under `{}` is indented differently than other mappings", odd.key);
        return Some((odd.value.span, Opinion::refused(reason).help("indent all of them alike")));
    }
    entries.iter().find_map(|entry| inner_trouble(&entry.value, source))
}

fn inner_trouble(node: &Node<'_>, source: &str) -> Option<(Span, Opinion)> {
    match &node.kind {
        Kind::Scalar { .. } => None,
        Kind::Sequence(items) => items.iter().find_map(|item| inner_trouble(item, source)),
        Kind::Mapping(entries) => trouble(entries, source),
    }
}

fn opinion(entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    let value = &entry.value;
    let manifest = file.manifest();
    match &*entry.key {
        "name" => name(value, file.folder),
        "description" => match value.text() {
            None => Opinion::refused("`description` must be a text").at(value.span),
            Some(text) if text.trim().is_empty() => {
                Opinion::refused("`description` is empty").help("say what it does and when to use it")
            }
            Some(text) => {
                limit("the description", text, MAX_DESCRIPTION, value).unwrap_or_else(Opinion::same)
            }
        },
        "compatibility" => match value.text() {
            None => {
                Opinion::refused("`compatibility` must be a text").at(value.span).help("write it as one text")
            }
            Some(text) => {
                limit("`compatibility`", text, MAX_COMPATIBILITY, value).unwrap_or_else(Opinion::same)
            }
        },
        "license" => Opinion::same(),
        "metadata" => loss::kept_metadata(manifest),
        "allowed-tools" if loss::is_nothing(entry, manifest) => Opinion::ignored(),
        "allowed-tools" => {
            Opinion::changed("`allowed-tools` approves tools beforehand and restricts nothing")
                .at(value.span)
                .help("do not rely on it to keep tools away")
        }
        key => Opinion::refused(format!("{} is no key of the standard", shown(key)))
            .help("put it below `metadata`, or leave it out where only six keys are taken"),
    }
}

fn limit(what: &str, text: &str, most: usize, value: &Node<'_>) -> Option<Opinion> {
    let length = text.chars().count();
    let reason = || format!("{what} has {} characters; {} are the most", grouped(length), grouped(most));
    (length > most).then(|| Opinion::refused(reason()).at(value.span).help("shorten it"))
}

/// Every complaint about a name, in one sentence.
fn name(value: &Node<'_>, folder: Option<&str>) -> Opinion {
    let Some(written) = value.text() else {
        return Opinion::refused("`name` must be a text").at(value.span);
    };
    if written.trim().is_empty() {
        return Opinion::refused("`name` is empty").help("give it the folder's name");
    }
    let name = normal_form(written.trim());
    let mut odd = Vec::new();
    let length = name.chars().count();
    if length > MAX_NAME {
        odd.push(format!("has {length} characters where {MAX_NAME} are the most"));
    }
    if name != name.to_lowercase() {
        odd.push("is not lower-case".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        odd.push("begins or ends with a hyphen".to_owned());
    }
    if name.contains("--") {
        odd.push("has two hyphens in a row".to_owned());
    }
    if !name.chars().all(|c| c == '-' || is_letter_or_digit(c)) {
        odd.push("has other characters than letters, digits and hyphens".to_owned());
    }
    if let Some(folder) = folder.filter(|folder| normal_form(folder) != name) {
        odd.push(format!("is not the folder's, {}", shown(folder)));
    }
    if odd.is_empty() {
        return Opinion::same();
    }
    let reason = format!("the name {} {}", shown(&name), odd.join(" and "));
    Opinion::refused(reason).at(value.span).help("use the folder's name, in `a-z`, `0-9` and single hyphens")
}

/// Letters and digits by their general category. Rust's `is_alphanumeric` also takes marks and circled letters.
fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric()
        && !is_combining_mark(c)
        && !matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}
