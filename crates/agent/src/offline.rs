//! A model that needs no model: the planner for a machine without one.
//!
//! It is asked by the same loop as every other model, through the same tools, gate and sandbox, and keeps nothing: each answer
//! follows from the messages alone.
//!
//! ```text
//! messages ─► progress ─► guide ─► recipe ─► fill ─► plan ─► a call, or words
//!             how far?    which    what it   with    next
//!                         skill?   runs      what?   step
//! ```
//!
//! What holds:
//!
//! - **It runs one command or none**: the operation of the one skill that fits clearly, with every slot filled.
//! - **A value is a piece of the request.** What is not said, or could be meant in two ways, is not filled in.
//! - **What it does not run it shows**, with the line that runs it.
//! - **No request and no skill is special**: it knows function words, and what the names of slots mean.
//!
//! docs/offline.md is for users.

mod fill;
mod guide;
mod lexicon;
mod plan;
mod positions;
mod progress;
mod recipe;
mod remainder;
mod token;
mod wording;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use metier_model::{
    Answer, ChatModel, Event, Message, ModelError, ModelId, ModelIdError, Request, Seal, Stop, ToolChoice,
};

pub use self::guide::{Candidate, Guide, RouterGuide, Study, Way};
use self::plan::{Hands, Step, next};
use self::progress::progress;

/// The planner: see the module.
pub struct Offline {
    id: ModelId,
    guide: Arc<dyn Guide>,
}

impl Offline {
    /// What it is called.
    pub const ID: &str = "metier/offline";

    /// A planner for the skills that a guide knows.
    pub fn new(guide: Arc<dyn Guide>) -> Result<Self, ModelIdError> {
        Ok(Self { id: Self::ID.parse()?, guide })
    }

    fn answer(&self, request: &Request) -> VecDeque<Event> {
        let hands = if request.choice == ToolChoice::None { Hands::Tied } else { Hands::Free };
        let step = match progress(request) {
            Some(progress) => next(&*self.guide, &progress, hands),
            None => Step::Say { text: String::new(), stop: Stop::EndOfTurn },
        };
        match step {
            Step::Call { tool, arguments } => {
                // By its place in the conversation, so that the same history has the same ids and no two calls share one.
                let turn = request
                    .messages
                    .iter()
                    .filter(|message| matches!(***message, Message::Assistant(_)))
                    .count();
                let began = Event::CallBegan {
                    index: 0,
                    id: format!("offline-{turn}"),
                    name: tool.to_owned(),
                    seal: Seal::Open,
                };
                let fragment = arguments.to_string();
                let end = Event::End(Stop::ToolCalls);
                [began, Event::CallArguments { index: 0, fragment }, Event::CallEnded { index: 0 }, end]
                    .into()
            }
            Step::Say { text, stop } if text.is_empty() => [Event::End(stop)].into(),
            Step::Say { text, stop } => [Event::Text(text), Event::End(stop)].into(),
        }
    }
}

impl ChatModel for Offline {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        Box::pin(Planned { model: self, request, events: None })
    }
}

impl fmt::Debug for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Offline({})", self.id)
    }
}

/// An answer. It is thought of when somebody wants to hear it.
struct Planned<'a> {
    model: &'a Offline,
    request: &'a Request,
    events: Option<VecDeque<Event>>,
}

impl Stream for Planned<'_> {
    type Item = Result<Event, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (model, request) = (self.model, self.request);
        let events = self.events.get_or_insert_with(|| model.answer(request));
        Poll::Ready(events.pop_front().map(Ok))
    }
}
