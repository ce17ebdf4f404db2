//! From a skill to its text in this conversation.

use std::borrow::Cow;

use metier_catalog::EntryId;
use metier_diagnostic::Severity;
use metier_policy::Answers;
use metier_sandbox::Limits;
use serde_json::{Map, Value};

use super::{Room, Spot, Supply};
use crate::activation::{Activated, Activation, By, Draft, NotActivated, Request, Setting, Way};
use crate::containment::Start;
use crate::injection::injection_start;
use crate::render::{Arguments, Variable};
use crate::requirements::Missing;
use crate::run::Workbench;
use crate::scope::End;
use crate::search_path::Toolbox;
use crate::skills::house::lock;
use crate::toolset::{Activate, InUse, Told, Use, frontmatter};
use crate::wants::{Declared, Wants};

/// Whether the gate has been asked about an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::skills) enum Gated {
    Already,
    NotYet,
}

/// Why there is no activation.
pub(in crate::skills) enum NotEntered {
    /// The skill itself, or the gate.
    NotActivated(NotActivated),
    /// What it takes could not be had.
    Trouble(String),
}

/// What came of it, with the frontmatter for the surface that shows it.
pub(in crate::skills) struct Entered {
    pub(in crate::skills) activated: Activated,
    frontmatter: Map<String, Value>,
}

impl Room {
    /// Activates a skill and takes it into the conversation.
    pub(in crate::skills) fn enter(
        &self,
        id: EntryId,
        by: By,
        arguments: &Arguments,
        gated: Gated,
    ) -> Result<Entered, NotEntered> {
        let entered = self.made(id, by, arguments, gated, Apart::No)?;
        Ok(self.taken(entered))
    }

    /// Activates a skill for a conversation of its own.
    pub(in crate::skills) fn activation_apart(
        &self,
        id: EntryId,
        by: By,
        arguments: &Arguments,
        gated: Gated,
    ) -> Result<Box<Activation>, NotEntered> {
        match self.made(id, by, arguments, gated, Apart::Yes)?.activated {
            Activated::Fresh(activation) => Ok(activation),
            // A conversation that has nothing in it has nothing again.
            Activated::Again(again) => Err(NotEntered::Trouble(again.note)),
        }
    }

    fn made(
        &self,
        id: EntryId,
        by: By,
        arguments: &Arguments,
        gated: Gated,
        apart: Apart,
    ) -> Result<Entered, NotEntered> {
        self.may_start().map_err(NotEntered::Trouble)?;
        let candidate = self.candidate(id).map_err(NotEntered::Trouble)?;
        let mut answers = lock(&self.answers).clone();
        // A question is asked between two looks at the file, so that the text is of the last one.
        let mut asking = if self.ask.is_some() { Asking::First } else { Asking::Over };
        loop {
            let request = Request { by, arguments };
            let step = self.with_candidate(&candidate, request, &answers, |draft, bench| {
                if gated == Gated::NotYet {
                    draft.may_start(bench)?;
                }
                self.step(draft, bench, asking, apart)
            });
            match step {
                Ok(Step::Done(entered)) => return Ok(*entered),
                Ok(Step::Ask(questions)) => {
                    for (action, decision) in questions {
                        // A no leaves the command as text, which is then said.
                        self.ask(&action, &decision, &mut answers);
                    }
                    asking = Asking::Over;
                }
                Err(NotActivated::Gate { action, decision }) => {
                    if !self.ask(&action, &decision, &mut answers) {
                        self.tell_refused(&action, &decision);
                        return Err(NotEntered::NotActivated(NotActivated::Gate { action, decision }));
                    }
                }
                Err(error) => return Err(NotEntered::NotActivated(error)),
            }
        }
    }

    /// Does something with what an activation would be made of. Nothing runs and nobody is asked.
    pub(in crate::skills) fn with_draft<T>(
        &self,
        id: EntryId,
        request: Request<'_>,
        look: impl FnOnce(&Draft<'_>, &Workbench<'_>) -> Result<T, NotActivated>,
    ) -> Result<T, NotEntered> {
        self.may_start().map_err(NotEntered::Trouble)?;
        let candidate = self.candidate(id).map_err(NotEntered::Trouble)?;
        let answers = lock(&self.answers).clone();
        self.with_candidate(&candidate, request, &answers, look).map_err(NotEntered::NotActivated)
    }

