//! Keeps a conversation within the context window of its model.

use std::sync::Arc;

use metier_model::Request;
use metier_store::{EventKind, Usage};

use super::model_turn::{StreamEnd, listen, usage_of};
use super::{Session, SessionError};
use crate::compaction::summary::{self, MAX_SUMMARY};
use crate::compaction::{Depth, Measure, Plan, Target};
use crate::history::History;
use crate::observer::NoObserver;

/// What came of making a conversation shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// Tokens of the next request before, as far as they can be known.
    pub before: u64,
    /// And after.
    pub after: u64,
    /// How many outputs of tools were cleared.
    pub cleared: usize,
    /// How many messages were cut away.
    pub cut: usize,
    /// Why they have no summary, if they have none.
    pub no_summary: Option<String>,
}

/// A summary, and what it took.
struct Made {
    text: String,
    why_plain: Option<String>,
    usage: Usage,
    cost_micros: u64,
}

impl Session {
    /// Shortens the conversation for the user: what precedes the last messages becomes a summary. `None` if there is too little to
    /// shorten, or calls have no results yet.
    pub fn compact(&mut self) -> Result<Option<Shortened>, SessionError> {
        self.load()?;
        let shortened = self.shorten(Depth::Summary, "the user asked for it")?;
        self.log.settle()?;
        Ok(shortened)
    }

    /// The estimated tokens of the next request, and the context window.
    pub fn fill(&self) -> (u64, u64) {
        let bytes = self.state(|state| state.history.extent().bytes);
        (self.measure().tokens(bytes), self.agent.compaction.window())
    }

    pub(super) fn measure(&self) -> Measure {
        Measure::new(self.prefix.bytes(), self.state(|state| state.history.measured()))
    }

    /// Shortens the conversation. `None` if nothing can be left out.
    pub(super) fn shorten(&mut self, depth: Depth, why: &str) -> Result<Option<Shortened>, SessionError> {
        let measure = self.measure();
        let room = measure.room(self.agent.compaction.goal());
        let target = Target { room, reserve: MAX_SUMMARY.min(room / 6), depth };
        // Messages are shared, so that the copy is cheap; the log is not locked while a model makes the summary.
        let history = self.state(|state| state.history.clone());
        if history.unfinished().next().is_some() {
            return Ok(None);
        }
        let Some(plan) = Plan::new(&history, target) else { return Ok(None) };
        let before = measure.tokens(history.extent().bytes);
        let (cut, cleared) = (plan.cut, plan.cleared);
        let made = if cut > 0 {
            let Some(made) = self.summary(&history, cut, target) else { return Ok(None) };
            Some(made)
        } else {
            None
        };
        let (text, why_plain, usage, cost_micros) = match made {
            Some(made) => (Some(made.text), made.why_plain, made.usage, made.cost_micros),
            None => (None, None, Usage::default(), 0),
        };
        let messages = plan.stored(&history, text);
        let through = self.state(|state| state.seq);
        self.write(EventKind::Compacted { through, messages, why: why.to_owned(), usage, cost_micros })?;
        // A skill whose text was cut is activated with its text again.
        self.skills.forget_ended_texts();
        let bytes = self.state(|state| state.history.extent().bytes);
        Ok(Some(Shortened { before, after: measure.tokens(bytes), cleared, cut, no_summary: why_plain }))
    }

    /// A summary of the first messages; `None` if it was cancelled meanwhile.
    fn summary(&self, history: &History, cut: usize, target: Target) -> Option<Made> {
        let most = target.reserve;
        let mut usage = Usage::default();
        let mut cost_micros = 0;
        let why = if self.model.selection.model.is_planner() {
            "there is no model".to_owned()
        } else {
            // Half of what the model can take: the other half is for its answer and for what an estimate is wrong by.
            let request = summary::request(history, cut, target.room, self.model.selection.effort);
            let answer = self.asked_beside(&request);
            (usage, cost_micros) = (answer.usage, answer.cost_micros);
            self.subagents.budget.charge(usage, cost_micros);
            match answer.text {
                Ok(text) if !text.trim().is_empty() => {
                    let text = summary::told(text.trim(), cut, most);
                    return Some(Made { text, why_plain: None, usage, cost_micros });
                }
                Ok(_) => "the model gave no summary".to_owned(),
                Err(StreamEnd::Cancelled | StreamEnd::OutOfTime) => return None,
                Err(StreamEnd::Model(error)) => format!("the model gave no summary: {error}"),
                Err(StreamEnd::Store(error)) => format!("cannot store events: {error}"),
            }
        };
        let text = summary::plain(history, cut, most);
        Some(Made { text, why_plain: Some(why), usage, cost_micros })
    }

    /// Asks the model something that is no part of the conversation.
    fn asked_beside(&self, request: &Request) -> Beside {
        let left = self.time_left();
        let model = Arc::clone(&self.model.selection.model);
        let listening = listen(&*model, request, &NoObserver, &self.log, &self.cancel, left);
        let streamed = self.agent.runtime.block_on(listening);
        let counted = streamed.answered.usage.as_ref();
        let cost = counted
            .zip(self.model.selection.prices.as_ref())
            .map(|(usage, prices)| prices.cost(usage).micros());
        Beside {
            usage: counted.map(usage_of).unwrap_or_default(),
            cost_micros: cost.unwrap_or_default(),
            text: streamed.end.map(|()| streamed.answered.text()),
        }
    }
}

/// An answer that is no part of the conversation.
struct Beside {
    text: Result<String, StreamEnd>,
    usage: Usage,
    cost_micros: u64,
}
