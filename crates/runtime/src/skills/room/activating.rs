//! From a skill to its text in this conversation.

use std::borrow::Cow;

use metier_activation::{
    Activation, ActivationContext, ActivationDraft, ActivationError, ActivationMode, ActivationOutcome,
    ActivationRequest, Invoker, ScopeEnd, SkillArguments, injection_start,
};
use metier_catalog::EntryId;
use metier_diagnostic::Severity;
use metier_exec::{DeclaredNeeds, ExecEnv, MissingRequirement, RequestedGrants, StartDir, Toolbox, Variable};
use metier_policy::Answers;
use metier_sandbox::Limits;
use serde_json::{Map, Value};

use super::{Room, Spot, Supply};
use crate::skills::house::lock;
use crate::toolset::{Activate, InUse, Told, Use, frontmatter};

/// Whether the gate has been asked about an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::skills) enum Gated {
    Already,
    NotYet,
}

/// Why there is no activation.
pub(in crate::skills) enum NotEntered {
    /// The skill itself, or the gate.
    NotActivated(ActivationError),
    /// What it takes could not be had.
    Trouble(String),
}

/// What came of it, with the frontmatter for the surface that shows it.
pub(in crate::skills) struct Entered {
    pub(in crate::skills) activated: ActivationOutcome,
    frontmatter: Map<String, Value>,
}

impl Room {
    /// Activates a skill and takes it into the conversation.
    pub(in crate::skills) fn enter(
        &self,
        id: EntryId,
        by: Invoker,
        arguments: &SkillArguments,
        gated: Gated,
    ) -> Result<Entered, NotEntered> {
        let entered = self.made(id, by, arguments, gated, Apart::No)?;
        Ok(self.taken(entered))
    }

    /// Activates a skill for a conversation of its own.
    pub(in crate::skills) fn activation_apart(
        &self,
        id: EntryId,
        by: Invoker,
        arguments: &SkillArguments,
        gated: Gated,
    ) -> Result<Box<Activation>, NotEntered> {
        match self.made(id, by, arguments, gated, Apart::Yes)?.activated {
            ActivationOutcome::Fresh(activation) => Ok(activation),
            // A conversation that has nothing in it has nothing again.
            ActivationOutcome::Again(again) => Err(NotEntered::Trouble(again.note)),
        }
    }

    fn made(
        &self,
        id: EntryId,
        by: Invoker,
        arguments: &SkillArguments,
        gated: Gated,
        apart: Apart,
    ) -> Result<Entered, NotEntered> {
        self.may_start().map_err(NotEntered::Trouble)?;
        let candidate = self.candidate(id).map_err(NotEntered::Trouble)?;
        let mut answers = lock(&self.answers).clone();
        // A question is asked between two looks at the file, so that the text is of the last one.
        let mut asking = if self.ask.is_some() { Asking::First } else { Asking::Over };
        loop {
            let request = ActivationRequest { by, arguments };
            let step = self.with_candidate(&candidate, request, &answers, |draft, env| {
                if gated == Gated::NotYet {
                    draft.may_start(env)?;
                }
                self.step(draft, env, asking, apart)
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
                Err(ActivationError::Gate { action, decision }) => {
                    if !self.ask(&action, &decision, &mut answers) {
                        self.tell_refused(&action, &decision);
                        return Err(NotEntered::NotActivated(ActivationError::Gate { action, decision }));
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
        request: ActivationRequest<'_>,
        look: impl FnOnce(&ActivationDraft<'_>, &ExecEnv<'_>) -> Result<T, ActivationError>,
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
            let (grants, missing, variables) = (RequestedGrants::default(), Vec::new(), Vec::new());
            return Ok(Candidate { id, spot, grants, missing, variables, toolbox, start: StartDir::Skill });
        };
        let grants = self.needs(entry, &file, &DeclaredNeeds::default())?.grants;
        self.bind(&mut spot, entry, &file, &grants);
        Ok(Candidate {
            id,
            spot,
            missing: self.missing(entry, &file, &grants),
            variables: self.variables(&grants),
            toolbox: self.toolbox(&file),
            start: injection_start(self.snapshot.root(entry)),
            grants,
        })
    }

    fn with_candidate<T>(
        &self,
        candidate: &Candidate<'_>,
        request: ActivationRequest<'_>,
        answers: &Answers,
        work: impl FnOnce(&ActivationDraft<'_>, &ExecEnv<'_>) -> Result<T, ActivationError>,
    ) -> Result<T, ActivationError> {
        let Candidate { id, spot, grants, missing, variables, toolbox, start } = candidate;
        let supply = Supply { grants, toolbox, limits: Limits::default(), start: *start, answers };
        self.with(spot, supply, |env, context| {
            let setting = ActivationContext {
                snapshot: &self.snapshot,
                id: *id,
                context,
                start: *start,
                missing,
                environment: variables,
                servers: &self.servers,
                dialect: self.surface.dialect(),
            };
            work(&ActivationDraft::open(&setting, request)?, env)
        })
    }

    fn step(
        &self,
        draft: &ActivationDraft<'_>,
        env: &ExecEnv<'_>,
        asking: Asking,
        apart: Apart,
    ) -> Result<Step, ActivationError> {
        let frontmatter = frontmatter(draft.manifest());
        let known = self.conversation.borrow();
        if let Some(again) = draft.again(&known).filter(|_| apart == Apart::No) {
            let activated = ActivationOutcome::Again(Box::new(again));
            return Ok(Step::Done(Box::new(Entered { activated, frontmatter })));
        }
        if asking == Asking::First {
            let questions = draft.questions(env)?;
            if !questions.is_empty() {
                return Ok(Step::Ask(questions));
            }
        }
        let activation = draft.finish(env, self.cancel.as_ref())?;
        Ok(Step::Done(Box::new(Entered {
            activated: ActivationOutcome::Fresh(Box::new(activation)),
            frontmatter,
        })))
    }

    /// Opens the scope.
    fn taken(&self, mut entered: Entered) -> Entered {
        if let ActivationOutcome::Fresh(activation) = &mut entered.activated
            && let ActivationMode::Fork { .. } = activation.way
        {
            // There is no child whose end could be its end.
            activation.scope.end = ScopeEnd::NextUserMessage;
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
    grants: RequestedGrants,
    missing: Vec<MissingRequirement>,
    variables: Vec<Variable>,
    toolbox: Cow<'a, Toolbox>,
    /// Where its commands start.
    start: StartDir<'static>,
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
            Told::Text(text) => SkillArguments::Text(text.clone()),
            Told::List(words) => SkillArguments::List(words.clone()),
        };
        let entered = self.enter(request.id, Invoker::Model, &arguments, Gated::Already);
        let Entered { activated, frontmatter } = entered.map_err(|error| match error {
            NotEntered::NotActivated(error) => error.to_string(),
            NotEntered::Trouble(text) => text,
        })?;
        Ok(match activated {
            ActivationOutcome::Again(again) => {
                InUse { instead: Some(again.note), frontmatter, ..InUse::default() }
            }
            ActivationOutcome::Fresh(activation) => {
                let grave = activation.diagnostics.iter().filter(|found| found.severity() > Severity::Info);
                let said = grave.map(|found| format!("{}: {}", found.code.name(), found.message));
                let notes = said.chain(activation.notes.iter().cloned()).collect();
                let content = activation.content().to_owned();
                InUse { message: activation.text, content, frontmatter, instead: None, notes }
            }
        })
    }
}
