//! What a rule thinks of one key, and the bench on which a verdict is put together.

use super::fence::Reading;
use super::verdict::{Fate, Loads, Remark, Verdict};
use super::{FileView, Profile};
use crate::code;
use crate::yaml::Entry;
use metier_diagnostic::Span;
use std::borrow::Cow;

/// What a rule thinks of one key.
pub(super) struct Opinion {
    fate: Fate,
    reason: Option<Cow<'static, str>>,
    help: Option<Cow<'static, str>>,
    at: Option<Span>,
}

impl Opinion {
    fn new(fate: Fate, reason: Option<Cow<'static, str>>) -> Self {
        Self { fate, reason, help: None, at: None }
    }

    /// It means there what it means here.
    pub(super) fn same() -> Self {
        Self::new(Fate::Same, None)
    }

    /// It means the same, and there is something to know.
    pub(super) fn same_but(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fate::Same, Some(reason.into()))
    }

    /// It is not acted on, and nothing is lost.
    pub(super) fn ignored() -> Self {
        Self::new(Fate::Ignored, None)
    }

    /// It is not acted on, and this is what is lost.
    pub(super) fn lost(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fate::Ignored, Some(reason.into()))
    }

    /// It means something else.
    pub(super) fn changed(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fate::Changed, Some(reason.into()))
    }

    /// It keeps the skill from loading.
    pub(super) fn refused(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fate::Refused, Some(reason.into()))
    }

    /// Says what to do.
    pub(super) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says where to look, when that is not the key.
    pub(super) fn at(mut self, span: Span) -> Self {
        self.at = Some(span);
        self
    }

    /// Whether nothing is lost.
    pub(super) fn is_harmless(&self) -> bool {
        self.fate == Fate::Same || (self.fate == Fate::Ignored && self.reason.is_none())
    }
}

/// What keeps a client from reading the file any further, and where.
pub(super) type Refusal = (Span, Opinion);

/// A verdict in the making.
pub(super) struct Bench {
    profile: Profile,
    remarks: Vec<Remark>,
    /// What a refusal costs, unless the folder is merely passed over.
    cost: Loads,
    is_passed_over: bool,
}

impl Bench {
    /// An empty verdict of a client that leaves out what it cannot load.
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, remarks: Vec::new(), cost: Loads::No, is_passed_over: false }
    }

    /// Makes it the verdict of a client where one bad skill stops all of them.
    pub(super) fn stops_others(&mut self) {
        self.cost = Loads::NoAndOthers;
    }

    /// Adds what becomes of a key.
    pub(super) fn key(&mut self, entry: &Entry<'_>, opinion: Opinion) {
        self.named_key(&entry.key, entry.key_span, opinion);
    }

    /// The same for a key that is in no tree.
    pub(super) fn named_key(&mut self, key: &str, span: Span, opinion: Opinion) {
        self.add(Some(key.to_owned()), span, opinion);
    }

    /// Adds something about the file as a whole.
    pub(super) fn note(&mut self, span: Span, opinion: Opinion) {
        self.add(None, span, opinion);
    }

    fn add(&mut self, key: Option<String>, span: Span, Opinion { fate, reason, help, at }: Opinion) {
        self.remarks.push(Remark { key, span: at.unwrap_or(span), fate, reason, help });
    }

    /// Adds that the folder is not looked into at all, which costs nobody else anything.
    pub(super) fn pass_over(&mut self, opinion: Opinion) {
        self.is_passed_over = true;
        self.note(Span::empty(0), opinion);
    }

    /// Clients that look for the exact name find no other spelling, at least where file names have a case.
    pub(super) fn require_exact_file_name(&mut self, file: &FileView<'_>) {
        if file.document_name != "SKILL.md" {
            let reason =
                format!("the file is called `{}` and only `SKILL.md` is looked for", file.document_name);
            self.pass_over(Opinion::refused(reason).help("rename it to `SKILL.md`"));
        }
    }

    /// Clients that decode strictly cannot read a file with bytes that are not UTF-8, wherever those stand.
    pub(super) fn require_utf8(&mut self, file: &FileView<'_>) {
        if let Some(found) = file.parsed.diagnostics.iter().find(|found| found.code == &code::INVALID_UTF8) {
            let span = found.place.map_or(Span::empty(0), |place| place.span);
            self.note(span, Opinion::refused("the file is not UTF-8").help("save it as UTF-8"));
        }
    }

    /// Clients that need these keys do not load a file without them.
    pub(super) fn require_keys(&mut self, reading: &Reading<'_>, keys: &[&str]) {
        for key in keys.iter().filter(|key| reading.get(key).is_none()) {
            let opinion = Opinion::refused(format!("`{key}` is required")).help(format!("write `{key}:`"));
            self.note(reading.place(), opinion);
        }
    }

    /// Clients whose YAML reader takes no key twice.
    pub(super) fn refuse_repeated_keys(&mut self, reading: &Reading<'_>) {
        for entry in reading.repeated() {
            let opinion =
                Opinion::refused(format!("`{}` stands twice", entry.key)).help("remove one of them");
            self.note(entry.key_span, opinion);
        }
    }

    /// Clients that list folders without following links see no skill there.
    pub(super) fn require_real_folder(&mut self, file: &FileView<'_>) {
        if file.is_linked {
            let reason = "the skill's folder is a symbolic link, and those are skipped";
            self.pass_over(Opinion::refused(reason).help("copy the folder there"));
        }
    }

    /// The verdict.
    pub(super) fn verdict(self) -> Verdict {
        let mut remarks = self.remarks;
        remarks.sort_by_key(|remark| remark.key.is_none());
        let loads = match remarks.iter().map(|remark| remark.fate).max() {
            Some(Fate::Refused) if self.is_passed_over => Loads::No,
            Some(Fate::Refused) => self.cost,
            _ => Loads::Yes,
        };
        Verdict { profile: self.profile, loads, remarks }
    }
}
