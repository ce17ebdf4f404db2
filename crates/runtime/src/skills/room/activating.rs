//! From a skill to its text in this conversation.

use metier_catalog::EntryId;
use metier_diagnostic::Severity;
use metier_policy::{Action, Actor, Answers};
use metier_sandbox::Limits;
use serde_json::{Map, Value};

use super::{Room, Spot, Supply};
use crate::activation::{Activated, Activation, By, Draft, NotActivated, Request, Setting, Way};
use crate::containment::Start;
use crate::injection::injection_start;
use crate::render::Arguments;
use crate::requirements::Missing;
use crate::run::Workbench;
use crate::scope::End;
use crate::skills::house::lock;
use crate::toolset::{Activate, InUse, Told, Use, frontmatter};
use crate::wants::Wants;

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
        let mut spot = self.spot(id).map_err(NotEntered::Trouble)?;
        let variables = self.variables();
        if self.survey.borrow().is_none() {
            self.look_over().map_err(NotEntered::Trouble)?;
        }
        let mut answers = lock(&self.answers).clone();
        let (wants, missing) = self.before_its_text(id, &mut spot, &answers);
        // A question is asked between two looks at the file, so that the text is of the last one.
        let mut asking = if self.ask.is_some() { Asking::First } else { Asking::Over };
        loop {
            let supply = Supply {
                wants: &wants,
                toolbox: self.house.toolbox(),
                limits: Limits::default(),
                answers: &answers,
            };
            let step = self.with(&spot, supply, |bench, using| {
                let root = self.snapshot.entry(id).map(|entry| self.snapshot.root(entry));
                let setting = Setting {
                    snapshot: &self.snapshot,
                    id,
                    using,
                    start: root.map_or(Start::Skill, injection_start),
                    missing: &missing,
                    environment: &variables,
                    servers: &self.servers,
                    dialect: self.surface.dialect(),
                };
                let draft = Draft::open(&setting, Request { by, arguments })?;
                if gated == Gated::NotYet {
                    draft.may_start(bench)?;
                }
                self.step(&draft, bench, asking, apart)
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
                        return Err(NotEntered::NotActivated(NotActivated::Gate { action, decision }));
                    }
                }
                Err(error) => return Err(NotEntered::NotActivated(error)),
            }
        }
    }

    /// What the commands in its text get beyond their containment, and what the skill requires and is not here. Nothing is
    /// asked for a command: it gets what was granted before.
    fn before_its_text(&self, id: EntryId, spot: &mut Spot, answers: &Answers) -> (Wants, Vec<Missing>) {
        let entry = self.snapshot.entry(id);
        let read = entry.and_then(|entry| Some((entry, self.snapshot.read(entry).ok()?)));
        // A file that cannot be read is the activation's to refuse.
        let Some((entry, file)) = read else { return (Wants::default(), Vec::new()) };
        let mut wants = self.needs(entry, &spot.skill, &file).wants;
        if !wants.is_empty() {
            self.bind(spot, entry, &file, &wants);
        }
        let missing = self.missing(&spot.skill.name, &file, &wants);
        wants.retain(|need| {
            let action = Action::more(Actor::Skill(spot.skill.clone()), need.clone());
            self.gate(answers, |gate| gate.decide(&action).is_allowed())
        });
        (wants, missing)
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
                let said = grave.map(|found| found.message.clone());
                let notes = said.chain(activation.notes.iter().cloned()).collect();
                let content = activation.content().to_owned();
                InUse { message: activation.text, content, frontmatter, instead: None, notes }
            }
        })
    }
}
