//! One conversation of a model that has skills.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metier_activation::{ActivationError, ActivationOutcome, Invoker, Scopes, SkillArguments};
use metier_catalog::{EntryId, Lookup, Reference, ReferenceError, State};
use metier_exec::{PrepareError, RunError};
use metier_policy::{Action, Decision};
use serde_json::Value;

use super::Note;
use super::house::{House, lock};
use super::ledger::Mark;
use super::own::GivenAnswer;
use super::room::{Gated, NotEntered, Restored, Room};
use crate::toolset::{Desk, NotDone, ToolFormat, ToolResult, Toolset, Visible};

/// How many files of the work are remembered. Whoever touches more has touched a file of each kind by then.
const MOST_TOUCHED: usize = 1_000;

/// Tells sessions of one process apart.
static MADE: AtomicU64 = AtomicU64::new(0);

/// One conversation: what the model was told, which skills are active in it, what was answered.
///
/// The skills it knows are those of the moment it began, until the user speaks again; then it takes what has changed
/// and gives a [`Note`] of it. What a skill *says* is read whenever it is activated: an edit changes the next activation, and
/// never a text that was given.
pub struct Session {
    pub(super) room: Room,
    pub(super) toolset: Toolset,
    catalog: String,
    /// How far it has read what became of the skills.
    pub(super) mark: Mark,
    /// The skills that were activated, the last one at the end.
    pub(super) active: Vec<EntryId>,
    /// Their folders, by which they are known from one snapshot to the next; in the same order.
    pub(super) folders: Vec<PathBuf>,
    /// The agent's own list of skills, if it has one.
    pub(super) list: Option<Vec<String>>,
    /// The files that the work has touched, seen from the project's folder.
    touched: Vec<PathBuf>,
}

/// A skill that is in the conversation now.
#[derive(Clone, Debug)]
pub struct Used {
    /// What goes into the conversation: the skill's text, or a note that it is there already.
    pub text: String,
    /// The same with everything that is known of it.
    pub activated: ActivationOutcome,
}

