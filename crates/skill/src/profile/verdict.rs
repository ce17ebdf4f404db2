//! What one client makes of one skill, as plain data and as diagnostics.

use super::Profile;
use crate::code;
use crate::findings::Findings;
use metier_diagnostic::{Diagnostic, Span};
use std::borrow::Cow;

/// What one client makes of one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which client.
    pub profile: Profile,
    /// Whether the skill loads there.
    pub loads: Loads,
    /// What becomes of each key, in the order of the file, and behind them what there is to say about the file as a whole.
    /// No keys where the client cannot read the frontmatter.
    pub remarks: Vec<Remark>,
}

metier_diagnostic::words! {
    /// Whether a skill loads.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Loads {
        /// It does.
        Yes = "yes",
        /// It does not; the others do.
        No = "no",
        /// It does not, and while it is there the skills beside it do not either.
        NoAndOthers = "no, nor the others",
    }
}

metier_diagnostic::words! {
    /// Whether a skill means the same.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Meaning {
        /// It does.
        Same = "yes",
        /// It does but for keys that are not acted on there.
        Partly = "partly",
        /// Something is read differently, a restriction is not kept, or the skill does not load.
        Different = "no",
    }
}

/// What becomes of a key or of something else in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It means there what it means here.
    Same,
    /// It is not acted on. Where something is lost by that, a reason says what; without a reason nothing is.
    Ignored,
    /// It means something else, or a restriction it asks for is not kept.
    Changed,
    /// It keeps the skill from loading.
    Refused,
}

/// What becomes of one key, or of the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The key as written; `None` where it is about the file as a whole.
    pub key: Option<String>,
    /// Where to look: the key, or the part of its value that matters.
    pub span: Span,
    /// What becomes of it.
    pub fate: Fate,
    /// What happens there, as the rest of a sentence that begins with the client.
    pub reason: Option<Cow<'static, str>>,
    /// What to do about it.
    pub help: Option<Cow<'static, str>>,
}

impl Loads {
    /// Whether it loads.
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

impl Verdict {
    /// Whether the skill means the same there.
    pub fn meaning(&self) -> Meaning {
        let felt =
            self.remarks.iter().filter(|remark| remark.fate != Fate::Ignored || remark.reason.is_some());
        match felt.map(|remark| remark.fate).max() {
            _ if !self.loads.is_yes() => Meaning::Different,
            Some(Fate::Changed | Fate::Refused) => Meaning::Different,
            Some(Fate::Ignored) => Meaning::Partly,
            Some(Fate::Same) | None => Meaning::Same,
        }
    }

    /// The verdict on a key, the first one where it is repeated.
    pub fn key(&self, key: &str) -> Option<&Remark> {
        self.remarks.iter().find(|remark| remark.key.as_deref() == Some(key))
    }

    /// The verdict as diagnostics of `source`, the text that was judged. There are none for metier itself, since
    /// parsing has already reported them.
    pub fn diagnostics(&self, source: &str) -> Vec<Diagnostic> {
        let mut findings = Findings::default();
        if self.profile == Profile::Metier {
            return Vec::new();
        }
        for remark in &self.remarks {
            let Some(reason) = &remark.reason else { continue };
            let code = match remark.fate {
                Fate::Same => &code::WORTH_KNOWING_THERE,
                Fate::Ignored => &code::IGNORED_THERE,
                Fate::Changed => &code::MEANS_SOMETHING_ELSE_THERE,
                Fate::Refused => &code::NOT_LOADED_THERE,
            };
            findings.add(|| {
                let mut found = Diagnostic::new(code, format!("{}: {reason}", self.profile.title()));
                if let Some(help) = &remark.help {
                    found = found.help(help.clone());
                }
                if remark.fate == Fate::Refused && self.loads == Loads::NoAndOthers {
                    found = found.note("the skills beside it do not load there either while it is like this");
                }
                found.at(remark.span, source)
            });
        }
        findings.into_diagnostics(source)
    }
}
