//! What became of the changes of a call, for people, programs and models.

use metier_changes::{Change, ChangeKind, EntryKind, LayerPath, Refusal, RefusalReason};
use metier_diagnostic::{counted, escaped_name, unescaped_name};
use metier_policy::{EntryFacts, ModeChange, PathEntryKind};
use metier_secret::Redactor;
use serde::Serialize;
use std::borrow::Cow;

use super::path_change::{entry_facts, entry_kind};

/// How many paths a model is told of one kind; it can list the folder where it needs more.
const MAX_NAMED: usize = 12;

/// What became of the changes of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeReport {
    /// The id by which `metier changes` knows them.
    pub id: String,
    /// Every changed path.
    pub entries: Vec<ReportedChange>,
    /// Rules that would allow exactly what was not approved.
    pub allow_with: Vec<String>,
    /// How many paths that were not approved no rule of the list covers.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncovered: usize,
    /// Why nothing was applied though it was approved: a conflict, or a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One changed path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedChange {
    /// Where, seen from the project. What a line cannot show is an escape.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// What is there now; absent for what was deleted.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryKind>,
    /// Its size in bytes; of folders and of what was deleted, zero.
    pub size: u64,
    /// Its permissions, as in `644`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// What was there before, where it was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_before: Option<EntryKind>,
    /// Its permissions before, where the same kind of entry had others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_before: Option<String>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether there is a file that can be executed where there was no file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// The digest of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The deleted path with the same content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// What became of it.
    pub state: ChangeState,
    /// Whether it runs or is obeyed later, so that only an approval that names it applies it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// Who runs or obeys it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected_because: Option<&'static str>,
    /// Why it was not applied, or what is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What became of one changed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// It is in the project.
    Applied,
    /// It was not approved. It is kept.
    NotApproved,
    /// A rule or an answer refused it. It is kept.
    Refused,
    /// It is ignored by git or a cache: it stays in the session's layer.
    Ignored,
    /// Another program changed the same path meanwhile, or it could not be written. It is kept.
    Failed,
    /// It never reaches the project, such as a device, a pipe, a socket or set-id bits. The note says which it is.
    Never,
}

impl ChangeState {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NotApproved => "not approved",
            Self::Refused => "refused",
            Self::Ignored => "ignored by git",
            Self::Failed => "failed",
            Self::Never => "never applied",
        }
    }
}

impl ReportedChange {
    /// `reason` is why it is protected, where that is known.
    pub(super) fn new(
        change: &Change,
        state: ChangeState,
        protected: bool,
        reason: Option<&'static str>,
    ) -> Self {
        let entry = change.entry.as_ref();
        let facts = entry_facts(change);
        let note = match (change.conflict, change.breaks_hard_link) {
            (Some(conflict), _) => Some(conflict.to_string()),
            (None, true) => Some("its other hard links keep the old content".to_owned()),
            (None, false) => None,
        };
        Self {
            path: shown(&change.path),
            kind: change.kind,
            entry: entry.map(|entry| entry.kind),
            size: entry.map_or(0, |entry| entry.size),
            mode: entry.map(|entry| format!("{:o}", entry.mode)),
            type_before: change.previous().map(|before| before.kind).filter(|_| facts.replaced.is_some()),
            mode_before: facts.mode.map(|mode| format!("{:o}", mode.before)),
            target: facts.target,
            executable: facts.executable,
            digest: entry.and_then(|entry| entry.digest).map(|digest| digest.to_string()),
            renamed_from: change.renamed_from.as_ref().map(shown),
            state,
            protected,
            protected_because: protected.then(|| reason.unwrap_or("something runs or obeys it later")),
            note,
        }
    }

    /// Its path and what people are shown of it: `l -> /etc/passwd`, and `link`.
    pub fn described(&self) -> (String, Vec<String>) {
        let mode = |text: &Option<String>| u32::from_str_radix(text.as_deref()?, 8).ok();
        let modes = mode(&self.mode_before).zip(mode(&self.mode));
        let facts = EntryFacts {
            entry: self.entry.map_or(PathEntryKind::File, entry_kind),
            replaced: self.type_before.map(entry_kind),
            target: self.target.clone(),
            executable: self.executable,
            mode: modes.map(|(before, after)| ModeChange { before, after }),
        };
        let renamed = self.renamed_from.as_ref().map(|from| format!("renamed from {from}"));
        (format!("{}{}", self.path, facts.arrow()), facts.words().into_iter().chain(renamed).collect())
    }

    /// `created run.sh (executable)`. Of what is never applied it says what it is.
    fn summary(&self) -> String {
        let (path, facts) = self.described();
        if let (ChangeState::Never, Some(note)) = (self.state, &self.note) {
            return format!("{path} ({note})");
        }
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        format!("{} {path}{facts}", self.kind.word())
    }

