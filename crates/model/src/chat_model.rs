//! The one thing that every model can do.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;

use crate::{Answered, Event, ModelError, ModelId, Request};

/// Something that answers.
///
/// Asking does nothing until the answer is polled; dropping the answer cancels it, which closes the connection.
pub trait ChatModel: Send + Sync {
    /// Who answers.
    fn id(&self) -> &ModelId;

    /// Asks. After an error nothing more comes.
    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a>;

    /// Whether this is the offline planner and no language model: its answers are complete texts for the user, its refusals
    /// explain themselves, and it cannot summarise.
    fn is_planner(&self) -> bool {
        false
    }
}

/// An answer while it comes.
pub type Answer<'a> = Pin<Box<dyn Stream<Item = Result<Event, ModelError>> + Send + 'a>>;

/// The next event of an answer; `None` when it is over.
pub async fn next(answer: &mut Answer<'_>) -> Option<Result<Event, ModelError>> {
    poll_fn(|context| answer.as_mut().poll_next(context)).await
}

/// The whole of an answer, for whoever does not want to see it come.
pub async fn whole(mut answer: Answer<'_>) -> Result<Answered, ModelError> {
    let mut answered = Answered::default();
    while let Some(event) = next(&mut answer).await {
        answered.take(event?);
    }
    Ok(answered)
}
