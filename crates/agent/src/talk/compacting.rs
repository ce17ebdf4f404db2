//! Keeping a conversation within what its model can hold in mind.

use std::sync::Arc;

use metier_model::{ModelError, Request};
use metier_store::{EventKind, Usage};

use super::asking::{Broken, listen, usage_of};
use super::{Talk, TalkError};
use crate::bridge::lock;
use crate::compaction::summary::{self, MOST_SUMMARY};
use crate::compaction::{Depth, Measure, Plan, Target, is_due};
use crate::history::History;
use crate::offline::Offline;
use crate::watch::Unwatched;

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
    /// Why there is no summary of them, where there is none.
    pub no_summary: Option<String>,
}

/// What a provider says when a request is more than its model takes.
const TOO_LONG: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "exceeds the available context",
];

/// Whether the provider refused a request because it is too long.
pub(super) fn is_too_long(error: &ModelError) -> bool {
    let ModelError::Refused { status, message } = error else { return false };
    let message = message.to_ascii_lowercase();
    *status == 413 || TOO_LONG.iter().any(|words| message.contains(words))
}

/// A summary, and what it took.
struct Made {
    text: String,
    why_plain: Option<String>,
    usage: Usage,
    cost_micros: u64,
}

impl Talk {
    /// Makes the conversation shorter because somebody wants it: what is before the last messages becomes a summary. `None` where
    /// there is too little to be made shorter, or calls have no results yet.
    pub fn compact(&mut self) -> Result<Option<Shortened>, TalkError> {
        self.recall()?;
        let shortened = self.shorten(Depth::Summary, "the user asked for it")?;
        self.log.settle()?;
        Ok(shortened)
    }

    /// How many tokens the next request has, as far as that can be known, and how many the model can hold in mind.
    pub fn fill(&self) -> (u64, u64) {
        let bytes = self.state(|state| state.history.extent().bytes);
        (self.measure().tokens(bytes), self.agent.compaction.window())
    }

    /// Makes room before the model is asked, where there is too little.
    pub(super) fn make_room(&mut self) -> Result<(), TalkError> {
        let measure = self.measure();
        let compaction = self.agent.compaction;
        if self.state(|state| is_due(&state.history, &measure, &compaction)) {
            self.shorten(Depth::AsNeeded, "the conversation nears what its model can hold in mind")?;
        }
        Ok(())
    }

    /// Makes room because the provider says that there is none. Says whether anything was found to leave out.
    pub(super) fn make_more_room(&mut self) -> Result<bool, TalkError> {
        Ok(self.shorten(Depth::Summary, "the provider refused it as too long")?.is_some())
    }

    fn measure(&self) -> Measure {
        Measure::new(self.frame.bytes(), self.state(|state| state.history.measured()))
    }

    fn shorten(&mut self, depth: Depth, why: &str) -> Result<Option<Shortened>, TalkError> {
        let measure = self.measure();
        let room = measure.room(self.agent.compaction.goal());
        let target = Target { room, reserve: MOST_SUMMARY.min(room / 6), depth };
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
        // What was cut away is brought again when it is wanted again.
        lock(&self.session).forget_ended_texts();
        let bytes = self.state(|state| state.history.extent().bytes);
        Ok(Some(Shortened { before, after: measure.tokens(bytes), cleared, cut, no_summary: why_plain }))
    }

    /// A summary of the first messages; `None` where somebody stopped it meanwhile.
    fn summary(&self, history: &History, cut: usize, target: Target) -> Option<Made> {
        let most = target.reserve;
        let mut usage = Usage::default();
        let mut cost_micros = 0;
        let why = if self.choice.mind.model.id().to_string() == Offline::ID {
            "there is no model".to_owned()
        } else {
            // Half of what the model can take: the other half is for its answer and for what an estimate is wrong by.
            let request = summary::request(history, cut, target.room, self.choice.mind.effort);
            let answer = self.asked_beside(&request);
            (usage, cost_micros) = (answer.usage, answer.cost_micros);
            self.kin.family.charge(usage, cost_micros);
            match answer.text {
                Ok(text) if !text.trim().is_empty() => {
                    let text = summary::told(text.trim(), cut, most);
                    return Some(Made { text, why_plain: None, usage, cost_micros });
                }
                Ok(_) => "the model gave no summary".to_owned(),
                Err(Broken::Halted | Broken::OutOfTime) => return None,
                Err(Broken::Model(error)) => format!("the model gave no summary: {error}"),
                Err(Broken::Unwritten(error)) => format!("nothing can be written down: {error}"),
            }
        };
        let text = summary::plain(history, cut, most);
        Some(Made { text, why_plain: Some(why), usage, cost_micros })
    }

    /// Asks the model something that is no part of the conversation.
    fn asked_beside(&self, request: &Request) -> Beside {
        let left = self.time_left();
        let model = Arc::clone(&self.choice.mind.model);
        let listening = listen(&*model, request, &Unwatched, &self.log, &self.halt, left);
        let came = self.agent.runtime.block_on(listening);
        let counted = came.answered.usage.as_ref();
        let cost =
            counted.zip(self.choice.mind.prices.as_ref()).map(|(usage, prices)| prices.cost(usage).micros());
        Beside {
            usage: counted.map(usage_of).unwrap_or_default(),
            cost_micros: cost.unwrap_or_default(),
            text: came.end.map(|()| came.answered.text()),
        }
    }
}

/// An answer that is no part of the conversation.
struct Beside {
    text: Result<String, Broken>,
    usage: Usage,
    cost_micros: u64,
}
