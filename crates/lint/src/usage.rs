//! Something beyond the default containment that a script uses, with its place.

use crate::findings::Findings;
use crate::needs::Need;
use crate::script::Script;
use crate::skill::Skill;
use metier_diagnostic::{Diagnostic, Span};
use std::collections::HashSet;
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

    /// Reports the first use of each name: one declaration is the answer to all of them. `verb` is what the script
    /// does, and `note` what else there is to say about a name.
    pub(crate) fn report(
        usages: Vec<Self>,
        skill: &Skill<'_>,
        findings: &mut Findings<'_>,
        (need, verb): (Need, &str),
        note: impl Fn(&str) -> Option<&'static str>,
    ) {
        let mut seen = HashSet::new();
        let usages: Vec<Self> = usages.into_iter().filter(|usage| seen.insert(usage.name.clone())).collect();
        let missing: Vec<&str> = usages.iter().map(|usage| usage.name.as_str()).collect();
        let help = need.lines(skill, &missing, if missing.len() > 1 { "declare them" } else { "declare it" });
        for usage in &usages {
            findings.add_with(|findings| {
                let message = format!("the script {verb} `{}`, which the skill does not declare", usage.name);
                let found = usage.found(skill, findings, message).help(help.as_str());
                match note(&usage.name) {
                    Some(note) => found.note(note),
                    None => found,
                }
            });
        }
    }
}
