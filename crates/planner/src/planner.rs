//! The planner as a model.

use std::sync::Arc;

use metier_model::{
    Answer, ChatModel, Event, Message, ModelId, ModelIdError, Request, Seal, Stop, ToolChoice, outlet,
};

use crate::plan::{Step, ToolUse, next};
use crate::prepared::PreparedCache;
use crate::progress::progress;
use crate::router::SkillRouter;

/// The planner: see the crate.
pub struct OfflinePlanner {
    id: ModelId,
    router: Arc<dyn SkillRouter>,
    prepared: PreparedCache,
}

impl OfflinePlanner {
    /// The id that its answers are recorded under.
    pub const ID: &str = "metier/offline";

    /// A planner for the skills of a router.
    pub fn new(router: Arc<dyn SkillRouter>) -> Result<Self, ModelIdError> {
        Ok(Self { id: Self::ID.parse()?, router, prepared: PreparedCache::default() })
    }

    fn answer(&self, request: &Request) -> Vec<Event> {
        let tool_use = if request.choice == ToolChoice::None { ToolUse::Forbidden } else { ToolUse::Allowed };
        let step = match progress(request) {
            Some(progress) => next(&*self.router, &self.prepared, &progress, tool_use),
            None => Step::Answer { text: String::new(), stop: Stop::EndOfTurn },
        };
        match step {
            Step::Call { tool, arguments } => {
                // By the number of answers before it: the same history has the same ids, and no two calls share one.
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
            Step::Answer { text, stop } if text.is_empty() => [Event::End(stop)].into(),
            Step::Answer { text, stop } => [Event::Text(text), Event::End(stop)].into(),
        }
    }
}

impl ChatModel for OfflinePlanner {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        outlet::stream(move |outlet| async move {
            for event in self.answer(request) {
                outlet.put(Ok(event)).await;
            }
        })
    }

    fn is_planner(&self) -> bool {
        true
    }
}
