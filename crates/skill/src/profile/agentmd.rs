//! agentmd: four keys, read as YAML 1.1 between the first two `---` of the file.

use super::fence::{Fence, Reading, read};
use super::opinion::{Bench, Opinion, Refusal};
use super::python::{Breaks, odd_break, stray_tab};
use super::schema::{Reader, Type};
use super::substitution::{self, Arguments, Replaces};
use super::text::shown;
use super::{FileView, loss};
use crate::injection::injected_commands;
use crate::manifest::Description;
use crate::yaml::Entry;
use metier_diagnostic::Span;

const READER: Reader = Reader::Python;
const REPLACES: Replaces =
    Replaces { arguments: Arguments::Whole, commands: true, folder: Some("${SKILL_DIR}") };
/// Fields that it fills in itself. A key of that name is handed over twice, which is an error nobody catches.
const TAKEN: [&str; 4] = ["skill_dir", "instructions", "has_scripts", "has_references"];

pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    bench.require_exact_file_name(file);
    bench.require_utf8(file);
    let reading = read(file, Fence::Anywhere)?;
    if reading.entries.is_empty() {
        let opinion = Opinion::refused("the frontmatter is no mapping of keys to values");
        return Err((reading.place(), opinion.help("write `name:` and `description:`")));
    }
    let tab = stray_tab(&reading.entries, file.source, reading.yaml.clone());
    let odd = tab.or_else(|| odd_break(&reading.entries, file.source, Breaks::InBlocksAndPlain));
    if let Some(refusal) = odd {
        return Err(refusal);
    }
    let is_last = |at: usize, key: &str| !reading.entries[at + 1..].iter().any(|entry| entry.key == key);
    for (at, entry) in reading.entries.iter().enumerate() {
        let opinion = if is_last(at, &entry.key) {
            opinion(entry, file)
        } else {
            let reason = format!("`{}` stands twice and the last one counts; here the first does", entry.key);
            Opinion::changed(reason).help("remove one of them")
        };
        bench.key(entry, opinion);
    }
    note_differences(bench, &reading, file);
    substitution::judge(bench, file, &REPLACES);
    Ok(())
}

/// What the split and the missing keys do to the whole.
fn note_differences(bench: &mut Bench, reading: &Reading<'_>, file: &FileView<'_>) {
    let Some(document) = &file.parsed.document else { return };
    let ends_early = document.frontmatter.is_some_and(|ours| reading.yaml.end < ours.range().end);
    if ends_early {
        let span = Span::new(reading.yaml.end, reading.yaml.end + 3);
        let reason = "the first `---` behind the opening one ends the frontmatter: what follows it is body";
        bench.note(span, Opinion::changed(reason).help("write a dash (`–`) or other words instead of `---`"));
    }
    if reading.get("description").is_none()
        && matches!(document.manifest.description, Description::Derived(_))
    {
        let reason = "there is no description, and none is taken from the body: the model sees none";
        bench.note(reading.place(), Opinion::lost(reason).help("write `description:`"));
    }
}

fn opinion(entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    let value = &entry.value;
    let kind = READER.type_of(value);
    let is_quoted = entry.key_span.of(file.source).starts_with(['"', '\'']);
    if !is_quoted && READER.plain(&entry.key) != Type::Text {
        let reason = format!(
            "the key {} is {} and no text, which ends the run",
            shown(&entry.key),
            READER.plain(&entry.key).word()
        );
        return Opinion::refused(reason).help("put the key in quotes, or leave it out");
    }
    let not_text = || {
        let reason = format!("`{}` must be a text and is {}", entry.key, kind.word());
        Opinion::refused(reason).at(value.span).help("put the value in quotes")
    };
    match (&*entry.key, kind) {
        ("name", Type::Text) => name(entry, file.folder),
        ("description", Type::Text) => description(entry),
        ("argument-hint", Type::Text) => Opinion::same(),
        ("name" | "description" | "argument-hint", _) => not_text(),
        ("user-invocable", _) if file.manifest().is_some_and(|manifest| !manifest.user_invocable) => {
            Opinion::changed("`user-invocable` is read and never used: the skill can be called all the same")
                .at(value.span)
        }
        ("user-invocable", _) => Opinion::same(),
        (key, _) if TAKEN.contains(&key) => {
            Opinion::refused(format!("the key `{key}` clashes with a field of its own, which ends the run"))
                .help("name the key otherwise, or put it below `metadata`")
        }
        _ => loss::without(entry, file.manifest()),
    }
}

fn name(entry: &Entry<'_>, folder: Option<&str>) -> Opinion {
    let name = entry.value.text().unwrap_or_default();
    let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || !name.bytes().all(is_taken) {
        let reason =
            format!("the name {} has other characters than letters, digits, `_` and `-`", shown(name));
        return Opinion::refused(reason).at(entry.value.span).help("use the folder's name");
    }
    match folder {
        Some(folder) if folder != name => {
            let reason = format!(
                "the model is told of {}, and only the folder's name, {}, works: the other answers that it is not enabled",
                shown(name),
                shown(folder)
            );
            Opinion::changed(reason).at(entry.value.span).help("give the folder and the skill the same name")
        }
        _ => Opinion::same(),
    }
}

/// The list of skills goes through the same substitution as a body, so a command there is run at every start.
fn description(entry: &Entry<'_>) -> Opinion {
    if injected_commands(entry.value.text().unwrap_or_default()).is_empty() {
        return Opinion::same();
    }
    Opinion::changed("the command in the description is run whenever an agent starts")
        .at(entry.value.span)
        .help("take it out; commands belong in the body")
}
