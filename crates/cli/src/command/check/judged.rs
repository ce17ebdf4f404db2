//! One skill after it was judged.

use super::declared_names::DeclaredNames;
use super::levels::Judgement;
use super::mending::Mending;
use super::subject::Subject;
use metier_diagnostic::{Diagnostic, Severity};
use metier_skill::profile::{FileView, Profile, Verdict, judge};
use std::path::Path;
use std::sync::Arc;

/// What a check is asked for.
pub(crate) struct Asked {
    /// Whose opinion counts.
    pub(crate) profiles: Vec<Profile>,
    /// Whether metier's own rules speak.
    pub(crate) rules: bool,
    /// Whether fixes are worked out and not only offered.
    pub(crate) mends: bool,
    /// Whether they are written, so that what is said is said of the files as they are then.
    pub(crate) writes: bool,
    /// The environment names that bodies may use.
    pub(crate) declared: DeclaredNames,
}

/// A skill and what is said about it.
#[derive(Default)]
pub(crate) struct Judged {
    /// The skill without its body; `None` where there was nothing to read.
    pub(crate) subject: Option<Subject>,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) mendings: Vec<Mending>,
    /// The text of standard input, which cannot be read twice.
    pub(crate) original: Option<String>,
    /// How many findings the configuration allows.
    pub(crate) allowed: usize,
    /// Whether it is to be reported, and not only there for comparison.
    pub(crate) is_meant: bool,
}

impl Judged {
    pub(crate) fn new(mut subject: Subject, asked: &Asked, judgement: &Judgement, is_meant: bool) -> Self {
        let mut judged = Self { is_meant, ..Self::default() };
        if is_meant {
            judged.judge(&mut subject, asked, judgement);
        }
        if subject.real.is_none() {
            judged.original = Some(subject.source.clone());
        }
        // Verdicts point into the whole text; without them the frontmatter is enough.
        if asked.profiles.is_empty() {
            subject.shrink();
        }
        judged.subject = Some(subject);
        judged
    }

    /// A file that could not be read, and why.
    pub(crate) fn unreadable(findings: Vec<Diagnostic>, is_meant: bool) -> Self {
        Self { findings, is_meant, ..Self::default() }
    }

    fn judge(&mut self, subject: &mut Subject, asked: &Asked, judgement: &Judgement) {
        if asked.mends {
            self.mendings = Mending::of(subject, judgement);
        }
        if asked.writes {
            self.mendings.iter().for_each(|mending| subject.replace(&mending.shown, &mending.after));
        }
        let subject = &*subject;
        let mut found = Vec::new();
        if asked.rules {
            found.extend(subject.findings());
            found.extend(asked.declared.missing_in(subject));
            found.sort_by_key(|one| one.place.map(|place| place.span.start));
        }
        if !asked.profiles.is_empty() {
            let view = FileView {
                source: &subject.source,
                parsed: &subject.parsed,
                folder: subject.folder.as_deref(),
                document_name: subject.document_name(),
                is_linked: subject.is_linked(),
            };
            self.verdicts = asked.profiles.iter().map(|profile| judge(*profile, &view)).collect();
        }
        for verdict in &self.verdicts {
            found.extend(verdict.diagnostics(&subject.source).into_iter().map(|mut found| {
                found.path = Some(Arc::clone(&subject.shown));
                found
            }));
        }
        let file = subject.real.as_deref().unwrap_or(&subject.shown);
        let before = found.len();
        self.findings = found.into_iter().filter_map(|found| judgement.apply(found, file)).collect();
        self.allowed = before - self.findings.len();
    }

    /// Whether it came from standard input.
    pub(crate) fn is_stream(&self) -> bool {
        self.original.is_some()
    }

    /// Whether this is the file that is shown as `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.subject.as_ref().is_some_and(|subject| &*subject.shown == path)
    }
}

/// Everything that was found.
pub(crate) struct Outcome {
    pub(crate) skills: Vec<Judged>,
    /// What was found about several skills, or about folders.
    pub(crate) together: Vec<Diagnostic>,
    /// The agents that were named.
    pub(crate) agents: Vec<Judged>,
    /// How many findings the configuration allows.
    pub(crate) allowed: usize,
}

impl Outcome {
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        let all = self.skills.iter().chain(&self.agents);
        all.flat_map(|judged| &judged.findings).chain(&self.together)
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|found| found.severity() == severity).count()
    }

    pub(crate) fn mendings(&self) -> impl Iterator<Item = &Mending> {
        self.skills.iter().flat_map(|skill| &skill.mendings)
    }

    /// How many findings `--fix` would mend.
    pub(crate) fn fixable(&self) -> usize {
        self.findings().filter(|found| found.fix.is_some()).count()
    }
}
