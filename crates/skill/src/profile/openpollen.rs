//! `OpenPollen`: no YAML but lines, each split at its first colon. Quotes stay, nesting is lost, the last one wins.

use super::opinion::{Bench, Opinion, Refusal};
use super::substitution::{self, CLAUDE};
use super::text::shown;
use super::{FileView, loss};
use crate::manifest::UserOnly;
use crate::yaml::Entry;
use metier_diagnostic::Span;

pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    bench.require_exact_file_name(file);
    bench.require_real_folder(file);
    let pairs = pairs(file.source)?;
    let entries = file.entries();
    for (at, entry) in entries.iter().enumerate() {
        let is_first = !entries[..at].iter().any(|earlier| earlier.key == entry.key);
        let opinion = match &*entry.key {
            "name" | "description" if is_first => required(entry, &pairs),
            "name" | "description" => Opinion::ignored(),
            _ => opinion(entry, file),
        };
        bench.key(entry, opinion);
    }
    for key in ["name", "description"] {
        if entries.iter().any(|entry| entry.key == key) {
            continue;
        }
        // What stands deeper counts as well, and so does a line that was no key to us.
        if let Some(pair) = last(&pairs, key).filter(|pair| pair.is_there()) {
            let reason = format!("the {key} is {}, which stands below another key", shown(pair.value));
            bench.named_key(key, pair.span, Opinion::changed(reason));
        } else {
            let opinion = Opinion::refused(format!("`{key}` is required, and the skill is skipped"));
            bench.note(Span::empty(0), opinion.help(format!("write `{key}:`")));
        }
    }
    substitution::judge(bench, file, &CLAUDE);
    Ok(())
}

/// One line with a colon.
struct Pair<'a> {
    key: &'a str,
    value: &'a str,
    span: Span,
}

impl Pair<'_> {
    /// Whether the value counts: `false` is a boolean there, and an empty one is as good as none.
    fn is_there(&self) -> bool {
        !matches!(self.value, "" | "false")
    }
}

/// The lines between the fences, which end in line feeds alone.
fn pairs(source: &str) -> Result<Vec<Pair<'_>>, (Span, Opinion)> {
    let skipped = |span: Span, reason: &'static str, help: &'static str| {
        Err((span, Opinion::refused(format!("{reason}, and the skill is skipped")).help(help)))
    };
    if source.starts_with('\u{feff}') {
        let reason = "the file begins with a byte order mark, so no frontmatter is seen";
        return skipped(Span::empty(0), reason, "save it as UTF-8 without a byte order mark");
    }
    if source.starts_with("---\r\n") {
        let reason = "lines end in CRLF, so no frontmatter is seen";
        return skipped(Span::new(3, 5), reason, "save it with LF as line ends");
    }
    let Some(rest) = source.strip_prefix("---\n") else {
        let reason = "the file does not begin with frontmatter";
        return skipped(Span::empty(0), reason, "begin the file with `---`, `name:`, `description:`, `---`");
    };
    let Some(length) = rest.find("\n---") else {
        return skipped(Span::empty(0), "the frontmatter is not closed", "end it with a line that is `---`");
    };
    let mut at = source.len() - rest.len();
    let mut found = Vec::new();
    for line in rest[..length].split('\n') {
        if let Some((key, value)) = line.split_once(':') {
            let start = at + key.len() - key.trim_start().len();
            found.push(Pair {
                key: key.trim(),
                value: value.trim(),
                span: Span::new(start, at + line.trim_end().len()),
            });
        }
        at += line.len() + 1;
    }
    Ok(found)
}

fn last<'p, 'a>(pairs: &'p [Pair<'a>], key: &str) -> Option<&'p Pair<'a>> {
    pairs.iter().rev().find(|pair| pair.key == key)
}

/// What `name` or `description` is there, where that differs from what it is here.
fn required(entry: &Entry<'_>, pairs: &[Pair<'_>]) -> Opinion {
    let key = &entry.key;
    let Some(pair) = last(pairs, key) else {
        return Opinion::refused(format!("`{key}` is not seen, and the skill is skipped"))
            .help(format!("write `{key}: …` in one line"));
    };
    if !pair.is_there() {
        return Opinion::refused(format!("the {key} is empty there, and the skill is skipped"))
            .at(pair.span)
            .help("write the text behind the colon, in one line and without quotes");
    }
    if entry.value.text().is_some_and(|ours| ours.trim() == pair.value) {
        return Opinion::same();
    }
    let is_elsewhere = !(entry.key_span.start <= pair.span.start && pair.span.start <= entry.key_span.end);
    let why = if is_elsewhere {
        "a later line of that name counts, wherever it stands"
    } else {
        "lines are not read as YAML"
    };
    Opinion::changed(format!("the {key} is {}: {why}", shown(pair.value)))
        .at(pair.span)
        .help("write the text behind the colon, in one line, without quotes and comments")
}

fn opinion(entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    let manifest = file.manifest();
    let is_user_only = manifest.is_some_and(|manifest| manifest.user_only == Some(UserOnly::Declared));
    match &*entry.key {
        // Its documents promise a restriction, and metier goes by what was promised.
        "allowed-tools" if entry.value.items().is_some() => {
            Opinion::changed("a list is read as an empty text, so `allowed-tools` restricts nothing")
                .at(entry.value.span)
                .help("write the tools in one line, with commas between")
        }
        "allowed-tools" if !loss::is_nothing(entry, manifest) => Opinion::same_but(
            "`allowed-tools` is documented as the tools a skill may use; its code (4e61d2e) shows it and never enforces it",
        )
        .at(entry.value.span)
        .help("do not rely on it to keep tools away"),
        "disable-model-invocation" if is_user_only => Opinion::changed(
            "`disable-model-invocation` is read and never used: the model may start the skill by itself",
        ),
        "context" if !entry.value.is_null() => match entry.value.text() {
            Some("inline") => Opinion::ignored(),
            _ => Opinion::lost("`context` is free text and nothing reads it"),
        },
        _ => loss::without(entry, manifest),
    }
}
