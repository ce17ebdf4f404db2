//! One turn of the model: a request and its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_model::{Answered, ChatModel, Event, Message, ModelError, Prices, Request, Stop, next};
use metier_store as store;
use metier_store::{EventKind, FailedPart, StoreError};

use super::{Session, SessionError};
use crate::cancel::CancelToken;
use crate::compaction::Depth;
use crate::history::{Extent, stored};
use crate::observer::{Observer, StreamDelta};
use crate::session_log::SessionLog;
use crate::subagent::SharedBudget;

/// How long a request may take if nothing limits it. A timer of all the time there is would overflow.
const UNLIMITED: Duration = Duration::from_hours(24 * 365);

/// A streamed answer.
pub(super) struct Streamed {
    pub(super) answered: Answered,
    first_byte: Option<Duration>,
    pub(super) end: Result<(), StreamEnd>,
}

impl Streamed {
    /// Charges the answer to a budget: what it used, and what that costs.
    pub(super) fn charge(
        &self,
        prices: Option<Prices>,
        budget: &SharedBudget,
    ) -> (store::Usage, Option<u64>) {
        let Some(counted) = &self.answered.usage else { return (store::Usage::default(), None) };
        let usage = store::Usage {
            input: counted.input,
            output: counted.output,
            cached: counted.cache_read,
            cache_written: counted.cache_write,
        };
        let cost = prices.map(|prices| prices.cost(counted).micros());
        budget.charge(usage, cost.unwrap_or_default());
        (usage, cost)
    }
}

/// Why an answer is not complete.
pub(super) enum StreamEnd {
    Cancelled,
    OutOfTime,
    Model(ModelError),
    /// An event could not be stored meanwhile.
    Store(StoreError),
}

impl Session {
    /// Asks the model with the whole conversation. What comes of it is in the state: an answer, a part of one, or a failure.
    pub(super) fn ask_model(&mut self) -> Result<(), SessionError> {
        self.bring_records()?;
        let mut is_shortened = false;
        loop {
            let Err(error) = self.turn()? else { return Ok(()) };
            // The context window may be smaller than configured: the provider knows. Once is enough, since a second refusal has
            // another reason.
            if !is_shortened && error.is_too_long() {
                is_shortened = self.shorten(Depth::Summary, "the provider refused it as too long")?.is_some();
                if is_shortened {
                    continue;
                }
            }
            return self.write(EventKind::Failed { at: FailedPart::Model, message: error.to_string() });
        }
    }

    fn turn(&mut self) -> Result<Result<(), ModelError>, SessionError> {
        let selection = self.select_model()?;
        let (turn, request) = self.request()?;
        let began = Instant::now();
        let left = self.time_left();
        let observer = Arc::clone(self.log.observer());
        let listening = listen(&*selection.model, &request, &*observer, &self.log, &self.cancel, left);
        let streamed = self.agent.runtime.block_on(listening);
        let (usage, cost) = streamed.charge(selection.prices, &self.subagents.budget);
        let Streamed { answered, first_byte, end } = streamed;
        if let Err(end) = end {
            let (text, cost_micros) = (answered.text(), cost.unwrap_or_default());
            if !text.is_empty() || !usage.is_zero() {
                self.write(EventKind::Partial { turn, text, usage, cost_micros })?;
            }
            return match end {
                // The next step sees both.
                StreamEnd::Cancelled | StreamEnd::OutOfTime => Ok(Ok(())),
                StreamEnd::Model(error) => Ok(Err(error)),
                StreamEnd::Store(error) => Err(error.into()),
            };
        }
        let parts = match &answered.message() {
            Message::Assistant(parts) => parts.iter().filter_map(stored).collect(),
            _ => Vec::new(),
        };
        self.write(EventKind::Answered(store::Answered {
            turn,
            parts,
            usage,
            cost_micros: cost,
            stop: answered.stop.as_ref().map(stop_word),
            ms: milliseconds(began.elapsed()),
            first_byte_ms: first_byte.map(milliseconds),
        }))?;
        Ok(Ok(()))
    }

