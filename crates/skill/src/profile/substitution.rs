//! What a client replaces in a body. A token that stays as it is reaches the model as text, and so does a command that
//! was meant to be run.

use super::FileView;
use super::opinion::{Bench, Opinion};
use crate::injection::injected_commands;
use metier_diagnostic::Span;

/// What a client replaces.
pub(super) struct Replaces {
    /// How `$ARGUMENTS` and its parts are filled.
    pub(super) arguments: Arguments,
    /// Whether commands are run and their output put in.
    pub(super) commands: bool,
    /// The token that becomes the skill's folder.
    pub(super) folder: Option<&'static str>,
}

/// How arguments are filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    /// Not at all.
    No,
    /// The whole text, which is also the first part; there is no second one.
    Whole,
    /// The whole and each part.
    Parts,
}

/// Nothing is replaced.
pub(super) const NOTHING: Replaces = Replaces { arguments: Arguments::No, commands: false, folder: None };

/// Claude Code's tokens, and its SDK's.
pub(super) const CLAUDE: Replaces =
    Replaces { arguments: Arguments::Parts, commands: true, folder: Some("${CLAUDE_SKILL_DIR}") };

/// The tokens for the skill's folder that skills are written with.
const FOLDERS: [&str; 2] = ["${SKILL_DIR}", "${CLAUDE_SKILL_DIR}"];

/// Says what stays as it is in the body, once for each kind of token.
pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>, replaces: &Replaces) {
    let Some(document) = &file.parsed.document else { return };
    let from = document.body as usize;
    let Some(body) = file.source.get(from..) else { return };
    let place = |at: usize, length: usize| Span::new(from + at, from + at + length);
    let arguments = "$ARGUMENTS";
    match replaces.arguments {
        Arguments::No => {
            if let Some(at) = body.find(arguments) {
                let reason = "`$ARGUMENTS` is not replaced: the model sees the word";
                bench.note(place(at, arguments.len()), Opinion::changed(reason));
            }
        }
        Arguments::Whole => {
            let is_later_part = |at: usize| {
                let rest = &body[at + arguments.len() + 1..];
                rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.starts_with("0]")
            };
            let mut parts = body.match_indices("$ARGUMENTS[").map(|(at, _)| at);
            if let Some(at) = parts.find(|at| is_later_part(*at)) {
                let reason =
                    "a text of arguments is not split: all of it is `$ARGUMENTS[0]`, the others are empty";
                bench.note(
                    place(at, arguments.len()),
                    Opinion::changed(reason).help("use `$ARGUMENTS` alone"),
                );
            }
        }
        Arguments::Parts => {}
    }
    if !replaces.commands
        && let Some(command) = injected_commands(body).first()
    {
        let (start, end) = (command.span.start as usize, command.span.end as usize);
        let reason = "a command in the body is not run: the model sees the command and not its output";
        bench.note(place(start, end - start), Opinion::changed(reason).help("tell the model to run it"));
    }
    for token in FOLDERS.into_iter().filter(|token| replaces.folder != Some(token)) {
        if let Some(at) = body.find(token) {
            let opinion = Opinion::changed(format!("`{token}` is not replaced by the skill's folder"));
            bench.note(
                place(at, token.len()),
                match replaces.folder {
                    Some(other) => opinion.help(format!("write `{other}` there")),
                    None => opinion.help("write paths relative to the skill's folder"),
                },
            );
        }
    }
}
