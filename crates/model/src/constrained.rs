//! Tools for models that were not taught to call them: the same tools as the shape of an answer.

mod reply;
mod rewrite;

use std::sync::Arc;

use crate::chat_model::{Answer, next};
use crate::outlet::{self, Outlet};
use crate::speech::Speech;
use crate::{ChatModel, Event, ModelError, ModelId, Request};
use reply::Reply;

/// A model that calls tools by answers whose shape is prescribed: `{"tool": …, "arguments": …}` or `{"answer": …}`.
///
/// Whoever asks sees the same events as from any other model. One answer holds one call. Text streams as soon as it is
/// surely the answer's text.
pub struct Constrained {
    inner: Arc<dyn ChatModel>,
}

impl Constrained {
    /// Gives this model tools. It needs to keep to a JSON schema, which servers of local models do by a grammar.
    pub fn new(inner: Arc<dyn ChatModel>) -> Self {
        Self { inner }
    }

    async fn answer(&self, request: &Request, outlet: &Outlet<Result<Event, ModelError>>) {
        let constrained = rewrite::request(request);
        let mut answer = self.inner.ask(&constrained);
        let mut speech = Speech::new(request.turn());
        // Without tools there is nothing to tell apart.
        let mut reply = if request.tools.is_empty() { Reply::plain() } else { Reply::default() };
        while let Some(item) = next(&mut answer).await {
            match item {
                Ok(Event::Text(text)) => reply.push(&text, &mut speech),
                Ok(Event::Reasoning { text, seal }) => speech.reasoning(&text, seal),
                Ok(Event::Usage(usage)) => speech.usage(usage),
                Ok(Event::End(stop)) => {
                    reply.finish(&mut speech);
                    speech.stop(stop);
                    speech.end();
                }
                // A model that calls all the same is understood, and what is retried is said.
                Ok(Event::CallBegan { id, name, seal, .. }) => {
                    speech.begin_call(&id, &name, seal);
                }
                Ok(Event::CallArguments { index, fragment }) => speech.arguments(index, &fragment),
                Ok(Event::CallEnded { .. }) => {}
                Ok(event @ Event::Retrying { .. }) => outlet.put(Ok(event)).await,
                Err(error) => return outlet.put(Err(error)).await,
            }
            for event in speech.drain() {
                outlet.put(Ok(event)).await;
            }
        }
    }
}

impl ChatModel for Constrained {
    fn id(&self) -> &ModelId {
        self.inner.id()
    }

    fn is_planner(&self) -> bool {
        self.inner.is_planner()
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        outlet::stream(move |outlet| async move { self.answer(request, &outlet).await })
    }
}
