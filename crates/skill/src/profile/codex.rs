//! Codex: name and description, and nothing else that metier acts on.

use super::fence::{Fence, read};
use super::opinion::{Bench, Opinion, Refusal};
use super::substitution::{self, NOTHING};
use super::text::grouped;
use super::{FileView, loss};
use crate::yaml::Entry;

/// The longest name, in characters.
const MAX_NAME: usize = 64;
/// How many characters of a description the listing shows.
const MAX_LISTED: usize = 1_024;

pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    bench.require_exact_file_name(file);
    bench.require_utf8(file);
    let reading = read(file, Fence::TrimmedLines)?;
    for entry in &reading.entries {
        let opinion = match &*entry.key {
            "name" => name(entry),
            "description" => description(entry),
            "metadata" => metadata(entry, file),
            _ => loss::without(entry, file.manifest()),
        };
        bench.key(entry, opinion);
    }
    // A repeated key is an error among those that are read; the others are passed over as often as they stand there.
    let is_read = |entry: &&Entry<'_>| ["name", "description", "metadata"].contains(&&*entry.key);
    for entry in reading.repeated().filter(is_read) {
        let reason = format!("`{}` stands twice", entry.key);
        bench.note(entry.key_span, Opinion::refused(reason).help("remove one of them"));
    }
    bench.require_keys(&reading, &["description"]);
    substitution::judge(bench, file, &NOTHING);
    Ok(())
}

fn name(entry: &Entry<'_>) -> Opinion {
    let Some(name) = entry.value.text() else {
        return Opinion::refused("`name` must be a text").at(entry.value.span);
    };
    let length = name.trim().chars().count();
    if length > MAX_NAME {
        let reason = format!("the name has {length} characters; {MAX_NAME} are the most");
        return Opinion::refused(reason).at(entry.value.span).help("shorten it");
    }
    Opinion::same()
}

fn description(entry: &Entry<'_>) -> Opinion {
    let Some(text) = entry.value.text() else {
        return Opinion::refused("`description` must be a text").at(entry.value.span);
    };
    if entry.value.is_null() || text.trim().is_empty() {
        return Opinion::refused("`description` is required and empty")
            .help("say what it does and when to use it");
    }
    let length = text.trim().chars().count();
    if length > MAX_LISTED {
        let (length, most) = (grouped(length), grouped(MAX_LISTED));
        let reason = format!(
            "the description has {length} characters; the listing shows {most}, so the model does not see the end"
        );
        return Opinion::changed(reason).at(entry.value.span).help("say first when to use it");
    }
    Opinion::same()
}

fn metadata(entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    if entry.value.get("short-description").is_some_and(|short| !short.is_null()) {
        return Opinion::same_but("catalogues of extensions show `metadata.short-description`");
    }
    loss::without(entry, file.manifest())
}
