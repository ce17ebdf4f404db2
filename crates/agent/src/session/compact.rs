//! Keeps a conversation within the context window of its model.

use metier_store::{EventKind, Usage};

use super::model_turn::{StreamEnd, listen};
use super::{Session, SessionError};
use crate::compaction::summary::{self, MAX_SUMMARY};
use crate::compaction::{Depth, Measure, Plan, Target};
use crate::history::History;
use crate::models::ModelSelection;
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

/// What stands for the messages that are cut, and what it took.
#[derive(Default)]
struct Summary {
    text: Option<String>,
    /// Why no model made it, if none did.
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
        let summary = if cut > 0 { self.summary(&history, cut, target) } else { Some(Summary::default()) };
        let Some(Summary { text, why_plain, usage, cost_micros }) = summary else { return Ok(None) };
        let messages = plan.stored(&history, text);
        let through = self.state(|state| state.seq);
        self.write(EventKind::Compacted { through, messages, why: why.to_owned(), usage, cost_micros })?;
        // A skill whose text was cut is activated with its text again.
        self.skills.forget_ended_texts();
        let bytes = self.state(|state| state.history.extent().bytes);
        Ok(Some(Shortened { before, after: measure.tokens(bytes), cleared, cut, no_summary: why_plain }))
    }

    /// A summary of the first messages; `None` if it was cancelled meanwhile.
    fn summary(&self, history: &History, cut: usize, target: Target) -> Option<Summary> {
        let mut summary = Summary::default();
        let ModelSelection { model, prices, effort } = &self.model.selection;
        let why = if model.is_planner() {
            "there is no model".to_owned()
        } else {
            // Half of what the model can take: the other half is for its answer and for what an estimate is wrong by.
            let request = summary::request(history, cut, target.room, *effort);
            let listening =
                listen(&**model, &request, &NoObserver, &self.log, &self.cancel, self.time_left());
            let streamed = self.agent.runtime.block_on(listening);
            let (usage, cost) = streamed.charge(*prices, &self.subagents.budget);
            (summary.usage, summary.cost_micros) = (usage, cost.unwrap_or_default());
            match (streamed.end, streamed.answered.text().trim()) {
                (Ok(()), "") => "the model gave no summary".to_owned(),
                (Ok(()), text) => {
                    summary.text = Some(summary::told(text, cut, target.reserve));
                    return Some(summary);
                }
                (Err(StreamEnd::Cancelled | StreamEnd::OutOfTime), _) => return None,
                (Err(StreamEnd::Model(error)), _) => format!("the model gave no summary: {error}"),
                (Err(StreamEnd::Store(error)), _) => format!("cannot store events: {error}"),
            }
        };
        (summary.text, summary.why_plain) = (Some(summary::plain(history, cut, target.reserve)), Some(why));
        Some(summary)
    }
}
