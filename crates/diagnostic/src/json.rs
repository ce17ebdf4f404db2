//! The shape a diagnostic has in every JSON that metier writes.

use crate::{Diagnostic, Severity};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A diagnostic for a machine: one flat object, keys in a fixed order.
#[derive(Debug, Serialize)]
pub struct JsonDiagnostic<'a> {
    /// The file; bytes that are not UTF-8 are shown as replacement characters.
    pub path: Option<Cow<'a, str>>,
    /// The stable code.
    pub code: &'a str,
    /// `error`, `warning` or `info`.
    pub severity: Severity,
    /// From 1.
    pub line: Option<u32>,
    /// From 1, in characters.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: &'a str,
    /// What to do next.
    pub help: Option<&'a str>,
    /// What else is known.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: &'a [String],
}

impl<'a> From<&'a Diagnostic> for JsonDiagnostic<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self {
            path: diagnostic.path.as_deref().map(|path| path.to_string_lossy()),
            code: diagnostic.code.name(),
            severity: diagnostic.severity(),
            line: diagnostic.line(),
            column: diagnostic.column(),
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            notes: &diagnostic.notes,
        }
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        JsonDiagnostic::from(self).serialize(serializer)
    }
}
