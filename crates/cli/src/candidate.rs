//! A skill that is to be activated: what `use` shows and `call` puts into a conversation is made here, so both are the same.

use crate::gatekeeper::Gatekeeper;
use crate::interrupt;
use crate::requirement::unmet_here;
use crate::surroundings::Surroundings;
use crate::workplace::Workplace;
use metier_catalog::{EntryId, Snapshot};
use metier_policy::{Action, Decision, Dialect, McpTools, Need};
use metier_runtime::{
    Activation, Arguments, By, Draft, Missing, NotActivated, Request, Setting, Start, Variable,
    VariableValue, Workbench, injection_start,
};
use metier_sandbox::{Cancel, Limits};

/// A skill, with all that its activation takes.
pub(crate) struct Candidate<'a> {
    snapshot: &'a Snapshot,
    id: EntryId,
    place: &'a Workplace,
    /// Whose rules its fence follows.
    dialect: Dialect,
    environment: Vec<Variable>,
    missing: Vec<Missing>,
}

/// Who asks for it, with what.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) by: By,
    pub(crate) arguments: &'a Arguments,
}

/// Whether questions about its commands are still to be asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    First,
    Over,
}

/// How far an activation came.
pub(crate) enum Step {
    /// Questions about its commands. What is not answered with a yes stays as text.
    Ask(Vec<(Action, Decision)>),
    /// It is made.
    Done(Box<Activation>),
}

impl Asking {
    /// Where somebody can be asked, that comes first.
    pub(crate) fn of(keeper: &Gatekeeper) -> Self {
        if keeper.can_ask() { Self::First } else { Self::Over }
    }
}

impl<'a> Candidate<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        id: EntryId,
        place: &'a Workplace,
        dialect: Dialect,
        surroundings: &Surroundings,
    ) -> Self {
        let missing = snapshot.entry(id).and_then(|entry| {
            let file = snapshot.read(entry).ok()?;
            Some(unmet_here(snapshot, entry, file.manifest()?, surroundings))
        });
        let missing = missing.unwrap_or_default();
        Self { snapshot, id, place, dialect, environment: environment(place), missing }
    }

    /// Reads the file and does something with what would come of it.
    pub(crate) fn with<T>(
        &self,
        asked: Asked<'_>,
        keeper: &Gatekeeper,
        work: impl FnOnce(&Draft<'_>, &Workbench<'_>) -> Result<T, NotActivated>,
    ) -> Result<T, NotActivated> {
        let root = self.snapshot.entry(self.id).map(|entry| self.snapshot.root(entry));
        let start = root.map_or(Start::Skill, injection_start);
        self.place.with(keeper, Limits::default(), |bench, using| {
            let setting = Setting {
                snapshot: self.snapshot,
                id: self.id,
                using,
                start,
                missing: &self.missing,
                environment: &self.environment,
                servers: &McpTools::default(),
                dialect: self.dialect,
            };
            let request = Request { by: asked.by, arguments: asked.arguments };
            work(&Draft::open(&setting, request)?, bench)
        })
    }
}

/// Makes the activation, unless there is something to ask first.
pub(crate) fn step(
    draft: &Draft<'_>,
    bench: &Workbench<'_>,
    asking: Asking,
    cancel: &Cancel,
) -> Result<Step, NotActivated> {
    if asking == Asking::First {
        let questions = draft.questions(bench)?;
        if !questions.is_empty() {
            return Ok(Step::Ask(questions));
        }
    }
    Ok(Step::Done(Box::new(interrupt::during(cancel, || draft.finish(bench, Some(cancel)))?)))
}

/// The variables that a body may name: those that the skill's processes may see, which are secrets and never put into text,
/// then those that the configuration declares.
fn environment(place: &Workplace) -> Vec<Variable> {
    let names = place.needs.wants.needs().into_iter().filter_map(|need| match need {
        Need::Secret(name) => Some(name),
        _ => None,
    });
    let secrets = names.map(|name| Variable { name, value: VariableValue::Sensitive });
    secrets.chain(place.declared.variables().iter().cloned()).collect()
}
