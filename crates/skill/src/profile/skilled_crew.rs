//! skilled-crew: a strict schema. One skill that breaks it keeps its whole crew from starting.

use super::fence::{Fence, read};
use super::opinion::{Bench, Opinion, Refusal};
use super::schema::{Reader, Type};
use super::substitution::{self, NOTHING};
use super::text::{grouped, shown};
use super::{FileView, loss};
use crate::line::lines;
use crate::yaml::{Entry, Node};
use metier_diagnostic::Span;

/// The longest name, in bytes, which are characters there.
const MAX_NAME: usize = 64;
/// The longest description, in UTF-16 units, which is how that language counts.
const MAX_DESCRIPTION: usize = 1_024;
const READER: Reader = Reader::JavaScript;

pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    bench.stops_others();
    if file.document_name != "SKILL.md" {
        let reason = format!("the file is called `{}` and only `SKILL.md` is looked for", file.document_name);
        bench.note(Span::empty(0), Opinion::refused(reason).help("rename it to `SKILL.md`"));
    }
    if let Some(refusal) = engine(file.source) {
        return Err(refusal);
    }
    let reading = read(file, Fence::LineBeginnings)?;
    for entry in &reading.entries {
        bench.key(entry, opinion(entry, file));
    }
    bench.refuse_repeated_keys(&reading);
    bench.require_keys(&reading, &["name", "description"]);
    substitution::judge(bench, file, &NOTHING);
    Ok(())
}

/// A word behind the opening `---` names the language of the frontmatter, and JavaScript is run.
fn engine(source: &str) -> Option<(Span, Opinion)> {
    let line = lines(source, 0).next()?;
    let word = line.text.trim_start_matches('\u{feff}').strip_prefix("---")?;
    let language = word.trim();
    if language.is_empty() || language.starts_with('-') || language == "yaml" {
        return None;
    }
    let span = Span::new(line.end() - word.len(), line.end());
    let opinion = match language.to_lowercase().as_str() {
        "js" | "javascript" => {
            Opinion::refused(format!("`---{language}` is run as code when the skill is loaded"))
                .help("do not load this file there; write the frontmatter as YAML behind a plain `---`")
        }
        _ => Opinion::refused(format!("`---{language}` asks for another language than YAML"))
            .help("write the frontmatter as YAML behind a plain `---`"),
    };
    Some((span, opinion))
}

fn opinion(entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    let value = &entry.value;
    let kind = READER.type_of(value);
    let wrong = |wanted: &str| {
        Opinion::refused(format!("`{}` must be {wanted} and is {}", entry.key, kind.word())).at(value.span)
    };
    match (&*entry.key, kind) {
        ("name", Type::Text) => name(value),
        ("description", Type::Text) => description(value),
        ("license", Type::Text) => Opinion::same(),
        ("allowed-tools", Type::Text) => allowed_tools(value),
        ("name" | "description" | "license", Type::Boolean | Type::Number | Type::Date) => {
            wrong("a text").help("put it in quotes")
        }
        ("allowed-tools", Type::List) => {
            wrong("a text").help("write the patterns in one line, with blanks between")
        }
        ("name" | "description" | "license" | "allowed-tools", _) => wrong("a text"),
        ("compatibility", Type::List) => {
            match value.items().and_then(|items| items.iter().find(|item| !is_text(item))) {
                Some(odd) => Opinion::refused("`compatibility` must be a list of texts").at(odd.span),
                None => Opinion::same(),
            }
        }
        ("compatibility", Type::Text) => wrong("a list").help("write one item a line, each behind `- `"),
        ("compatibility", _) => wrong("a list"),
        ("metadata", Type::Map) => loss::kept_metadata(file.manifest()),
        ("metadata", _) => wrong("a mapping"),
        (key, _) => {
            Opinion::refused(format!("{} is not one of its keys, and others are not taken", shown(key)))
                .help("put it below `metadata`, or leave it out")
        }
    }
}

