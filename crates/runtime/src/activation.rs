//! Activation: a skill's text goes into a conversation.
//!
//! The way of one, each step a value:
//!
//! - A [`Setting`] is which skill, where, and what its tokens stand for; a [`Request`] is who asks, with which arguments.
//! - A [`Draft`] is the file, read once, and what would be done with it: [`Draft::plan`] is what `--dry-run` shows,
//!   [`Draft::questions`] what has to be asked before its commands run.
//! - [`Draft::finish`] runs the commands and gives an [`Activation`]: the text in its envelope, and the scope it opens.
//! - A [`Conversation`] knows what is in it already: [`Conversation::enter`] opens the scope, and the same skill with the same
//!   arguments is [`Activated::Again`], a note instead of a second copy.
//!
//! [`activate`] does all of this but asking. Text and digest are always of the same read, whatever happens to the file
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

mod by;
mod content;
mod conversation;
mod draft;
mod envelope;
mod resources;

pub use by::{By, Closed};
pub use content::TRAILER;
pub(crate) use conversation::RestoredText;
pub use conversation::{Again, Conversation, Reopen};
pub use draft::{Draft, NotActivated, Request, Setting};
pub use envelope::{attribute, breadcrumb, neutral};

use std::ops::Range;

use metier_diagnostic::Diagnostic;
use metier_files::FileDigest;
use metier_policy::Skill;
use metier_sandbox::Cancel;

use crate::render::{Arguments, Rendered};
use crate::run::Workbench;
use crate::scope::SkillScope;

/// A skill, ready to go into a conversation.
#[derive(Clone, Debug)]
pub struct Activation {
    /// Who it is.
    pub skill: Skill,
    /// The SHA-256 of the `SKILL.md` that was rendered.
    pub digest: FileDigest,
    /// With what it was started.
    pub arguments: Arguments,
    /// The text in its envelope.
    pub text: String,
    /// Where in the text the content is.
    pub(crate) content: Range<usize>,
    /// The body after substitution, with where each byte came from.
    pub rendered: Rendered,
    /// How it runs.
    pub way: Way,
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
pub enum Way {
    /// In the conversation.
    Inline,
    /// In a child of its own.
    Fork {
        /// The agent definition that runs it.
        agent: Option<String>,
        /// Whether the parent goes on meanwhile.
        background: Option<bool>,
    },
}

/// What came of an activation.
#[derive(Clone, Debug)]
pub enum Activated {
    /// A text that is new to the conversation.
    Fresh(Box<Activation>),
    /// It is in the conversation already: a note.
    Again(Box<Again>),
}

/// Activates a skill as far as that can be without asking anybody: a command that takes a yes stays as text, and where the
/// activation itself takes one, [`NotActivated::Gate`] has the question. Whoever can ask uses [`Draft`].
///
/// The conversation is not changed: give what comes back to [`Conversation::enter`].
pub fn activate(
    setting: &Setting<'_>,
    request: Request<'_>,
    bench: &Workbench<'_>,
    conversation: &Conversation,
    cancel: Option<&Cancel>,
) -> Result<Activated, NotActivated> {
    let draft = Draft::open(setting, request)?;
    draft.may_start(bench)?;
    match draft.again(conversation) {
        Some(again) => Ok(Activated::Again(Box::new(again))),
        None => draft.finish(bench, cancel).map(|activation| Activated::Fresh(Box::new(activation))),
    }
}
