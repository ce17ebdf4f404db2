//! Something beyond the default containment that a script uses, with its place.

use crate::findings::Findings;
use crate::script::Script;
use crate::skill::Skill;
use metier_diagnostic::{Diagnostic, Span};
use std::ops::Range;

/// One use in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Usage<'a> {
    path: &'a str,
    text: &'a str,
    span: Range<usize>,
    /// What is used, as it would be declared.
    pub(crate) name: String,
}

impl<'a> Usage<'a> {
    /// A use at a place of a script.
    pub(crate) fn new(script: &Script<'a>, span: Range<usize>, name: String) -> Self {
        Self { path: script.path, text: script.text, span, name }
    }

    /// The finding about it.
    pub(crate) fn found(&self, skill: &Skill<'_>, findings: &Findings<'_>, message: String) -> Diagnostic {
        let place = Some((Span::new(self.span.start, self.span.end), self.text));
        findings.in_file(skill, self.path, place, message)
    }

    /// The first use of each name: one declaration is the answer to all of them.
    pub(crate) fn first_of_each(usages: Vec<Self>) -> Vec<Self> {
        let mut seen = std::collections::HashSet::new();
        usages.into_iter().filter(|usage| seen.insert(usage.name.clone())).collect()
    }
}
