//! Something to say about a place of a body.

use std::ops::Range;

use metier_diagnostic::{Code, Diagnostic, Span};

/// A diagnostic whose place is in a body, until somebody says where the body is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) code: &'static Code,
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Finding {
    pub(crate) fn new(code: &'static Code, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, range, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The diagnostic in `source`, in which the body begins at byte `offset`.
    pub(crate) fn diagnostic(&self, source: &str, offset: usize) -> Diagnostic {
        let span = Span::new(self.range.start + offset, self.range.end + offset);
        let found = Diagnostic::new(self.code, self.message.clone()).at(span, source);
        match &self.help {
            Some(help) => found.help(help.clone()),
            None => found,
        }
    }
}
