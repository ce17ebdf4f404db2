//! Redirections that open nothing but `/dev/null`.

use super::here_document::{self, Opening};
use super::reader::Reader;
use super::refusal::{Refusal, RefusalKind};
use super::word::{self, Quoting};
use super::{character, extent};
use std::ops::Range;

/// A redirection that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// What it does.
    pub kind: RedirectionKind,
    /// Where it stands, its number and its target included.
    pub span: Range<usize>,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedirectionKind {
    /// `</dev/null`: the command reads nothing.
    NoInput,
    /// `>/dev/null`: output is dropped.
    DropOutput,
    /// `2>/dev/null`: errors are dropped.
    DropErrors,
    /// `&>/dev/null`: both are dropped.
    DropBoth,
    /// `2>&1`: errors go where output goes.
    ErrorsToOutput,
    /// `>&2`: output goes where errors go.
    OutputToErrors,
}

/// The only file that may be opened: nothing is in it and nothing stays in it.
const NOTHING: &str = "/dev/null";

pub(super) enum Found {
    Redirection(Redirection),
    HereDocument(Opening),
}

/// Reads a redirection whose operator (`<`, `>` or `&>`) comes next. `start` is where its number begins, if it has one.
pub(super) fn read(reader: &mut Reader<'_>, start: usize) -> Result<Found, Refusal> {
    let number = reader.source.get(start..reader.at).unwrap_or_default();
    if reader.rest().starts_with("<(") || reader.rest().starts_with(">(") {
        let end = extent::closed(reader.source, reader.at + 1, '(', ')');
        return Err(reader.refuse(RefusalKind::ProcessSubstitution, start..end));
    }
    if reader.take("<<<") {
        reader.skip_blanks();
        reader.at += extent::run(reader.rest());
        return Err(reader.refuse_from(RefusalKind::HereString, start));
    }
    if matches!(number, "" | "0") && reader.take("<<") {
        return here_document::open(reader, start).map(Found::HereDocument);
    }
    let operator = ["&>>", "&>", ">>", ">&", ">|", "<>", "<&", "<<", ">", "<"]
        .into_iter()
        .find(|operator| reader.take(operator))
        .unwrap_or_default();
    let kind = match (number, operator) {
        ("" | "0", "<") => RedirectionKind::NoInput,
        ("" | "1", ">" | ">>" | ">|") => RedirectionKind::DropOutput,
        ("2", ">" | ">>" | ">|") => RedirectionKind::DropErrors,
        ("", "&>" | "&>>") => RedirectionKind::DropBoth,
        ("" | "1", ">&") => RedirectionKind::OutputToErrors,
        ("2", ">&") => RedirectionKind::ErrorsToOutput,
        _ => return Err(refuse(reader, start)),
    };
    let before_target = reader.at;
    reader.skip_blanks();
    if reader.peek().is_none_or(|c| character::ends_word(c) || c == '#') {
        reader.at = before_target;
        return Err(refuse(reader, start));
    }
    let target = word::read_part(reader, RefusalKind::Redirection, start)?;
    let is_nothing = target.word.text == NOTHING && !target.word.glob;
    // `>&` copies numbers, and in front of a file's name, without a number of its own, it is `&>`.
    let kind = if is_nothing && (number, operator) == ("", ">&") { RedirectionKind::DropBoth } else { kind };
    let is_meant = match kind {
        // A quoted number would be the same to bash; asking for the bare one leaves nothing to be wrong about.
        RedirectionKind::OutputToErrors => target.word.text == "2" && target.quoting == Quoting::Bare,
        RedirectionKind::ErrorsToOutput => target.word.text == "1" && target.quoting == Quoting::Bare,
        _ => is_nothing,
    };
    if !is_meant {
        return Err(reader.refuse_from(RefusalKind::Redirection, start));
    }
    Ok(Found::Redirection(Redirection { kind, span: start..reader.at }))
}

/// Refuses the redirection with whatever seems to be its target.
fn refuse(reader: &mut Reader<'_>, start: usize) -> Refusal {
    let operator_end = reader.at;
    reader.skip_blanks();
    let length = extent::run(reader.rest());
    if length == 0 {
        reader.at = operator_end;
    }
    reader.at += length;
    reader.refuse_from(RefusalKind::Redirection, start)
}
