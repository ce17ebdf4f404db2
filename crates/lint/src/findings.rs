//! What a rule reports, gathered with a bound.

use crate::rule::Rule;
use crate::skill::Skill;
use metier_diagnostic::{Diagnostic, Span};
use std::path::Path;
use std::sync::Arc;

/// How often one rule is reported for one file. Whoever has read twenty of a kind knows the kind, and a hostile file
/// must not turn into a flood.
const MAX_PER_FILE: usize = 20;

/// Where a rule puts what it finds.
#[derive(Debug)]
pub struct Findings<'a> {
    rule: &'static Rule,
    /// The file that was last reported on, and how often.
    last: Option<(Arc<Path>, usize)>,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(rule: &'static Rule, found: &'a mut Vec<Diagnostic>) -> Self {
        Self { rule, last: None, found }
    }

    /// A finding in the SKILL.md; it counts once it is [added](Findings::add).
    pub fn at(&self, skill: &Skill<'_>, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&self.rule.code, message).at(span, skill.source).in_file(&skill.path)
    }

    /// A finding in another file of the skill, at a span of its text where that is known.
    pub fn in_file(
        &self,
        skill: &Skill<'_>,
        path: &str,
        place: Option<(Span, &str)>,
        message: impl Into<String>,
    ) -> Diagnostic {
        let folder = skill.path.parent().unwrap_or(Path::new(""));
        let found = Diagnostic::new(&self.rule.code, message).in_file(&folder.join(path).into());
        match place {
            Some((span, text)) => found.at(span, text),
            None => found,
        }
    }

    /// Reports something in the SKILL.md, with what to do about it. Beyond the bound nothing is worked out: a place costs a
    /// pass over the file.
    pub fn report(
        &mut self,
        skill: &Skill<'_>,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.counts(&skill.path) {
            let finding = self.at(skill, span, message).help(help);
            self.found.push(finding);
        }
    }

    /// Reports a finding, which is worded only while the bound is not reached for the file that was last reported on.
    pub fn add_with(&mut self, finding: impl FnOnce(&Self) -> Diagnostic) {
        match &self.last {
            Some((path, count)) if *count >= MAX_PER_FILE => {
                let path = Arc::clone(path);
                self.counts(&path);
            }
            _ => self.add(finding(self)),
        }
    }

    /// Reports a finding.
    pub fn add(&mut self, finding: Diagnostic) {
        let path = finding.path.clone().unwrap_or_else(|| Path::new("").into());
        if self.counts(&path) {
            self.found.push(finding);
        }
    }

    /// Counts one more finding in a file; whether it is shown. Beyond the bound it is a number in a note of the last one.
    fn counts(&mut self, path: &Arc<Path>) -> bool {
        let count = match &self.last {
            Some((last, count)) if last == path => count + 1,
            _ => 1,
        };
        self.last = Some((Arc::clone(path), count));
        let more = count.saturating_sub(MAX_PER_FILE);
        if let Some(last) = self.found.last_mut().filter(|_| more > 0) {
            last.notes.retain(|note| !note.starts_with("and "));
            last.notes.push(format!("and {more} more of this kind in this file"));
        }
        more == 0
    }
}
