//! A model behind an address.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

use metier_secret::Redactor;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use tokio::time::{Instant, timeout, timeout_at};

use crate::chat_model::Answer;
use crate::endpoint::{Endpoint, EndpointError};
use crate::outlet::{self, Outlet};
use crate::sse::MAX_EVENT;
use crate::wire::{self, complaint, retry_delay};
use crate::{
    ChatModel, DecodeError, Decoder, Effort, Event, ModelError, ModelId, Protocol, Received, Request, Wait,
    http, retry,
};

/// How much of an answer that is a fault is read: an object with a sentence in it, or a page of a proxy.
const MAX_COMPLAINT: usize = 64 << 10;

/// How much of what a provider says is passed on. Its sentence fits; a page does not.
const MAX_WORDS: usize = 600;

/// How long a connection is held for its last bytes behind the end of an answer. They mostly came with the end; having
/// read them, the connection can carry the next request.
const LINGER: Duration = Duration::from_millis(10);

/// A model behind an address, in one of the protocols.
pub struct Remote {
    id: ModelId,
    protocol: Protocol,
    endpoint: Endpoint,
    client: reqwest::Client,
    url: reqwest::Url,
    headers: HeaderMap,
    redactor: Redactor,
    habits: Habits,
}

/// What holds for a model where a request says nothing of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// How many tokens it may write in one answer; a request may ask for fewer, not for more.
    pub max_output: Option<u32>,
    /// How much it thinks.
    pub effort: Option<Effort>,
}

impl Habits {
    /// The request with them; itself where they add nothing, since a copy of a long history is not free.
    fn with<'a>(&self, request: &'a Request) -> Cow<'a, Request> {
        let max_output = match (request.max_output, self.max_output) {
            (Some(wanted), Some(most)) => Some(wanted.min(most)),
            (wanted, most) => wanted.or(most),
        };
        let effort = request.effort.or(self.effort);
        if (max_output, effort) == (request.max_output, request.effort) {
            return Cow::Borrowed(request);
        }
        Cow::Owned(Request { max_output, effort, ..request.clone() })
    }
}

