//! Asks a model: one trait, one stream of events, whoever answers.
//!
//! ```text
//! Request ─► body (openai │ anthropic │ gemini) ─► remote ─► sse ─► decoder ─► speech ─► Event … End
//!            the same bytes for the same history    retry    bytes             one order     └► Answered ─► Message
//! ```
//!
//! - [`ChatModel`] is anything that answers: [`Remote`] behind an address, [`Scripted`] in tests, [`Constrained`] around a model
//!   that was not taught to call tools.
//! - A [`Request`] is a conversation in nobody's dialect. [`Event`]s are what happens while a model answers, in one order
//!   for all protocols; [`Answered`] puts them together to the [`Message`] that the next request has.
//! - A [`Directory`] knows aliases, providers and prices; an [`Endpoint`] where a provider is; a [`Key`] shows itself
//!   nowhere.
//!
//! The three wire formats are our own rather than a client library's. What a library would have to hide is what matters
//! here: the marks that say where a cache may end, the seals on thoughts that must come back as they came, what a provider
//! counts as used, and bytes that stay the same from turn to turn.
//!
//! What holds:
//!
//! - **Nothing is repeated in silence.** A retry is an event, and there is none once a part of an answer was passed on.
//! - **Nothing is lost in silence.** An answer without its end is an error that says how much had come; arguments that are
//!   no JSON stay a call.
//! - **A key goes to its endpoint and nowhere else**: into a header, over TLS or to this machine, after no redirect, and
//!   into no error.
//! - **Dropping an answer ends it**, connection and retries included.
//!
//! What this crate is not: it runs no tools, keeps no history, reads no environment and no files, and knows no prices but
//! those it is given.
//!
//! ```no_run
//! use metier_model::{ChatModel, Endpoint, Event, Key, Message, Protocol, Remote, Request, next};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = Endpoint::new("https://api.openai.com/v1")?.with_key(Key::new("sk-…")?);
//! let model = Remote::new("openai/gpt-x".parse()?, Protocol::OpenAi, endpoint)?;
//! let request = Request { messages: vec![Message::user("Hello.").into()], ..Request::default() };
//! let mut answer = model.ask(&request);
//! while let Some(event) = next(&mut answer).await {
//!     if let Event::Text(text) = event? {
//!         # let _ = &text;
//!         // Show the text as it comes.
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod answered;
mod anthropic;
mod arguments;
mod chat_model;
mod constrained;
mod decoder;
mod directory;
mod endpoint;
mod error;
mod event;
mod gemini;
pub mod http;
mod key;
mod message;
mod model_id;
mod model_list;
mod openai;
pub mod outlet;
mod provider;
mod remote;
mod request;
mod retry;
mod scripted;
mod speech;
pub mod sse;
mod usage;
mod wire;

pub use answered::Answered;
pub use arguments::Arguments;
pub use chat_model::{Answer, ChatModel, next, whole};
pub use constrained::Constrained;
pub use decoder::{DecodeError, Decoder};
pub use directory::{Directory, DirectoryError, ModelChoice};
pub use endpoint::{Endpoint, EndpointError, PlainHttp, Timeouts};
pub use error::{ModelError, Received, Wait};
pub use event::{Event, Stop};
pub use key::{Key, KeyError};
pub use message::{Message, OutcomeStatus, Part, Reasoning, Seal, ToolCall, ToolOutcome};
pub use metier_catalog::{Amount, Effort, ModelConfig, PriceConfig, Protocol, ProviderConfig, ToolSupport};
pub use model_id::{ModelId, ModelIdError};
pub use model_list::list_models;
pub use provider::{Place, Provider, ProviderError};
pub use remote::{Habits, Remote};
pub use request::{DEFAULT_MAX_OUTPUT, Request, Schema, ToolChoice, ToolDefinition};
pub use retry::MAX_WAIT;
pub use scripted::{Scripted, Step, Turn};
pub use usage::{Money, Prices, Usage};
