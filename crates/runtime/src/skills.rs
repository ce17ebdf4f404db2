//! Skills for a program that has a model of its own: the whole crate behind a few calls.
//!
//! - [`Skills`] is what a program opens once: the skills of its roots, the rules, the sandbox. A [`SkillsBuilder`] says where
//!   things are; nothing is read from the environment.
//! - [`SkillSession`] is one conversation: [`SkillSession::catalog`] goes into the system prompt and [`SkillSession::tools`] into the request,
//!   both the same bytes as long as it lasts; [`SkillSession::call`] carries out what the model calls.
//! - [`Note`] is what became of the skills meanwhile. Whatever was said already stays.
//!
//! `engine` is what all sessions share.

mod begin;
mod builder;
mod engine;
mod known;
mod ledger;
mod note;
mod session;
mod value_source;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use metier_catalog::{Finder, News, Snapshot, Unresolved, Watching};
use metier_diagnostic::Diagnostic;
use metier_policy::{ApprovalKey, Problem};

pub use self::begin::begin;
pub use self::builder::SkillsBuilder;
use self::engine::{Engine, lock};
use self::ledger::ChangeCursor;
pub use self::note::Note;
pub use self::session::{
    ActiveSkill, Approval, ApprovalEvent, ApprovalHandler, ApprovalReply, ApprovalRequest, ApprovalStage,
    Fork, ForkRequest, OutputListener, RestoredSkill, ResumedFork, ScriptCall, SkillLabels, SkillSession,
    UseError, UseResult,
};
pub(crate) use self::session::{EnteredSkill, Gated, NoApproval, ProcessKind, SkillProcess};
pub use self::value_source::{SkillSecrets, SourceError, ValueSource};
use crate::toolset::{Coverage, Entrance, Surface, Toolset, Visible};

/// The skills of a program, and everything it takes to use them. A clone is the same thing once more.
///
/// See the [first page](crate) for how a model gets at them.
#[derive(Clone, Debug)]
pub struct Skills {
    engine: Arc<Engine>,
}

impl Skills {
    /// Opens the skills below these folders, the highest first. Whoever names a root trusts it: its skills may be used, and
    /// what they run is contained all the same. Anything else, a project or a folder for their data, is for
    /// [`Skills::builder`] to say.
    ///
    /// It does not fail: a root that is missing and a skill that does not load are among [`Skills::problems`].
    pub fn open<P: Into<PathBuf>>(roots: impl IntoIterator<Item = P>) -> Self {
        roots.into_iter().fold(Self::builder(), SkillsBuilder::root).open()
    }

    /// Opens skills with more to say than their roots.
    pub fn builder() -> SkillsBuilder {
        SkillsBuilder::default()
    }

    pub(self) fn new(engine: Engine) -> Self {
        Self { engine: Arc::new(engine) }
    }

    /// The skills as they are known now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.engine.known.snapshot()
    }

    /// Looks for changes of the files now. Sessions take them up when their user speaks, or by [`SkillSession::refresh`].
    ///
    /// With [`SkillsBuilder::watch`] the system tells of changes, a moment after they happened, and there is nothing to look for.
    pub fn refresh(&self) -> Arc<Snapshot> {
        self.engine.known.look()
    }

    /// How changes of the files are noticed.
    pub fn watching(&self) -> Watching {
        self.engine.known.watching()
    }

    /// Tells of every change from here on, for a program that has to pass it on. Where changes are looked for on use, it is told
    /// when somebody looks.
    pub fn subscribe(&self) -> Receiver<News> {
        self.engine.known.subscribe()
    }

    /// What there is to say about roots, configuration and files: every skill that does not load, and why.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let snapshot = self.snapshot();
        let failures = snapshot.failures().iter().filter_map(|failure| failure.reason());
        failures.chain(snapshot.diagnostics()).cloned().collect()
    }

    /// What in the rules could not be taken as it is written, and what holds instead.
    pub fn rule_problems(&self) -> Vec<Problem> {
        self.engine.rules(self.snapshot().layout(), self.engine.program.layer.clone()).problems().to_vec()
    }

    /// The answers that were given for good, for a program that keeps them: [`SkillsBuilder::kept`] takes them back.
    pub fn kept(&self) -> Vec<ApprovalKey> {
        lock(&self.engine.kept).clone()
    }

    /// What a model that is told of skills now would see of them.
    pub fn catalog(&self) -> String {
        let snapshot = self.snapshot();
        snapshot.catalogue(&snapshot.catalogue_options(self.engine.program.window)).text
    }

    /// The search index of the skills as they are known now. It is made once, whoever asks.
    pub fn finder(&self) -> Arc<Finder> {
        self.engine.finder(&self.snapshot())
    }

    /// The tools of a session that begins now.
    pub fn toolset(&self, surface: Surface) -> Toolset {
        self.begin(surface).1
    }

    /// Begins a conversation, with metier's own tools.
    pub fn session(&self) -> SkillSession {
        self.session_on(Surface::default())
    }

    /// Begins a conversation, with the tools of this system.
    pub fn session_on(&self, surface: Surface) -> SkillSession {
        // Whoever begins sees what is there now.
        self.refresh();
        let (_, cursor) = lock(&self.engine.ledger).since(ChangeCursor::default());
        let (catalog, toolset) = self.begin(surface);
        SkillSession::new(Arc::clone(&self.engine), toolset, catalog, cursor, None)
    }

    /// Begins the conversation of an agent that has a list of its own: the model sees and gets these skills alone. A name
    /// that is none refuses the start, and everything that is wrong with the list is told at once.
    pub fn session_with<'a>(
        &self,
        surface: Surface,
        list: impl IntoIterator<Item = &'a str>,
    ) -> Result<SkillSession, Vec<Unresolved>> {
        let snapshot = self.refresh();
        let (_, cursor) = lock(&self.engine.ledger).since(ChangeCursor::default());
        let list: Vec<String> = list.into_iter().map(str::to_owned).collect();
        let visible = Visible::only(snapshot, list.iter().map(String::as_str))?;
        let (catalog, toolset) = self.furnish(surface, visible);
        Ok(SkillSession::new(Arc::clone(&self.engine), toolset, catalog, cursor, Some(list)))
    }

    /// Begins a session that no model speaks in: it lists no skills, and the program itself says what is to be done.
    pub fn session_for_program(&self) -> SkillSession {
        // Without a skill to list there are no tools to describe, which costs more than all the rest.
        let visible = Visible::among(self.snapshot(), []);
        let toolset = Toolset::new(Surface::default(), visible, Coverage::Partial, Entrance::Given);
        let (_, cursor) = lock(&self.engine.ledger).since(ChangeCursor::default());
        SkillSession::new(Arc::clone(&self.engine), toolset, String::new(), cursor, Some(Vec::new()))
    }

    fn begin(&self, surface: Surface) -> (String, Toolset) {
        self.furnish(surface, Visible::all(self.snapshot()))
    }

    /// What a model is told of skills, and its tools for them.
    fn furnish(&self, surface: Surface, visible: Visible) -> (String, Toolset) {
        let snapshot = visible.snapshot();
        let mut options = snapshot.catalogue_options(self.engine.program.window);
        options.disclosure = self.engine.program.disclosure.unwrap_or(options.disclosure);
        let catalogue = snapshot.catalogue_among(&options, |id| visible.has(id));
        let coverage = if catalogue.report.is_complete() { Coverage::Whole } else { Coverage::Partial };
        (catalogue.text, Toolset::new(surface, visible, coverage, Entrance::Tool))
    }
}
