//! Asking the model once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_model::{Answered, Event, Message, ModelError, Request, Stop, ToolCall, next};
use metier_store as store;
use metier_store::{EventKind, StoreError};

use super::{Talk, TalkError};
use crate::halt::Halt;
use crate::history::{Extent, stored};
use crate::session_log::SessionLog;
use crate::watch::{Piece, Watch};

/// What the model said in one turn.
pub(super) struct Said {
    pub(super) message: store::Answered,
    pub(super) calls: Vec<ToolCall>,
    pub(super) stop: Option<Stop>,
}

/// Why there is no answer.
pub(super) enum NotAnswered {
    /// Somebody stopped it; this much of the text had come.
    Halted { partial: String },
    /// The time of the run is up.
    OutOfTime { partial: String },
    /// The model could not.
    Model { error: ModelError, partial: String },
    /// It could not be written down.
    Talk(TalkError),
}

impl From<TalkError> for NotAnswered {
    fn from(error: TalkError) -> Self {
        Self::Talk(error)
    }
}

/// How an answer came.
pub(super) struct Came {
    pub(super) answered: Answered,
    first_byte: Option<Duration>,
    pub(super) end: Result<(), Broken>,
}

pub(super) enum Broken {
    Halted,
    OutOfTime,
    Model(ModelError),
    /// What happened meanwhile could not be written down.
    Unwritten(StoreError),
}

impl Talk {
    /// Asks the model with everything that was said.
    pub(super) fn ask_model(&mut self) -> Result<Said, NotAnswered> {
        let mind = self.choose()?;
        let (turn, request) = self.request()?;
        let began = Instant::now();
        let left = self.time_left();
        let watch = Arc::clone(self.log.watch());
        let listening = listen(&*mind.model, &request, &*watch, &self.log, &self.halt, left);
        let came = self.agent.runtime.block_on(listening);
        let message = came.answered.message();
        let cost =
            came.answered.usage.as_ref().zip(mind.prices).map(|(usage, prices)| prices.cost(usage).micros());
        let usage = came.answered.usage.as_ref().map(usage_of).unwrap_or_default();
        self.kin.family.charge(usage, cost.unwrap_or_default());
        if let Err(broken) = came.end {
            let partial = came.answered.text();
            let cost_micros = cost.unwrap_or_default();
            if !partial.is_empty() || !usage.is_zero() {
                self.write(EventKind::Partial { turn, text: partial.clone(), usage, cost_micros })?;
            }
            return Err(match broken {
                Broken::Halted => NotAnswered::Halted { partial },
                Broken::OutOfTime => NotAnswered::OutOfTime { partial },
                Broken::Model(error) => NotAnswered::Model { error, partial },
                Broken::Unwritten(error) => NotAnswered::Talk(error.into()),
            });
        }
        let parts = match &message {
            Message::Assistant(parts) => parts.iter().filter_map(stored).collect(),
            _ => Vec::new(),
        };
        let message = store::Answered {
            turn,
            parts,
            usage,
            cost_micros: cost,
            stop: came.answered.stop.as_ref().map(stop_word),
            ms: milliseconds(began.elapsed()),
            first_byte_ms: came.first_byte.map(milliseconds),
        };
        self.write(EventKind::Answered(message.clone()))?;
        Ok(Said { message, calls: came.answered.calls(), stop: came.answered.stop })
    }

    /// The next turn's number and request.
    fn request(&self) -> Result<(u64, Request), TalkError> {
        let (turn, extent) = self.state(|state| (state.history.turns() + 1, state.history.extent()));
        let Extent { messages, bytes } = extent;
        let asked = EventKind::Asked {
            turn,
            model: self.choice.mind.model.id().to_string(),
            messages,
            tools: self.frame.tools.len() as u64,
            bytes,
        };
        self.write(asked)?;
        self.log.settle()?;
        let request = Request {
            system: self.frame.system.clone(),
            messages: self.state(|state| state.history.messages().to_vec()),
            tools: Arc::clone(&self.frame.tools),
            choice: self.frame.choice.clone(),
            effort: self.choice.mind.effort,
            ..Request::default()
        };
        Ok((turn, request))
    }
}

/// Listens to an answer until it ends or nobody wants it any more. That the provider is asked again is written down before the
/// wait, so that whoever looks on knows what is waited for.
pub(super) async fn listen(
    model: &dyn metier_model::ChatModel,
    request: &Request,
    watch: &dyn Watch,
    log: &SessionLog,
    halt: &Halt,
    left: Option<Duration>,
) -> Came {
    let began = Instant::now();
    let mut came = Came { answered: Answered::default(), first_byte: None, end: Ok(()) };
    let mut answer = model.ask(request);
    // Years, where nothing limits it: a timer of all time there is would overflow.
    let out_of_time = tokio::time::sleep(left.unwrap_or(Duration::from_hours(24 * 365)));
    tokio::pin!(out_of_time);
    loop {
        let event = tokio::select! {
            biased;
            () = halt.said() => {
                came.end = Err(Broken::Halted);
                return came;
            }
            event = next(&mut answer) => event,
            () = &mut out_of_time => {
                came.end = Err(Broken::OutOfTime);
                return came;
            }
        };
        match event {
            None => return came,
            Some(Err(error)) => {
                came.end = Err(Broken::Model(error));
                return came;
            }
            Some(Ok(event)) => {
                if !matches!(event, Event::Retrying { .. }) {
                    came.first_byte.get_or_insert_with(|| began.elapsed());
                }
                show(&event, watch);
                if let Event::Retrying { attempt, after, why } = &event {
                    let retrying = EventKind::Retrying {
                        // The model names the attempt that comes, the event the one that failed.
                        attempt: attempt.saturating_sub(1).into(),
                        after_ms: milliseconds(*after),
                        why: why.clone(),
                    };
                    if let Err(error) = log.append(retrying) {
                        came.end = Err(Broken::Unwritten(error));
                        return came;
                    }
                }
                came.answered.take(event);
            }
        }
    }
}

fn show(event: &Event, watch: &dyn Watch) {
    match event {
        Event::Text(text) => watch.piece(Piece::Text(text)),
        Event::Reasoning { text, .. } if !text.is_empty() => watch.piece(Piece::Thought(text)),
        Event::CallBegan { name, .. } => watch.piece(Piece::Call(name)),
        _ => {}
    }
}

pub(super) fn usage_of(usage: &metier_model::Usage) -> store::Usage {
    store::Usage {
        input: usage.input,
        output: usage.output,
        cached: usage.cache_read,
        cache_written: usage.cache_write,
    }
}

/// Why an answer ended, in the word that is stored.
fn stop_word(stop: &Stop) -> String {
    match stop {
        Stop::EndOfTurn => "end_of_turn".to_owned(),
        Stop::ToolCalls => "tool_calls".to_owned(),
        Stop::Length => "length".to_owned(),
        Stop::Refused(why) => format!("refused: {why}"),
        Stop::Other(word) => word.clone(),
        _ => "unknown".to_owned(),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
