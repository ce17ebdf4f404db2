//! Repair 1: delimiters. Finds every way the lines of a file could be read as "this is the frontmatter".

mod closing;
mod opening;

pub(super) use closing::near_close;

use crate::line::lines;
use crate::manifest::is_known_key;
use crate::split;
use closing::Closing;
use metier_diagnostic::{Code, Diagnostic, Edit, Fix, Span};
use opening::{Keys, Start};
use std::ops::Range;

/// One way to read a file.
pub(super) struct Frame {
    /// The bytes between the delimiters.
    pub(super) yaml: Range<usize>,
    /// Where the body begins.
    pub(super) body: usize,
    oddities: Vec<Oddity>,
}

/// All ways to read a file, the most exact first.
pub(super) struct Candidates {
    pub(super) frames: Vec<Frame>,
    /// Where the frontmatter begins, closed or not.
    pub(super) start: usize,
    /// Whether the file's first lines leave no doubt that frontmatter is meant.
    pub(super) is_certain: bool,
    /// The word of an opening such as `---js`, which asks for another language to be evaluated.
    pub(super) engine: Option<Span>,
    /// What is odd about the opening, for a frontmatter that turns out not to be closed.
    pub(super) opening: Vec<Oddity>,
}

/// Something about the delimiters that is not exact.
#[derive(Clone)]
pub(super) struct Oddity {
    code: &'static Code,
    span: Span,
    message: &'static str,
    label: &'static str,
    /// None where the way to mend it cannot be written as edits.
    edits: Vec<Edit>,
}

impl Oddity {
    pub(super) fn diagnostic(&self, text: &str) -> Diagnostic {
        let found = Diagnostic::new(self.code, self.message).at(self.span, text).help(self.label);
        if self.edits.is_empty() {
            return found;
        }
        found.fix(Fix { label: self.label.to_owned(), edits: self.edits.clone() })
    }
}

impl Frame {
    pub(super) fn is_exact(&self) -> bool {
        self.oddities.is_empty()
    }

    /// How many things are odd about the delimiters.
    pub(super) fn oddities(&self) -> usize {
        self.oddities.len()
    }

    pub(super) fn diagnostics(&self, text: &str) -> Vec<Diagnostic> {
        self.oddities.iter().map(|oddity| oddity.diagnostic(text)).collect()
    }

    fn new(text: &str, start: &Start, closing: &Closing) -> Self {
        let body = start.body_behind(text, closing.body);
        let mut oddities = start.oddities(text, Some((closing, body)));
        oddities.extend(closing.oddity.clone());
        Self { yaml: start.yaml..closing.at, body, oddities }
    }
}

/// The ways to read a file; `None` when nothing looks like frontmatter.
pub(super) fn candidates(text: &str) -> Option<Candidates> {
    let exact = split::opening(text.as_bytes()).map(Start::exact);
    let start = exact.or_else(|| Start::find(text))?;
    let closings = start.one_line.iter().cloned().chain(closing::closings(text, start.yaml));
    let frames = closings.map(|closing| Frame::new(text, &start, &closing)).collect();
    let begins_with_dashes = text.trim_start_matches('\u{feff}').starts_with("---");
    let is_certain = match start.keys {
        Some(keys) => keys == Keys::NameAndDescription,
        None => begins_with_dashes || begins_with_known_key(&text[start.yaml..]),
    };
    let opening = start.oddities(text, None);
    Some(Candidates { frames, start: start.yaml, is_certain, engine: start.engine, opening })
}

/// Behind a rule in a body stands text, behind an opening line a key.
fn begins_with_known_key(text: &str) -> bool {
    let first = lines(text, 0).find(|line| !line.is_blank());
    first.and_then(|line| line.top_key()).is_some_and(is_known_key)
}