fn is_text(node: &Node<'_>) -> bool {
    READER.type_of(node) == Type::Text
}

fn name(value: &Node<'_>) -> Opinion {
    let name = value.text().unwrap_or_default();
    let is_taken = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    if (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_taken) {
        return Opinion::same();
    }
    let reason = format!("the name {} is not 1 to {MAX_NAME} of `a-z`, `0-9`, `_` and `-`", shown(name));
    Opinion::refused(reason).at(value.span).help("use such a name")
}

fn description(value: &Node<'_>) -> Opinion {
    let text = value.text().unwrap_or_default();
    let length = text.encode_utf16().count();
    if length == 0 {
        return Opinion::refused("`description` is empty").at(value.span).help("say when to use it");
    }
    if length > MAX_DESCRIPTION {
        let (length, most) = (grouped(length), grouped(MAX_DESCRIPTION));
        let reason = format!("the description has {length} characters (UTF-16 units); {most} are the most");
        return Opinion::refused(reason).at(value.span).help("shorten it");
    }
    if text.trim().is_empty() {
        return Opinion::changed("the description is blank, so nothing says when to use the skill")
            .at(value.span);
    }
    Opinion::same()
}

/// One entry of a tool list as it is read there: letters, and what stands in parentheses right behind them.
struct Token<'a> {
    tool: &'a str,
    argument: Option<&'a str>,
}

impl<'a> Token<'a> {
    /// The command and the pattern, which a colon separates.
    fn halves(&self) -> Option<(&'a str, &'a str)> {
        self.argument?.split_once(':')
    }
}

/// Splits a tool list as it is split there. Digits and underscores end a name, commas mean nothing.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let from = &rest[start..];
        let length = from.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(from.len());
        let (tool, behind) = from.split_at(length);
        let argument = behind.strip_prefix('(').and_then(|inner| inner.find(')').map(|end| &inner[..end]));
        rest = match argument {
            Some(argument) => &behind[argument.len() + 2..],
            None => behind,
        };
        found.push(Token { tool, argument });
    }
    found
}

fn allowed_tools(value: &Node<'_>) -> Opinion {
    let text = value.text().unwrap_or_default();
    let tokens = tokens(text);
    for token in tokens.iter().filter(|token| token.tool == "Bash") {
        if !token
            .halves()
            .is_some_and(|(command, pattern)| !command.trim().is_empty() && !pattern.trim().is_empty())
        {
            let written =
                token.argument.map_or_else(|| "Bash".to_owned(), |argument| format!("Bash({argument})"));
            let reason = format!("{} names no command and pattern", shown(&written));
            return Opinion::refused(reason).at(value.span).help("write `Bash(command:*)`");
        }
    }
    if let Some(other) = tokens.iter().find(|token| token.tool != "Bash") {
        let reason =
            format!("Unsupported tool: {}: the skill loads, and then every command fails", other.tool);
        return Opinion::changed(reason).at(value.span).help("name commands only, as `Bash(command:*)`");
    }
    match tokens.as_slice() {
        [] if !text.trim().is_empty() => Opinion::ignored(),
        [] => Opinion::changed("an empty `allowed-tools` restricts nothing; here it allows nothing").at(value.span),
        [one] if one.halves().is_some_and(|(_, pattern)| pattern.trim() != "*") => {
            let command = one.halves().map_or("", |(command, _)| command);
            let reason =
                format!("what stands behind the colon is not looked at: every command line that begins with `{command} ` runs");
            Opinion::changed(reason).at(value.span)
        }
        [_] => Opinion::same(),
        // Its documents promise what everybody expects, and metier goes by what was promised.
        _ => Opinion::same_but(
            "several `Bash(…)` patterns are documented as one or the other; its code (b29115f) asks a command line to fit all of them, so with several nothing runs",
        )
        .at(value.span)
        .help("keep one pattern, or leave `allowed-tools` out"),
    }
}
