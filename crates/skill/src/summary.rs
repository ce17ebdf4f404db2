//! What a listing shows of a skill, and nothing else: of ten thousand files nobody wants the hooks.

use crate::document::Parsed;
use crate::manifest::{Description, Manifest, UserOnly};
use crate::name::SkillName;
use metier_diagnostic::Diagnostic;

/// What a SKILL.md gave a listing: a summary unless it was refused, and everything there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summarized {
    /// The skill. `None` means refused; the reason is an error among the diagnostics.
    pub summary: Option<Summary>,
    /// What was odd, mended or refused, in the order of the file: the same as of the whole manifest.
    pub diagnostics: Vec<Diagnostic>,
}

/// The part of a [`Manifest`] that a listing shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The name it is called by.
    pub name: SkillName,
    /// The written name, where it cannot be called.
    pub title: Option<String>,
    /// What it is for.
    pub description: Description,
    /// When to use it.
    pub when_to_use: Option<String>,
    /// What arguments it takes.
    pub argument_hint: Option<String>,
    /// `version`, else `metadata.version`; exactly as written.
    pub version: Option<String>,
    /// Why the model is not offered the skill, if it is not.
    pub user_only: Option<UserOnly>,
    /// Whether `/name` exists.
    pub user_invocable: bool,
    /// The files that it is for, as patterns; none where it is for any work.
    pub paths: Vec<String>,
}

impl From<Manifest> for Summary {
    fn from(manifest: Manifest) -> Self {
        // Taken out of the box: moving the whole of it would copy a kilobyte for each skill.
        let mut more = manifest.more;
        Self {
            name: manifest.name,
            title: manifest.title,
            description: manifest.description,
            when_to_use: manifest.when_to_use.map(|when| when.value),
            argument_hint: more.argument_hint.take().map(|hint| hint.value),
            version: manifest.version.map(|version| version.value),
            user_only: manifest.user_only,
            user_invocable: manifest.user_invocable,
            paths: std::mem::take(&mut more.paths),
        }
    }
}

impl From<Parsed> for Summarized {
    fn from(parsed: Parsed) -> Self {
        let summary = parsed.document.map(|document| document.manifest.into());
        Self { summary, diagnostics: parsed.diagnostics }
    }
}
