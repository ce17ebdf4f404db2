//! Skills for a program that has a model of its own: the whole crate behind a few calls.
//!
//! - [`Skills`] is what a program opens once: the skills of its roots, the rules, the sandbox. A [`SkillsBuilder`] says where
//!   things are; nothing is read from the environment.
//! - [`Session`] is one conversation: [`Session::catalog`] goes into the system prompt and [`Session::tools`] into the request,
//!   both the same bytes as long as it lasts; [`Session::call`] carries out what the model calls.
//! - [`Note`] is what became of the skills meanwhile. Whatever was said already stays.
//!
//! `room` is what a session carries calls out with, `house` what all sessions share.

mod alone;
mod begin;
mod builder;
mod by_program;
mod fork;
mod held;
mod house;
mod known;
mod ledger;
mod note;
mod outputs;
mod own;
mod room;
mod session;
mod value_source;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use metier_catalog::{Finder, News, Snapshot, Unresolved, Watching};
use metier_diagnostic::Diagnostic;
use metier_policy::{Kept, Problem};

pub use self::alone::Respondent;
pub use self::begin::begin;
pub use self::builder::SkillsBuilder;
pub use self::by_program::ScriptCall;
pub use self::fork::{ChildWanted, Fork, ForkAgain};
use self::house::{House, lock};
use self::ledger::Mark;
pub use self::note::Note;
pub use self::own::{Active, GivenAnswer, Labels};
pub use self::room::{Listener, OwnJob, Restored};
pub use self::session::{NotUsed, Session, Used};
pub use self::value_source::{SkillSecrets, ValueSource};
use crate::toolset::{Coverage, Entrance, Surface, Toolset, Visible};

/// The skills of a program, and everything it takes to use them. A clone is the same thing once more.
///
/// See the [first page](crate) for how a model gets at them.
#[derive(Clone, Debug)]
pub struct Skills {
    house: Arc<House>,
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

    pub(self) fn new(house: House) -> Self {
        Self { house: Arc::new(house) }
    }

    /// The skills as they are known now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.house.known.snapshot()
    }

    /// Looks for changes of the files now. Sessions take them up when their user speaks, or by [`Session::refresh`].
    ///
    /// With [`SkillsBuilder::watch`] the system tells of changes, a moment after they happened, and there is nothing to look for.
    pub fn refresh(&self) -> Arc<Snapshot> {
        self.house.known.look()
    }

    /// How changes of the files are noticed.
    pub fn watching(&self) -> Watching {
        self.house.known.watching()
    }

    /// Tells of every change from here on, for a program that has to pass it on. Where changes are looked for on use, it is told
    /// when somebody looks.
    pub fn subscribe(&self) -> Receiver<News> {
        self.house.known.subscribe()
    }

    /// What there is to say about roots, configuration and files: every skill that does not load, and why.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let snapshot = self.snapshot();
        let failures = snapshot.failures().iter().filter_map(|failure| failure.reason());
        failures.chain(snapshot.diagnostics()).cloned().collect()
    }

    /// What in the rules could not be taken as it is written, and what holds instead.
    pub fn rule_problems(&self) -> Vec<Problem> {
        self.house.rules(self.snapshot().layout(), self.house.layer.clone()).problems().to_vec()
    }

    /// The answers that were given for good, for a program that keeps them: [`SkillsBuilder::kept`] takes them back.
    pub fn kept(&self) -> Vec<Kept> {
        lock(&self.house.kept).clone()
    }

    /// What a model that is told of skills now would see of them.
    pub fn catalog(&self) -> String {
        let snapshot = self.snapshot();
        snapshot.catalogue(&snapshot.catalogue_options(self.house.window)).text
    }

    /// The search index of the skills as they are known now. It is made once, whoever asks.
    pub fn finder(&self) -> Arc<Finder> {
        self.house.finder(&self.snapshot())
    }

    /// The tools of a session that begins now.
    pub fn toolset(&self, surface: Surface) -> Toolset {
        self.begin(surface).1
    }

    /// Begins a conversation, with metier's own tools.
    pub fn session(&self) -> Session {
        self.session_on(Surface::default())
    }

    /// Begins a conversation, with the tools of this system.
    pub fn session_on(&self, surface: Surface) -> Session {
        // Whoever begins sees what is there now.
        self.refresh();
        let (_, mark) = lock(&self.house.ledger).since(Mark::default());
        let (catalog, toolset) = self.begin(surface);
        Session::new(Arc::clone(&self.house), toolset, catalog, mark, None)
    }

    /// Begins the conversation of an agent that has a list of its own: the model sees and gets these skills alone. A name
    /// that is none refuses the start, and everything that is wrong with the list is told at once.
    pub fn session_with<'a>(
        &self,
        surface: Surface,
        list: impl IntoIterator<Item = &'a str>,
    ) -> Result<Session, Vec<Unresolved>> {
        let snapshot = self.refresh();
        let (_, mark) = lock(&self.house.ledger).since(Mark::default());
        let list: Vec<String> = list.into_iter().map(str::to_owned).collect();
        let visible = Visible::only(snapshot, list.iter().map(String::as_str))?;
        let (catalog, toolset) = self.furnish(surface, visible);
        Ok(Session::new(Arc::clone(&self.house), toolset, catalog, mark, Some(list)))
    }

    /// Begins a session that no model speaks in: it lists no skills, and the program itself says what is to be done.
    pub fn session_for_program(&self) -> Session {
        // Without a skill to list there are no tools to describe, which costs more than all the rest.
        let visible = Visible::among(self.snapshot(), []);
        let toolset = Toolset::new(Surface::default(), visible, Coverage::Partial, Entrance::Given);
        let (_, mark) = lock(&self.house.ledger).since(Mark::default());
        Session::new(Arc::clone(&self.house), toolset, String::new(), mark, Some(Vec::new()))
    }

    fn begin(&self, surface: Surface) -> (String, Toolset) {
        self.furnish(surface, Visible::all(self.snapshot()))
    }

    /// What a model is told of skills, and its tools for them.
    fn furnish(&self, surface: Surface, visible: Visible) -> (String, Toolset) {
        let snapshot = visible.snapshot();
        let mut options = snapshot.catalogue_options(self.house.window);
        options.disclosure = self.house.disclosure.unwrap_or(options.disclosure);
        let catalogue = snapshot.catalogue_among(&options, |id| visible.has(id));
        let coverage = if catalogue.report.is_complete() { Coverage::Whole } else { Coverage::Partial };
        (catalogue.text, Toolset::new(surface, visible, coverage, Entrance::Tool))
    }
}
