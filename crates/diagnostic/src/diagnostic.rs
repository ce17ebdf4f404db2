//! The one value in which every problem is carried.

use crate::{Code, Fix, Place, Severity, Span};
use std::path::Path;
use std::sync::Arc;

/// What is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of problem.
    pub code: &'static Code,
    /// A sentence a person understands, lower case, without a full stop.
    pub message: String,
    /// The file, once somebody who knows it has said so.
    pub path: Option<Arc<Path>>,
    /// Where in the file.
    pub place: Option<Place>,
    /// What to do next.
    pub help: Option<String>,
    /// What else is known, such as the error that a repair made unnecessary.
    pub notes: Vec<String>,
    /// Edits that would mend it.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, path: None, place: None, help: None, notes: Vec::new(), fix: None }
    }

    /// Says where, in the text that is being judged.
    #[must_use]
    pub fn at(mut self, span: Span, source: &str) -> Self {
        self.place = Some(Place::of(span, source));
        self
    }

    /// Says which file.
    #[must_use]
    pub fn in_file(mut self, path: &Arc<Path>) -> Self {
        self.path = Some(Arc::clone(path));
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds something else that is known.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Offers a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The line, from 1, where the place is known.
    pub fn line(&self) -> Option<u32> {
        self.place.map(|place| place.position.line)
    }

    /// The column in characters, from 1, where the place is known.
    pub fn column(&self) -> Option<u32> {
        self.place.map(|place| place.position.column)
    }
}
