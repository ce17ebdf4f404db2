//! Answers that were kept, and a model that gives them again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use metier_files::FileDigest;
use serde::{Deserialize, Serialize};

use crate::chat_model::{Answer, next};
use crate::{ChatModel, Event, ModelError, ModelId, Request, outlet};

/// One exchange: a line of a recording.
///
/// It holds a digest of the request, not the request: a recording is kept beside tests, and what was asked may hold a
/// project's text. Keys and headers are no part of a request, and errors have gone through a redactor, so none is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Exchange {
    /// Of the request, in `metier`'s own words: the same for every provider.
    request: String,
    model: ModelId,
    events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ModelError>,
}

/// Asks another model and keeps what it answers.
pub struct Recorder {
    inner: Arc<dyn ChatModel>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Recorder {
    /// Records this model.
    pub fn new(inner: Arc<dyn ChatModel>) -> Self {
        Self { inner, exchanges: Mutex::default() }
    }

    /// What was recorded, one exchange a line, in the order in which they began. An answer that was dropped in the middle
    /// is not among them.
    pub fn lines(&self) -> Result<String, RecordingError> {
        let exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for (index, exchange) in exchanges.iter().enumerate() {
            let line = serde_json::to_string(exchange)
                .map_err(|error| RecordingError { line: index + 1, why: error.to_string() })?;
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }
}

impl ChatModel for Recorder {
    fn id(&self) -> &ModelId {
        self.inner.id()
    }

    fn is_planner(&self) -> bool {
        self.inner.is_planner()
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        outlet::stream(move |outlet| async move {
            let mut exchange = Exchange {
                request: digest(request),
                model: self.id().clone(),
                events: Vec::new(),
                error: None,
            };
            let mut answer = self.inner.ask(request);
            while let Some(item) = next(&mut answer).await {
                match &item {
                    Ok(event) => exchange.events.push(event.clone()),
                    Err(error) => exchange.error = Some(error.clone()),
                }
                let is_last = matches!(item, Ok(Event::End(_)) | Err(_));
                if is_last {
                    let kept = std::mem::take(&mut exchange.events);
                    let kept = Exchange { events: kept, ..exchange.clone() };
                    self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
                }
                outlet.put(item).await;
            }
        })
    }
}

/// Gives recorded answers again: to the same request the same answer, without a network.
#[derive(Debug)]
pub struct Recorded {
    id: ModelId,
    answers: Mutex<BTreeMap<String, VecDeque<Exchange>>>,
}

/// A line is no exchange.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the recording cannot be used: {why}; record it anew")]
pub struct RecordingError {
    line: usize,
    why: String,
}

impl Recorded {
    /// Reads a recording.
    pub fn read(text: &str) -> Result<Self, RecordingError> {
        let mut answers: BTreeMap<String, VecDeque<Exchange>> = BTreeMap::new();
        let mut id = None;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let exchange: Exchange = serde_json::from_str(line)
                .map_err(|error| RecordingError { line: index + 1, why: error.to_string() })?;
            id.get_or_insert_with(|| exchange.model.clone());
            answers.entry(exchange.request.clone()).or_default().push_back(exchange);
        }
        let id = id.unwrap_or_else(|| ModelId::built_in("recorded", "model"));
        Ok(Self { id, answers: Mutex::new(answers) })
    }

    /// The next answer to a request. The last one of several is given from then on.
    fn exchange(&self, request: &Request) -> Option<Exchange> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = answers.get_mut(&digest(request))?;
        if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
    }
}

impl ChatModel for Recorded {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        outlet::stream(move |outlet| async move {
            let Some(exchange) = self.exchange(request) else {
                let why = format!(
                    "the recording has no answer to this request ({}, {} messages); record it anew",
                    digest(request),
                    request.messages.len()
                );
                return outlet.put(Err(ModelError::OffScript { why })).await;
            };
            for event in exchange.events {
                outlet.put(Ok(event)).await;
            }
            if let Some(error) = exchange.error {
                outlet.put(Err(error)).await;
            }
        })
    }
}

/// What a request is known by. A value of ours can always be written; if it could not, no recording would match.
fn digest(request: &Request) -> String {
    serde_json::to_vec(request).map(|bytes| FileDigest::of(&bytes).to_string()).unwrap_or_default()
}
