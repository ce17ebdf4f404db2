//! core-agent: a sanitiser that keeps six keys, and behind it the strict parser of ADK 1.2.0. One skill that fails
//! leaves the agent without any.

use super::fence::{Fence, Reading, read};
use super::opinion::{Bench, Opinion, Refusal};
use super::schema::{Reader, Type};
use super::substitution::{self, NOTHING};
use super::text::{grouped, shown};
use super::{FileView, loss};
use crate::name::is_canonical;
use crate::yaml::{self, Entry, Kind, Node, Style};
use metier_diagnostic::Span;

/// The longest description, in bytes.
const MAX_DESCRIPTION: usize = 1_024;
/// The longest `compatibility`, in bytes.
const MAX_COMPATIBILITY: usize = 500;
const READER: Reader = Reader::Go;

pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    bench.stops_others();
    bench.require_exact_file_name(file);
    bench.require_real_folder(file);
    let (reading, passage) = read_either_way(file)?;
    for entry in &reading.entries {
        bench.key(entry, opinion(entry, file, passage));
    }
    bench.refuse_repeated_keys(&reading);
    bench.require_keys(&reading, &["name", "description"]);
    substitution::judge(bench, file, &NOTHING);
    Ok(())
}

/// What a file went through before it was parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passage {
    /// The sanitiser took everything but six keys out.
    Sanitised,
    /// The sanitiser could not read it and left it alone.
    Untouched,
}

/// Reads what the sanitiser makes of the file. A `---` inside quotes cuts its part of the frontmatter in two, and then
/// the parser, which looks for lines, gets the file as it is.
fn read_either_way<'a>(file: &FileView<'a>) -> Result<(Reading<'a>, Passage), (Span, Opinion)> {
    let error = match read(file, Fence::AnywhereEndingLines) {
        Ok(reading) => return Ok((reading, Passage::Sanitised)),
        Err(error) => error,
    };
    let close = error.0.range().start;
    let is_cut = error.0.of(file.source) == "---" && close + 3 < file.source.len();
    let cut = file.source.get(3..close).filter(|_| is_cut);
    match cut.map(|cut| yaml::parse(cut, 3)) {
        Some(Err(_)) => Ok((read(file, Fence::TrimmedLines)?, Passage::Untouched)),
        _ => Err(error),
    }
}

fn opinion(entry: &Entry<'_>, file: &FileView<'_>, passage: Passage) -> Opinion {
    let value = &entry.value;
    let kind = READER.type_of(value);
    let not_text =
        || Opinion::refused(format!("`{}` must be a text and is {}", entry.key, kind.word())).at(value.span);
    match (&*entry.key, kind) {
        ("name" | "description" | "license", Type::List | Type::Map) => not_text(),
        ("name", _) => name(value, file.folder),
        ("description", _) => description(value),
        ("license", _) => Opinion::same(),
        ("compatibility", _) => compatibility(value),
        ("metadata", Type::Map) => loss::kept_metadata(file.manifest()),
        ("metadata" | "allowed-tools", Type::Null) => Opinion::ignored(),
        ("metadata", _) => Opinion::lost("`metadata` is no mapping and is dropped").at(value.span),
        ("allowed-tools", Type::List) => allowed_tools(value, entry, file),
        ("allowed-tools", _) => {
            Opinion::refused(format!("`allowed-tools` must be a list and is {}", kind.word()))
                .at(value.span)
                .help("write one tool a line, each behind `- `")
        }
        (key, _) if passage == Passage::Untouched => {
            let reason = format!(
                "{} is taken out elsewhere and not here, since a `---` inside quotes is in the way",
                shown(key)
            );
            Opinion::refused(reason).help("write a dash (`–`) or other words instead of `---`")
        }
        _ => loss::without(entry, file.manifest()),
    }
}

fn name(value: &Node<'_>, folder: Option<&str>) -> Opinion {
    let name = if value.is_null() { "" } else { value.text().unwrap_or_default() };
    if !is_canonical(name) {
        let reason =
            format!("the name {} is not 1 to 64 of `a-z`, `0-9` and single inner hyphens", shown(name));
        return Opinion::refused(reason).at(value.span).help("use such a name for the folder, too");
    }
    match folder {
        Some(folder) if folder != name => {
            let reason = format!("the name {} is not the folder's, {}", shown(name), shown(folder));
            Opinion::refused(reason).at(value.span).help("give the folder and the skill the same name")
        }
        _ => Opinion::same(),
    }
}

fn description(value: &Node<'_>) -> Opinion {
    let text = if value.is_null() { "" } else { value.text().unwrap_or_default() };
    if text.is_empty() {
        return Opinion::refused("`description` is empty").at(value.span).help("say when to use it");
    }
    if text.len() > MAX_DESCRIPTION {
        let (length, most) = (grouped(text.len()), grouped(MAX_DESCRIPTION));
        let reason = format!("the description has {length} bytes; {most} are the most");
        return Opinion::refused(reason)
            .at(value.span)
            .help("shorten it; letters outside ASCII count more than once");
    }
    Opinion::same()
}

/// A text stays; everything else becomes the text of its YAML.
fn compatibility(value: &Node<'_>) -> Opinion {
    let is_number = value.items().is_none() && value.entries().is_none() && !value.is_text();
    if let Some(text) = value.text().filter(|_| !is_number) {
        if text.len() > MAX_COMPATIBILITY {
            let reason = format!("`compatibility` has {} bytes; 500 are the most", grouped(text.len()));
            return Opinion::refused(reason).at(value.span).help("shorten it");
        }
        return Opinion::same();
    }
    let mut written = String::new();
    write_yaml(value, 0, &mut written);
    let written = written.trim_end();
    if written.len() > MAX_COMPATIBILITY {
        let reason =
            format!("`compatibility` becomes a text of {} bytes; 500 are the most", grouped(written.len()));
        return Opinion::refused(reason).at(value.span).help("write it as one short text");
    }
    if value.is_null() {
        return Opinion::ignored();
    }
    Opinion::changed(format!("`compatibility` is no text and becomes one: {}", shown(written)))
        .at(value.span)
        .help("write it as one text")
}

/// Roughly the block form of a value, for its length and to show it.
fn write_yaml(node: &Node<'_>, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    match &node.kind {
        Kind::Scalar { text, style: Style::Plain } => out.push_str(text),
        Kind::Scalar { text, .. } => out.push_str(text.trim_end()),
        Kind::Sequence(items) => {
            for item in items {
                out.push_str(&blanks);
                out.push_str("- ");
                write_yaml(item, indent + 2, out);
                out.push('\n');
            }
        }
        Kind::Mapping(entries) => {
            for entry in entries {
                out.push_str(&blanks);
                out.push_str(&entry.key);
                out.push_str(": ");
                if entry.value.text().is_none() {
                    out.push('\n');
                }
                write_yaml(&entry.value, indent + 4, out);
                out.push('\n');
            }
        }
    }
}

fn allowed_tools(value: &Node<'_>, entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    let is_odd = |item: &&Node<'_>| item.text().is_none();
    if let Some(odd) = value.items().unwrap_or_default().iter().find(is_odd) {
        return Opinion::refused("`allowed-tools` must be a list of texts").at(odd.span);
    }
    if loss::is_nothing(entry, file.manifest()) {
        return Opinion::ignored();
    }
    Opinion::changed("`allowed-tools` is shown to the model and never enforced: every tool may be called")
        .at(value.span)
        .help("do not rely on it to keep tools away")
}