    /// Something that can never reach a project.
    pub(super) fn never(refusal: &Refusal) -> Self {
        Self {
            path: shown(&refusal.path),
            kind: match refusal.reason {
                RefusalReason::ExtendedAttributes | RefusalReason::ProjectFolder => ChangeKind::Attributes,
                RefusalReason::Special | RefusalReason::SetId => ChangeKind::Created,
            },
            entry: None,
            size: 0,
            mode: None,
            type_before: None,
            mode_before: None,
            target: None,
            executable: false,
            digest: None,
            renamed_from: None,
            state: ChangeState::Never,
            protected: false,
            protected_because: None,
            note: Some(refusal.why()),
        }
    }
}

impl ChangeReport {
    /// How many paths are in a state.
    pub fn count(&self, state: ChangeState) -> usize {
        self.entries.iter().filter(|entry| entry.state == state).count()
    }

    /// Takes secrets out of names: a script can put one into the name of a file.
    pub(crate) fn redact(&mut self, redactor: &Redactor) {
        for entry in &mut self.entries {
            let ReportedChange { path, target, renamed_from, note, .. } = entry;
            for name in [Some(path), renamed_from.as_mut()].into_iter().flatten() {
                // Characters of a secret may be escapes in it.
                let bytes = unescaped_name(name);
                if let Cow::Owned(text) = redactor.text(&String::from_utf8_lossy(&bytes)) {
                    *name = escaped_name(text.as_bytes());
                }
            }
            for text in [target.as_mut(), note.as_mut()].into_iter().flatten() {
                *text = redactor.text(text).into_owned();
            }
        }
        for text in self.allow_with.iter_mut().chain(&mut self.problem) {
            *text = redactor.text(text).into_owned();
        }
    }

    /// Whether something was not applied for want of an approval or because a rule or the mode refused it.
    pub fn needs_approval(&self) -> bool {
        self.count(ChangeState::NotApproved) + self.count(ChangeState::Refused) > 0
    }

    /// The paths that are in the project now.
    pub fn applied(&self) -> impl Iterator<Item = &ReportedChange> {
        self.entries.iter().filter(|entry| entry.state == ChangeState::Applied)
    }

    /// A short list for a model, which has to know what of its work is in the project and what is not.
    pub fn for_model(&self) -> Option<String> {
        let mut lines = Vec::new();
        let told = [
            (ChangeState::Applied, "changes applied to the project"),
            (ChangeState::NotApproved, "changes NOT applied, the user has not approved them"),
            (ChangeState::Refused, "changes NOT applied, refused"),
            (ChangeState::Failed, "changes NOT applied"),
            (ChangeState::Never, "never applied to a project"),
        ];
        for (state, head) in told {
            let entries: Vec<&ReportedChange> =
                self.entries.iter().filter(|entry| entry.state == state).collect();
            if entries.is_empty() {
                continue;
            }
            let names = entries.iter().take(MAX_NAMED).map(|entry| entry.summary());
            let mut names: Vec<String> = names.collect();
            let more = entries.len().saturating_sub(MAX_NAMED);
            if more > 0 {
                names.push(format!("and {}", counted(more, "more path", "more paths")));
            }
            lines.push(format!("[{head}: {}]", names.join(", ")));
        }
        if let Some(problem) = &self.problem {
            lines.push(format!("[{problem}]"));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference to the field")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A path as text, as `metier changes` shows it and takes it.
pub(super) fn shown(path: &LayerPath) -> String {
    escaped_name(path.as_path().as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, state: ChangeState) -> ReportedChange {
        ReportedChange {
            path: path.to_owned(),
            kind: ChangeKind::Created,
            entry: Some(EntryKind::File),
            size: 1,
            mode: None,
            type_before: None,
            mode_before: None,
            target: None,
            executable: false,
            digest: None,
            renamed_from: None,
            state,
            protected: false,
            protected_because: None,
            note: None,
        }
    }

    #[test]
    fn a_model_is_told_what_is_in_the_project_and_what_is_not() {
        let mut report = ChangeReport::default();
        assert_eq!(report.for_model(), None);
        report.entries.push(change("target/x", ChangeState::Ignored));
        assert_eq!(report.for_model(), None);
        report.entries.push(change("a", ChangeState::Applied));
        report.entries.extend((0..20).map(|number| change(&format!("b{number}"), ChangeState::NotApproved)));
        let text = report.for_model().unwrap();
        assert!(
            text.starts_with("[changes applied to the project: created a]\n[changes NOT applied"),
            "{text}"
        );
        assert!(text.ends_with("created b11, and 8 more paths]"), "{text}");
        let link = ReportedChange {
            entry: Some(EntryKind::Link),
            target: Some("/etc/\u{1b}x".to_owned()),
            ..change("l", ChangeState::Applied)
        };
        let mode = ReportedChange {
            kind: ChangeKind::Attributes,
            mode: Some("755".to_owned()),
            mode_before: Some("644".to_owned()),
            ..change("m", ChangeState::Applied)
        };
        let report = ChangeReport { entries: vec![link, mode], ..ChangeReport::default() };
        assert_eq!(
            report.for_model().unwrap(),
            r"[changes applied to the project: created l -> /etc/\u{1b}x (link), mode changed m (0644 -> 0755)]"
        );
    }
}
