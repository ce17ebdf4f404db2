//! What of a session was begun and not finished.

use crate::output::shortened;
use anyhow::Result;
use metier_store::{Called, Effect, Event, EventKind, EventQuery, SessionId, Store};

/// How much of a step is shown, in characters.
const SHOWN: usize = 160;

/// The steps that were begun and have no end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unfinished {
    steps: Vec<Called>,
}

impl Unfinished {
    /// Looks at a session.
    pub(crate) fn of(store: &Store, session: SessionId) -> Result<Self> {
        Ok(Self::among(&store.events(&EventQuery::of(session).kind("called").kind("finished"))?))
    }

    fn among(events: &[Event]) -> Self {
        let mut steps: Vec<Called> = Vec::new();
        for event in events {
            match &event.kind {
                EventKind::Called(called) => steps.push(called.clone()),
                EventKind::Finished(finished) => steps.retain(|step| step.id != finished.id),
                _ => {}
            }
        }
        Self { steps }
    }

    /// Whether one of them may have changed something: then nobody knows whether it did.
    pub(crate) fn may_have_happened(&self) -> bool {
        self.steps.iter().any(|step| step.effect != Effect::ReadOnly)
    }

    /// A line for each.
    pub(crate) fn in_words(&self) -> Vec<String> {
        let line = |step: &Called| {
            let input = if step.input.is_null() { String::new() } else { step.input.to_string() };
            let what = shortened(format!("{} {input}", step.tool).trim(), SHOWN);
            match step.effect {
                Effect::ReadOnly => {
                    format!("begun and not finished: {what}; it only looks, and is done again")
                }
                _ => format!("begun and not finished: {what}; it may have happened, and is not repeated"),
            }
        };
        self.steps.iter().map(line).collect()
    }
}