    /// The next turn's number and request.
    fn request(&self) -> Result<(u64, Request), SessionError> {
        let (turn, extent) = self.state(|state| (state.history.turns() + 1, state.history.extent()));
        let Extent { messages, bytes } = extent;
        let model = self.model.selection.model.id().to_string();
        let tools = self.prefix.tools.len() as u64;
        self.write(EventKind::Asked { turn, model, messages, tools, bytes })?;
        self.log.settle()?;
        let request = Request {
            system: self.prefix.system.clone(),
            messages: self.state(|state| state.history.messages().to_vec()),
            tools: Arc::clone(&self.prefix.tools),
            choice: self.prefix.choice.clone(),
            effort: self.model.selection.effort,
            ..Request::default()
        };
        Ok((turn, request))
    }
}

/// Streams an answer until it ends, is cancelled or runs out of time. A retry is written before its wait, so that observers know
/// what the session waits for.
pub(super) async fn listen(
    model: &dyn ChatModel,
    request: &Request,
    observer: &dyn Observer,
    log: &SessionLog,
    cancel: &CancelToken,
    left: Option<Duration>,
) -> Streamed {
    let began = Instant::now();
    let mut streamed = Streamed { answered: Answered::default(), first_byte: None, end: Ok(()) };
    let mut answer = model.ask(request);
    let out_of_time = tokio::time::sleep(left.unwrap_or(UNLIMITED));
    tokio::pin!(out_of_time);
    streamed.end = loop {
        let event = tokio::select! {
            biased;
            () = cancel.cancelled() => break Err(StreamEnd::Cancelled),
            event = next(&mut answer) => event,
            () = &mut out_of_time => break Err(StreamEnd::OutOfTime),
        };
        let event = match event {
            None => break Ok(()),
            Some(Err(error)) => break Err(StreamEnd::Model(error)),
            Some(Ok(event)) => event,
        };
        if let Event::Retrying { attempt, after, why } = &event {
            let retrying = EventKind::Retrying {
                // The model names the next attempt, the event the one that failed.
                attempt: attempt.saturating_sub(1).into(),
                after_ms: milliseconds(*after),
                why: why.clone(),
            };
            if let Err(error) = log.append(retrying) {
                break Err(StreamEnd::Store(error));
            }
        } else {
            streamed.first_byte.get_or_insert_with(|| began.elapsed());
        }
        show(&event, observer);
        streamed.answered.take(event);
    };
    streamed
}

fn show(event: &Event, observer: &dyn Observer) {
    match event {
        Event::Text(text) => observer.delta(StreamDelta::Text(text)),
        Event::Reasoning { text, .. } if !text.is_empty() => observer.delta(StreamDelta::Thought(text)),
        Event::CallBegan { name, .. } => observer.delta(StreamDelta::Call(name)),
        _ => {}
    }
}

/// Why an answer ended, in the word that is stored.
fn stop_word(stop: &Stop) -> String {
    match stop {
        Stop::EndOfTurn => "end_of_turn".to_owned(),
        Stop::ToolCalls => "tool_calls".to_owned(),
        Stop::Length => "length".to_owned(),
        Stop::Refused(why) => format!("refused: {why}"),
        Stop::Failed => "failed".to_owned(),
        Stop::Other(word) => word.clone(),
        _ => "unknown".to_owned(),
    }
}

/// Why an answer ended, from the stored word.
pub(super) fn stop_of(word: &str) -> Stop {
    match word {
        "end_of_turn" => Stop::EndOfTurn,
        "tool_calls" => Stop::ToolCalls,
        "length" => Stop::Length,
        "failed" => Stop::Failed,
        other => match other.strip_prefix("refused: ") {
            Some(why) => Stop::Refused(why.to_owned()),
            None => Stop::Other(other.to_owned()),
        },
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