/// Why a skill is not in the conversation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotUsed {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] ReferenceError),
    /// No skill is meant by it.
    #[error("`{name}`: {why}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Why nothing is meant.
        why: String,
    },
    /// It is switched off.
    #[error("`{name}` is {state}")]
    Off {
        /// Its name.
        name: String,
        /// How it is switched off.
        state: State,
    },
    /// It cannot be activated.
    #[error(transparent)]
    NotActivated(#[from] ActivationError),
    /// Nothing of it ran.
    #[error(transparent)]
    NotRun(#[from] RunError),
    /// Its packages are not installed.
    #[error(transparent)]
    NotPrepared(#[from] PrepareError),
    /// What it takes could not be had, such as its data folder.
    #[error("{0}")]
    Trouble(String),
}

impl Session {
    pub(super) fn new(
        house: Arc<House>,
        toolset: Toolset,
        catalog: String,
        mark: Mark,
        list: Option<Vec<String>>,
    ) -> Self {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let room = Room::new(house, Arc::clone(toolset.visible().snapshot()), name, toolset.surface());
        let (active, folders, touched) = (Vec::new(), Vec::new(), Vec::new());
        Self { room, toolset, catalog, mark, active, folders, list, touched }
    }

    /// Gives the session a name of the program's own; scripts see it as `SESSION_ID`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.room.session);
        self
    }

    /// What the model sees first: for the system prompt. Empty where there are no skills. It stays the same as long as the
    /// session lasts.
    pub fn catalog(&self) -> &str {
        &self.catalog
    }

    /// The tools, for whoever wants to know more of them.
    pub fn toolset(&self) -> &Toolset {
        &self.toolset
    }

    /// The definitions of the tools, as they stand in a request. They stay the same as long as the session lasts.
    pub fn tools(&self, format: ToolFormat) -> Value {
        self.toolset.render(format)
    }

    /// Carries out a tool call of the model. It never fails: what cannot be done is a result that says so.
    ///
    /// [`ToolResult::text`] is the tool's result. Where there is a [`ToolResult::message`], it follows all results of the turn as a
    /// message with the role of the user.
    pub fn call(&mut self, name: &str, arguments: &Value) -> ToolResult {
        let room = &self.room;
        let desk = Desk { hands: room, activate: room, search: Some(room), active: &self.active };
        let result = self.toolset.call(name, arguments, &desk);
        if let Some(id) = result.activated {
            self.activated(id);
        }
        result
    }

    /// Puts a skill into the conversation because the program says so, such as after a user typed its name.
    pub fn activate(&mut self, name: &str, arguments: impl Into<SkillArguments>) -> Result<Used, NotUsed> {
        self.activate_by(Invoker::Caller, name, arguments)
    }

    /// The same for somebody else, to whom some skills are closed: see [`Invoker`].
    pub fn activate_by(
        &mut self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
    ) -> Result<Used, NotUsed> {
        let id = self.find(name)?;
        let activated = self.room.enter(id, by, &arguments.into(), Gated::NotYet)?.activated;
        self.activated(id);
        let text = match &activated {
            ActivationOutcome::Fresh(activation) => activation.text.clone(),
            ActivationOutcome::Again(again) => again.note.clone(),
        };
        Ok(Used { text, activated })
    }

    pub(super) fn find(&self, name: &str) -> Result<EntryId, NotUsed> {
        let reference: Reference = name.parse()?;
        match self.room.snapshot.find(&reference) {
            // Why a skill cannot be used is for the activation to say.
            Lookup::Found(id, _) | Lookup::Unusable(id, _) => Ok(id),
            other => {
                let why = self.room.snapshot.in_words(&other);
                Err(NotUsed::Unknown { name: name.to_owned(), why })
            }
        }
    }

    /// The folder with what programs wrote beyond what the model got, once there is any. It goes with the session.
    pub fn outputs(&self) -> Option<PathBuf> {
        self.room.outputs.borrow().folder().map(Path::to_owned)
    }

    /// The user speaks: scopes of skills that run in the conversation are over, what was refused may be asked again, and
    /// what has changed is taken up. The note's text goes into the conversation with the user's message.
    pub fn user_message(&mut self) -> Option<Note> {
        self.room.conversation.borrow_mut().user_message();
        lock(&self.room.answers).forget_refusals();
        self.room.forget_secrets();
        self.refresh()
    }

    /// Looks for changes and takes them up. The catalogue and the definitions of the tools stay as they are; skills that
    /// came are taken all the same, skills that went are not.
    pub fn refresh(&mut self) -> Option<Note> {
        let now = self.room.house.known.look();
        let (unread, mark) = lock(&self.room.house.ledger).since(self.mark);
        self.mark = mark;
        if Arc::ptr_eq(&now, &self.room.snapshot) && unread.changes.is_empty() {
            return None;
        }
        let before = self.toolset.visible().clone();
        self.room.renew(Arc::clone(&now));
        self.toolset.renew(match &self.list {
            Some(list) => Visible::among(now, list.iter().map(String::as_str)),
            None => Visible::all(now),
        });
        for file in &self.touched {
            self.toolset.touch(file);
        }
        // What is gone cannot be active any more.
        self.folders.retain(|folder| self.room.id_of(folder).is_some());
        self.active = self.folders.iter().filter_map(|folder| self.room.id_of(folder)).collect();
        Note::of(unread, &before, self.toolset.visible())
    }

    /// The work touches these files, absolute or seen from the project's folder. Skills that are for such files (`paths`) are offered
    /// from now on; where there are any, the text tells the model, wherever its next message is.
    pub fn touch<'p>(&mut self, files: impl IntoIterator<Item = &'p str>) -> Option<String> {
        let mut came = Vec::new();
        for file in files {
            let project = self.room.snapshot.layout().project.as_ref();
            let file = Path::new(file);
            let seen = project.and_then(|project| file.strip_prefix(&project.folder).ok()).unwrap_or(file);
            let seen = seen.strip_prefix(".").unwrap_or(seen).to_owned();
            if self.touched.contains(&seen) || self.touched.len() >= MOST_TOUCHED {
                continue;
            }
            came.extend(self.toolset.touch(&seen));
            self.touched.push(seen);
        }
        let snapshot = &self.room.snapshot;
        let lines: String =
            came.iter().filter_map(|id| Some(snapshot.catalogue_line(snapshot.entry(*id)?))).collect();
        let head = "The work touches files for which there are more skills than were listed:\n\n";
        (!lines.is_empty()).then(|| format!("{head}{}", lines.trim_end()))
    }

    /// Forgets which texts are in the conversation: they were cut away, and the next activation brings a new copy.
    pub fn forget_texts(&mut self) {
        self.room.conversation.borrow_mut().forget_texts();
    }

    /// The same for skills whose scopes are over. The texts of active ones stay, so that they are not brought twice.
    pub fn forget_ended_texts(&mut self) {
        self.room.conversation.borrow_mut().forget_ended_texts();
    }

    /// Takes up what was active in this conversation before its process ended, in the order in which it was activated: scopes, and
    /// which texts are there. Nothing is rendered and nothing runs. Gives the names of skills that are not to be had any more.
    pub fn restore(&mut self, skills: &[Restored]) -> Vec<String> {
        let mut gone = Vec::new();
        for restored in skills {
            match self.room.restore(restored) {
                Some(id) => self.activated(id),
                None => gone.push(restored.name.clone()),
            }
        }
        gone
    }

    /// Takes an answer that was given in this conversation before.
    pub fn restore_answer(&mut self, given: &GivenAnswer) {
        let kept = lock(&self.room.answers).give(&given.question, given.answer);
        if let Some(kept) = kept {
            lock(&self.room.house.kept).push(kept);
        }
    }

    /// The scopes that are open: which model, how many turns and which fences the active skills ask for.
    pub fn scopes(&self) -> Scopes {
        self.room.conversation.borrow().scopes.clone()
    }

    /// Makes a skill the last active one.
    pub(super) fn activated(&mut self, id: EntryId) {
        let Some(folder) = self.room.folder(id) else { return };
        if let Some(at) = self.active.iter().position(|known| *known == id) {
            self.active.remove(at);
            self.folders.remove(at);
        }
        self.active.push(id);
        self.folders.push(folder);
    }
}

impl From<NotEntered> for NotUsed {
    fn from(error: NotEntered) -> Self {
        match error {
            NotEntered::NotActivated(error) => error.into(),
            NotEntered::Trouble(text) => Self::Trouble(text),
        }
    }
}

impl From<NotDone> for NotUsed {
    fn from(error: NotDone) -> Self {
        match error {
            NotDone::NotRun(error) => error.into(),
            NotDone::Trouble(text) => Self::Trouble(text),
        }
    }
}

impl NotUsed {
    /// What was to happen and what the gate decided about it, where that is the reason.
    pub fn refused(&self) -> Option<(&Action, &Decision)> {
        match self {
            Self::NotActivated(ActivationError::Gate { action, decision })
            | Self::NotRun(RunError::Gate { action, decision })
            | Self::NotPrepared(PrepareError::Gate { action, decision }) => Some((action, decision)),
            _ => None,
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("name", &self.room.session)
            .field("active", &self.folders)
            .finish_non_exhaustive()
    }
}