impl Remote {
    /// The model of this name there. Nothing is sent before somebody asks.
    pub fn new(id: ModelId, protocol: Protocol, endpoint: Endpoint) -> Result<Self, EndpointError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, reqwest::header::HeaderValue::from_static("application/json"));
        for (name, value) in wire::fixed_headers(protocol) {
            headers.insert(*name, reqwest::header::HeaderValue::from_static(value));
        }
        for (name, value) in endpoint.secret_headers(wire::key_header(protocol))? {
            headers.insert(name, value);
        }
        Ok(Self {
            client: http::client(&endpoint)?,
            url: endpoint.url(&wire::path(protocol, id.model()))?,
            redactor: endpoint.redactor()?,
            habits: Habits::default(),
            headers,
            id,
            protocol,
            endpoint,
        })
    }

    /// With habits of its own.
    #[must_use]
    pub fn with_habits(mut self, habits: Habits) -> Self {
        self.habits = habits;
        self
    }

    /// The bytes that asking this would send, for whoever measures or compares them.
    pub fn body(&self, request: &Request) -> Result<Vec<u8>, ModelError> {
        wire::body(self.protocol, &self.id, &self.habits.with(request))
    }

    async fn answer(&self, request: &Request, outlet: &Outlet<Result<Event, ModelError>>) {
        let built = self.body(request).and_then(|body| {
            let built = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body).build();
            built.map_err(|error| ModelError::Unsendable { why: http::cause(error) })
        });
        let built = match built {
            Ok(built) => built,
            Err(error) => return outlet.put(Err(error)).await,
        };
        let mut attempt = 1;
        loop {
            let Some(again) = built.try_clone() else { return };
            let Err(error) = self.attempt(again, Decoder::new(self.protocol, request.turn()), outlet).await
            else {
                return;
            };
            let Some(after) = retry::wait(attempt, &error) else { return outlet.put(Err(error)).await };
            attempt += 1;
            outlet.put(Ok(Event::Retrying { attempt, after, why: error.to_string() })).await;
            tokio::time::sleep(after).await;
        }
    }

    /// Asks once. An error here was not passed on yet, the events before it were.
    async fn attempt(
        &self,
        request: reqwest::Request,
        decoder: Decoder,
        outlet: &Outlet<Result<Event, ModelError>>,
    ) -> Result<(), ModelError> {
        let first_byte = self.endpoint.timeouts().first_byte;
        let mut reading = Reading {
            remote: self,
            outlet,
            deadline: later(first_byte),
            received: Received::default(),
            decoder,
            events: Vec::new(),
        };
        let response = match timeout_at(reading.deadline, self.client.execute(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_connect() => {
                let (host, is_untrusted) = (self.endpoint.host(), http::is_certificate(&error));
                let why = self.clean(&http::cause(error));
                return Err(if is_untrusted {
                    ModelError::Untrusted { host, why }
                } else {
                    ModelError::Unreachable { host, why }
                });
            }
            Ok(Err(error)) => {
                return Err(ModelError::CutOff {
                    why: self.clean(&http::cause(error)),
                    received: reading.received,
                });
            }
            Err(_) => return Err(reading.stalled()),
        };
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let kind = header(response.headers(), &CONTENT_TYPE).unwrap_or("text/event-stream");
        match kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase().as_str() {
            "text/event-stream" => reading.stream(response).await,
            // Servers that do not stream, and faults that pretend to be answers.
            "application/json" => reading.whole(response).await,
            _ => {
                let content_type = cut(kind, 80);
                let beginning = self.clean(&self.text(response).await);
                Err(ModelError::NotAStream { content_type, beginning: cut(&beginning, 200) })
            }
        }
    }

    /// An answer whose status is no success, as an error.
    async fn refused(&self, response: Response) -> ModelError {
        let status = response.status().as_u16();
        let headers = response.headers();
        if response.status().is_redirection() {
            let to = header(headers, &LOCATION).unwrap_or("nowhere");
            let message = format!(
                "it redirects to `{to}`, and keys go nowhere but to the configured address; put the new address there"
            );
            return ModelError::Refused { status, message: self.clean(&message) };
        }
        let retry_after = header(headers, &RETRY_AFTER)
            .and_then(|value| retry::retry_after(value, header(headers, &DATE), SystemTime::now()));
        let text = self.text(response).await;
        let value = serde_json::from_str(&text).ok();
        let retry_after = retry_after
            .or_else(|| retry::retry_after(value.as_ref().and_then(retry_delay)?, None, SystemTime::now()));
        let told = value.as_ref().and_then(complaint);
        let message = told
            .unwrap_or_else(|| if text.trim().is_empty() { "it gave no reason".to_owned() } else { text });
        self.fault(status, &message, retry_after)
    }

    fn fault(&self, status: u16, message: &str, retry_after: Option<Duration>) -> ModelError {
        let message = self.clean(message);
        match status {
            429 | 500..=599 => ModelError::Busy { status, message, retry_after },
            _ => ModelError::Refused { status, message },
        }
    }

    /// The beginning of a body, as far as it is worth reading and comes in time, without secrets. Where it breaks off, what
    /// may be the beginning of a secret stays behind.
    async fn text(&self, mut response: Response) -> String {
        let (mut redacted, mut bytes, mut read) = (self.redactor.stream(), Vec::new(), 0);
        while read < MAX_COMPLAINT {
            match timeout(self.endpoint.timeouts().between_bytes, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    read += chunk.len();
                    bytes.extend_from_slice(&redacted.push(&chunk));
                }
                Ok(Ok(None)) => {
                    bytes.extend(redacted.finish());
                    break;
                }
                _ => break,
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A stranger's words: without secrets first, then cut. The other way round half a key could stay.
    fn clean(&self, text: &str) -> String {
        cut(self.redactor.text(text).trim(), MAX_WORDS)
    }
}

impl ChatModel for Remote {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        outlet::stream(move |outlet| async move { self.answer(request, &outlet).await })
    }
}

impl fmt::Debug for Remote {
    /// Not the client, which knows the proxy and its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("id", &self.id)
            .field("protocol", &self.protocol)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// One answer while it is read.
struct Reading<'a> {
    remote: &'a Remote,
    outlet: &'a Outlet<Result<Event, ModelError>>,
    /// Until when the next byte must come.
    deadline: Instant,
    received: Received,
    decoder: Decoder,
    events: Vec<Event>,
}

impl Reading<'_> {
    /// A stream of events.
    async fn stream(&mut self, mut response: Response) -> Result<(), ModelError> {
        while let Some(chunk) = self.chunk(&mut response).await? {
            let pushed = self.decoder.push(chunk.as_ref(), &mut self.events);
            self.pass_on(pushed).await?;
            if self.decoder.is_over() {
                drop(timeout(LINGER, response.chunk()).await);
                return Ok(());
            }
        }
        let finished = self.decoder.finish(&mut self.events);
        self.pass_on(finished).await?;
        self.close()
    }

    /// An answer in one piece.
    async fn whole(&mut self, mut response: Response) -> Result<(), ModelError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk(&mut response).await? {
            bytes.extend_from_slice(chunk.as_ref());
            if bytes.len() > MAX_EVENT {
                return Err(self.garbled(&format!("the answer has more than {MAX_EVENT} bytes")));
            }
        }
        let data = String::from_utf8(bytes).map_err(|_| self.garbled("the answer is not UTF-8"))?;
        let read = self.decoder.whole(data, &mut self.events);
        self.pass_on(read).await?;
        self.close()
    }

    /// The next bytes; `None` at the end. An answer that has said why it ends is whole, however its connection ends.
    async fn chunk(
        &mut self,
        response: &mut Response,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, ModelError> {
        let polled = timeout_at(self.deadline, response.chunk()).await;
        match polled {
            Ok(Ok(Some(chunk))) => {
                self.deadline = later(self.remote.endpoint.timeouts().between_bytes);
                self.received.bytes += chunk.len() as u64;
                Ok(Some(chunk))
            }
            Ok(Ok(None)) => Ok(None),
            Ok(Err(_)) | Err(_) if self.decoder.has_stop() => Ok(None),
            Ok(Err(error)) => Err(self.cut_off(&http::cause(error))),
            Err(_) => Err(self.stalled()),
        }
    }

    /// Passes on what was found, and then says what was wrong.
    async fn pass_on(&mut self, read: Result<(), DecodeError>) -> Result<(), ModelError> {
        for event in self.events.drain(..) {
            self.received.events += 1;
            self.outlet.put(Ok(event)).await;
        }
        read.map_err(|error| match error {
            DecodeError::Garbled(why) => self.garbled(&why),
            DecodeError::Told { status, message } if self.received.events == 0 => {
                self.remote.fault(status, &message, None)
            }
            DecodeError::Told { message, .. } => self.cut_off(&message),
        })
    }

    fn close(&self) -> Result<(), ModelError> {
        if self.decoder.is_over() { Ok(()) } else { Err(self.cut_off("the server closed it")) }
    }

    fn cut_off(&self, why: &str) -> ModelError {
        ModelError::CutOff { why: self.remote.clean(why), received: self.received }
    }

    fn garbled(&self, why: &str) -> ModelError {
        ModelError::Garbled { why: self.remote.clean(why), received: self.received }
    }

    fn stalled(&self) -> ModelError {
        let timeouts = self.remote.endpoint.timeouts();
        let (wait, after) = match self.received.bytes {
            0 => (Wait::FirstByte, timeouts.first_byte),
            _ => (Wait::NextByte, timeouts.between_bytes),
        };
        ModelError::Stalled { wait, after, received: self.received }
    }
}

/// So long from now. A time that no clock can show is as good as a day: nobody waits longer for a byte.
fn later(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now + Duration::from_hours(24))
}

fn header<'a>(headers: &'a HeaderMap, name: &reqwest::header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// At most so many characters, and whether there were more.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