    /// Finds everything that an activation takes before the text is read. What its commands would get and nobody granted yet is
    /// sorted out when they run: nothing is asked for a command.
    fn candidate(&self, id: EntryId) -> Result<Candidate<'_>, String> {
        let mut spot = self.spot(id)?;
        if self.survey.borrow().is_none() {
            self.look_over()?;
        }
        let entry = self.snapshot.entry(id);
        let read = entry.and_then(|entry| Some((entry, self.snapshot.read(entry).ok()?)));
        // A file that cannot be read is the activation's to refuse.
        let Some((entry, file)) = read else {
            let toolbox = Cow::Borrowed(self.house.toolbox());
            let (wants, missing, variables) = (Wants::default(), Vec::new(), Vec::new());
            return Ok(Candidate { id, spot, wants, missing, variables, toolbox, start: Start::Skill });
        };
        let wants = self.needs(entry, &file, &Declared::default())?.wants;
        self.bind(&mut spot, entry, &file, &wants);
        Ok(Candidate {
            id,
            spot,
            missing: self.missing(entry, &file, &wants),
            variables: self.variables(&wants),
            toolbox: self.toolbox(&file),
            start: injection_start(self.snapshot.root(entry)),
            wants,
        })
    }

    fn with_candidate<T>(
        &self,
        candidate: &Candidate<'_>,
        request: Request<'_>,
        answers: &Answers,
        work: impl FnOnce(&Draft<'_>, &Workbench<'_>) -> Result<T, NotActivated>,
    ) -> Result<T, NotActivated> {
        let Candidate { id, spot, wants, missing, variables, toolbox, start } = candidate;
        let supply = Supply { wants, toolbox, limits: Limits::default(), start: *start, answers };
        self.with(spot, supply, |bench, using| {
            let setting = Setting {
                snapshot: &self.snapshot,
                id: *id,
                using,
                start: *start,
                missing,
                environment: variables,
                servers: &self.servers,
                dialect: self.surface.dialect(),
            };
            work(&Draft::open(&setting, request)?, bench)
        })
    }

    fn step(
        &self,
        draft: &Draft<'_>,
        bench: &Workbench<'_>,
        asking: Asking,
        apart: Apart,
    ) -> Result<Step, NotActivated> {
        let frontmatter = frontmatter(draft.manifest());
        let known = self.conversation.borrow();
        if let Some(again) = draft.again(&known).filter(|_| apart == Apart::No) {
            let activated = Activated::Again(Box::new(again));
            return Ok(Step::Done(Box::new(Entered { activated, frontmatter })));
        }
        if asking == Asking::First {
            let questions = draft.questions(bench)?;
            if !questions.is_empty() {
                return Ok(Step::Ask(questions));
            }
        }
        let activation = draft.finish(bench, self.cancel.as_ref())?;
        Ok(Step::Done(Box::new(Entered { activated: Activated::Fresh(Box::new(activation)), frontmatter })))
    }

    /// Opens the scope.
    fn taken(&self, mut entered: Entered) -> Entered {
        if let Activated::Fresh(activation) = &mut entered.activated
            && let Way::Fork { .. } = activation.way
        {
            // There is no child whose end could be its end.
            activation.scope.end = End::NextUserMessage;
            activation
                .notes
                .push("the skill asks for a child of its own and is in this conversation".to_owned());
        }
        self.conversation.borrow_mut().enter(&entered.activated);
        entered
    }
}

/// A skill that is to be activated, with everything that takes.
struct Candidate<'a> {
    id: EntryId,
    spot: Spot,
    wants: Wants,
    missing: Vec<Missing>,
    variables: Vec<Variable>,
    toolbox: Cow<'a, Toolbox>,
    /// Where its commands start.
    start: Start<'static>,
}

/// Whether an activation is for a conversation of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    Yes,
    No,
}

/// Whether questions about its commands are still to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    First,
    Over,
}

/// How far an activation came.
enum Step {
    Ask(Vec<(metier_policy::Action, metier_policy::Decision)>),
    Done(Box<Entered>),
}

impl Activate for Room {
    fn activate(&self, request: &Use<'_>) -> Result<InUse, String> {
        let arguments = match request.arguments {
            Told::Text(text) => Arguments::Text(text.clone()),
            Told::List(words) => Arguments::List(words.clone()),
        };
        let entered = self.enter(request.id, By::Model, &arguments, Gated::Already);
        let Entered { activated, frontmatter } = entered.map_err(|error| match error {
            NotEntered::NotActivated(error) => error.to_string(),
            NotEntered::Trouble(text) => text,
        })?;
        Ok(match activated {
            Activated::Again(again) => InUse { instead: Some(again.note), frontmatter, ..InUse::default() },
            Activated::Fresh(activation) => {
                let grave = activation.diagnostics.iter().filter(|found| found.severity() > Severity::Info);
                let said = grave.map(|found| format!("{}: {}", found.code.name(), found.message));
                let notes = said.chain(activation.notes.iter().cloned()).collect();
                let content = activation.content().to_owned();
                InUse { message: activation.text, content, frontmatter, instead: None, notes }
            }
        })
    }
}
