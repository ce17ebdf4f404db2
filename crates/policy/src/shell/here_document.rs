//! Quoted here-documents: text that reaches a command's standard input as it is.

use super::character;
use super::reader::Reader;
use super::refusal::{Refusal, RefusalKind};
use super::word::{self, Quoting};
use std::ops::Range;

/// A here-document that feeds a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// What ends it.
    pub delimiter: String,
    /// What the command reads; after `<<-` without the tabs at the beginning of lines.
    pub body: String,
    /// Where `<<` and the delimiter behind it stand.
    pub operator: Range<usize>,
    /// Where the body stands, the closing line left out.
    pub span: Range<usize>,
}

/// A here-document whose body is still to come.
pub(super) struct Opening {
    delimiter: String,
    /// `<<-`: tabs at the beginning of lines are no part of the body.
    strips_tabs: bool,
    pub(super) operator: Range<usize>,
}

/// Reads the delimiter behind `<<`.
pub(super) fn open(reader: &mut Reader<'_>, start: usize) -> Result<Opening, Refusal> {
    let strips_tabs = reader.take("-");
    let behind = reader.at;
    reader.skip_blanks();
    if reader.peek().is_none_or(|c| character::ends_word(c) || c == '#') {
        reader.at = behind;
        return Err(reader.refuse_from(RefusalKind::HereDocumentDelimiter, start));
    }
    // An expansion in a delimiter is text to bash; here it is as odd as any other character.
    let delimiter = word::read_part(reader, RefusalKind::HereDocumentDelimiter, start)?;
    if delimiter.quoting == Quoting::Bare {
        return Err(reader.refuse_from(RefusalKind::HereDocumentUnquoted, start));
    }
    let text = delimiter.word.text;
    if text.is_empty() || text.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        return Err(reader.refuse_from(RefusalKind::HereDocumentDelimiter, start));
    }
    Ok(Opening { delimiter: text, strips_tabs, operator: start..reader.at })
}

/// Reads the body; the reader is behind the new line that ends the command line, and is left behind the closing line.
pub(super) fn body(reader: &mut Reader<'_>, opening: Opening) -> Result<HereDocument, Refusal> {
    let start = reader.at;
    let mut body = String::new();
    while !reader.rest().is_empty() {
        let line_start = reader.at;
        let whole = reader.rest().split_inclusive('\n').next().unwrap_or_default();
        reader.at += whole.len();
        if let Some(at) = whole.find('\0') {
            // The shell is started with the line as an argument, which NUL would end.
            return Err(reader.refuse(RefusalKind::Control, line_start + at..line_start + at + 1));
        }
        let line = if opening.strips_tabs { whole.trim_start_matches('\t') } else { whole };
        if line.strip_suffix('\n').unwrap_or(line) == opening.delimiter {
            let span = start..line_start;
            return Ok(HereDocument { delimiter: opening.delimiter, body, operator: opening.operator, span });
        }
        body.push_str(line);
    }
    Err(unterminated(reader, opening))
}

/// Refuses a here-document whose end does not come.
pub(super) fn unterminated(reader: &Reader<'_>, opening: Opening) -> Refusal {
    reader.refuse(RefusalKind::HereDocumentUnterminated, opening.operator)
}
