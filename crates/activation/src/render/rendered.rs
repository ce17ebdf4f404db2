//! A body with its tokens replaced, which remembers where each byte came from.

use std::ops::Range;

use metier_diagnostic::Span;

use super::values::TokenFolder;

/// A rendered body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    text: String,
    pieces: Vec<RenderedPiece>,
}

/// A part of a rendered body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedPiece {
    /// Where it is in the rendered text.
    pub range: Range<usize>,
    /// What stood there in the body.
    pub span: Span,
    /// Where its bytes come from.
    pub source: PieceSource,
}

/// Where bytes of a rendered body come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PieceSource {
    /// The body as it is written.
    Body,
    /// The body, without the backslash that stood before a token.
    Escape,
    /// All of the arguments.
    Arguments,
    /// One argument, from 0.
    Argument(usize),
    /// The default of a declared argument.
    Default(usize),
    /// A folder.
    Folder(TokenFolder),
    /// The session's id.
    Session,
    /// A declared variable.
    Environment,
    /// What an injected command wrote: its number among the commands of the body.
    Command(usize),
    /// The arguments in a last line, since the body put in none of them.
    Appended,
}

impl Rendered {
    pub(super) fn with_capacity(bytes: usize, pieces: usize) -> Self {
        Self { text: String::with_capacity(bytes), pieces: Vec::with_capacity(pieces) }
    }

    pub(super) fn push(&mut self, text: &str, span: Span, source: PieceSource) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(RenderedPiece { range: start..self.text.len(), span, source });
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parts it is made of, in order; together they are the text.
    pub fn pieces(&self) -> &[RenderedPiece] {
        &self.pieces
    }

    /// The text of a part.
    pub fn of(&self, piece: &RenderedPiece) -> &str {
        self.text.get(piece.range.clone()).unwrap_or_default()
    }

    /// Whether there is nothing to read in it, but for the arguments that were appended.
    pub fn is_blank(&self) -> bool {
        let mut said = self.pieces.iter().filter(|piece| piece.source != PieceSource::Appended);
        said.all(|piece| self.of(piece).trim().is_empty())
    }
}
