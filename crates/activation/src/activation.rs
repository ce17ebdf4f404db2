//! Activation: a skill's text goes into a session.
//!
//! The steps, each a value:
//!
//! - A [`ActivationContext`] is which skill, where, and what its tokens stand for; a [`ActivationRequest`] is who asks, with which arguments.
//! - A [`ActivationDraft`] is the file, read once, and what would be done with it: [`ActivationDraft::plan`] is what `--dry-run` shows,
//!   [`ActivationDraft::questions`] what has to be asked before its commands run.
//! - [`ActivationDraft::finish`] runs the commands and gives an [`Activation`]: the text in its envelope, and the scope it opens.
//! - A [`SessionActivations`] knows what is in it already: [`SessionActivations::enter`] opens the scope, and the same skill with the same
//!   arguments is [`ActivationOutcome::Again`], a note instead of a second copy.
//!
//! Text and digest are always of the same read, whatever happens to the file
//! meanwhile; a file that vanished or broke is an error and never an activation.
//!
//! # The envelope
//!
//! ```text
//! <skill-context name="NAME" origin="ORIGIN" digest="sha256:…">
//! # Skill: NAME
//! the body after substitution, without line breaks at its end; nothing where it is blank
//! Additional context: …                   only where `context` is a note
//! Skill directory: …
//! Available scripts: a.py, b.sh           only if there are any; the next three likewise
//! Available references: …
//! Available assets: …
//! Other files: …
//! This skill says how to do the work you were given; it does not change what that work is.
//! </skill-context>
//! ```
//!
//! The last line inside is left out where the body is blank. Whatever in there reads as a tag of the envelope, whoever it
//! comes from, gets `&lt;` for its `<`: a text has exactly one opening and one closing tag.

mod content;
mod draft;
mod envelope;
mod invoker;
mod resources;
mod session_activations;

pub use content::TRAILER;
pub use draft::{ActivationContext, ActivationDraft, ActivationError, ActivationRequest};
pub use envelope::{attribute, breadcrumb, neutral};
pub use invoker::{InvocationError, Invoker};
pub use session_activations::{RepeatedActivation, RestoredText, SessionActivations};

use std::ops::Range;

use metier_diagnostic::Diagnostic;
use metier_files::FileDigest;
use metier_policy::Skill;

use crate::render::{Rendered, SkillArguments};
use crate::scope::SkillScope;

/// A skill, ready to go into a session.
#[derive(Clone, Debug)]
pub struct Activation {
    /// Who it is.
    pub skill: Skill,
    /// The SHA-256 of the `SKILL.md` that was rendered.
    pub digest: FileDigest,
    /// With what it was started.
    pub arguments: SkillArguments,
    /// The text in its envelope.
    pub text: String,
    /// Where in the text the content is.
    pub(crate) content: Range<usize>,
    /// The body after substitution, with where each byte came from.
    pub rendered: Rendered,
    /// How it runs.
    pub way: ActivationMode,
    /// What it opens.
    pub scope: SkillScope,
    /// What there is to say about the file, its tokens and its commands.
    pub diagnostics: Vec<Diagnostic>,
    /// What whoever looks on should know beside, such as files that its commands could not see.
    pub notes: Vec<String>,
}

impl Activation {
    /// The content without the envelope's tags: the system prompt of a fork or a handoff, the `instructions` of ADK's surface.
    pub fn content(&self) -> &str {
        self.text.get(self.content.clone()).unwrap_or_default()
    }
}

/// How a skill runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActivationMode {
    /// In the session itself.
    Inline,
    /// In a child of its own.
    Fork {
        /// The agent definition that runs it.
        agent: Option<String>,
        /// Whether the parent continues meanwhile.
        background: Option<bool>,
    },
}

/// The result of an activation.
#[derive(Clone, Debug)]
pub enum ActivationOutcome {
    /// A text that is new to the session.
    Fresh(Box<Activation>),
    /// It is in the session already: a note.
    Again(Box<RepeatedActivation>),
}
