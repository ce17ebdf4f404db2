//! Builtins: commands that bash runs itself and that can change what the rest of a line means.

use super::refusal::{Refusal, RefusalKind};
use super::{Command, Word};

/// Builtins of bash that run text, or change which program a name stands for, what a word expands to or where output
/// goes. A pattern that names one cannot say what it would let through, so none of them is ever accepted.
const REFUSED: &[&str] = &[
    ".",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "disown",
    "enable",
    "eval",
    "exec",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "trap",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Refuses a command that bash would run as something else than a program with these words.
pub(super) fn check(source: &str, command: &Command) -> Result<(), Refusal> {
    let Some((name, arguments)) = command.words.split_first() else { return Ok(()) };
    let refused = match name.text.as_str() {
        text if REFUSED.contains(&text) => return Err(refuse(RefusalKind::Builtin, source, name)),
        // `command -v git` only asks where git is; every other form runs its arguments.
        "command" if !matches!(arguments.first(), Some(word) if matches!(word.text.as_str(), "-v" | "-V")) => {
            return Err(refuse(RefusalKind::Builtin, source, name));
        }
        "test" | "[" => evaluated_by_test(arguments),
        "printf" => assigned_by_printf(arguments),
        _ => None,
    };
    refused.map_or(Ok(()), |word| Err(refuse(RefusalKind::EvaluatedArgument, source, word)))
}

fn refuse(kind: RefusalKind, source: &str, word: &Word) -> Refusal {
    Refusal::new(kind, source, word.span.clone())
}

/// `-v` and `-R` take a variable's name, and the subscript of `name[…]` is computed, which runs `$(…)` in it even
/// though it was quoted. A glob could expand to the name of a file that was made for this.
fn evaluated_by_test(arguments: &[Word]) -> Option<&Word> {
    arguments.iter().find(|word| matches!(word.text.as_str(), "-v" | "-R"))?;
    arguments.iter().find(|word| word.glob || word.text.contains('['))
}

/// `-v NAME` and the format's `%n` assign to a variable, which may be `PATH`.
fn assigned_by_printf(arguments: &[Word]) -> Option<&Word> {
    let format = match arguments.first()? {
        word if word.text == "--" => arguments.get(1)?,
        word if word.text.starts_with('-') => return Some(word),
        word => word,
    };
    (format.glob || !is_plain_format(&format.text)).then_some(format)
}

/// Whether every conversion of a format is known to print and do nothing else. Bash goes on behind some that it does not
/// know and stops at others, so a `%n` could come into sight behind them.
fn is_plain_format(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let conversion =
            behind.trim_start_matches(|c: char| c.is_ascii_digit() || "#- +'*.hjlLtz".contains(c));
        let mut characters = conversion.chars();
        rest = match characters.next() {
            Some('%') if conversion.len() == behind.len() => characters.as_str(),
            Some(c) if "diouxXeEfFgGaAcsbq".contains(c) => characters.as_str(),
            // A time: its own text has conversions, too, and ends with the first `)T`.
            Some('(') => match characters.as_str().split_once(')') {
                Some((time, behind)) if !time.contains('(') && behind.starts_with('T') => behind,
                _ => return false,
            },
            _ => return false,
        };
    }
    true
}
