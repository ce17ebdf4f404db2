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
    /// Its code's, unless somebody configured another.
    severity: Severity,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let severity = code.severity();
        Self { code, message, path: None, place: None, help: None, notes: Vec::new(), fix: None, severity }
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

    /// Raises or lowers how much it matters, as a configuration may. Who wants it gone leaves it out.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// How much it matters: what its code says, or what was configured instead.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The message with its notes and its help as lines below it, for views that have one text only.
    pub(crate) fn full_message(&self) -> String {
        let mut text = self.message.clone();
        for note in &self.notes {
            text.push_str("\nnote: ");
            text.push_str(note);
        }
        if let Some(help) = &self.help {
            text.push_str("\nhelp: ");
            text.push_str(help);
        }
        text
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonDiagnostic, Paint, render_github, render_text};

    static ODD: Code = Code::new("odd", Severity::Warning, "Odd.");

    #[test]
    fn a_configured_severity_is_the_one_every_view_shows() {
        let found = Diagnostic::new(&ODD, "this is odd");
        assert_eq!(found.severity(), Severity::Warning);
        let found = found.with_severity(Severity::Error);
        assert_eq!((found.severity(), found.code.severity()), (Severity::Error, Severity::Warning));
        assert!(render_text(&found, None, Paint::Plain).starts_with("error[odd]"));
        assert!(render_github(&found, None).starts_with("::error "));
        assert_eq!(JsonDiagnostic::from(&found).severity, Severity::Error);
    }
}
