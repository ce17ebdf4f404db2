//! Why there is no answer, or no whole one.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why there is no answer, or no whole one. None of them holds a key or a given header: what a provider wrote goes
/// through a redactor first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelError {
    /// The provider cannot be reached.
    #[error("`{host}` cannot be reached: {why}; look at the address and the network, or start the server")]
    Unreachable {
        /// Its host and port.
        host: String,
        /// What the system says.
        why: String,
    },
    /// The provider's certificate is not valid. It does not become so by itself.
    #[error("`{host}` was not asked, since its certificate is not valid here: {why}")]
    Untrusted {
        /// Its host and port.
        host: String,
        /// What is wrong with the certificate.
        why: String,
    },
    /// The provider has too much to do, or a fault of its own.
    #[error("the provider could not answer ({status}): {message}{}", later(*.retry_after))]
    Busy {
        /// The status of HTTP; 200 when it began to answer first.
        status: u16,
        /// What it says.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The provider does not take the request.
    #[error("the provider refused the request ({status}): {message}{}", advice(*.status))]
    Refused {
        /// The status of HTTP; 200 when it began to answer first.
        status: u16,
        /// What it says.
        message: String,
    },
    /// Nothing came for too long.
    #[error("nothing came for {} s {wait}; {received}", .after.as_secs_f32())]
    Stalled {
        /// What was waited for.
        wait: Wait,
        /// How long.
        after: Duration,
        /// What had come.
        received: Received,
    },
    /// The connection ended before the answer did.
    #[error("the connection was cut before the answer ended: {why}; {received}")]
    CutOff {
        /// What the system says.
        why: String,
        /// What had come.
        received: Received,
    },
    /// What came is no stream of events: a page of a proxy, say.
    #[error("the answer is `{content_type}`, not a stream of events; it begins with: {beginning}")]
    NotAStream {
        /// What it says it is.
        content_type: String,
        /// Its first characters.
        beginning: String,
    },
    /// What came is not what the protocol says.
    #[error("the answer breaks its protocol: {why}; {received}")]
    Garbled {
        /// In which way.
        why: String,
        /// What had come.
        received: Received,
    },
    /// The request cannot be sent as it is.
    #[error("the request cannot be sent: {why}")]
    Unsendable {
        /// Why.
        why: String,
    },
    /// A scripted model was asked something that it has no answer for.
    #[error("{why}")]
    OffScript {
        /// What was missing.
        why: String,
    },
}

/// How providers say that a request is longer than the model's context window. There is no common code for it: most send 400 and
/// a sentence.
const TOO_LONG: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "exceeds the available context",
];

impl ModelError {
    /// Whether the provider refused the request because it is longer than the context window.
    pub fn is_too_long(&self) -> bool {
        let Self::Refused { status, message } = self else { return false };
        let message = message.to_ascii_lowercase();
        *status == 413 || TOO_LONG.iter().any(|words| message.contains(words))
    }
}

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// The first byte of the answer.
    FirstByte,
    /// The next one.
    NextByte,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstByte => "after the question",
            Self::NextByte => "in the middle of the answer",
        })
    }
}

/// How much of an answer had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Bytes of the body.
    pub bytes: u64,
    /// Events that were passed on.
    pub events: u64,
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bytes, self.events) {
            (0, _) => f.write_str("nothing had come"),
            (bytes, 1) => write!(f, "{bytes} bytes with 1 event had come"),
            (bytes, events) => write!(f, "{bytes} bytes with {events} events had come"),
        }
    }
}

fn later(after: Option<Duration>) -> String {
    after.map(|after| format!("; it can be asked again in {} s", after.as_secs())).unwrap_or_default()
}

fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "; look at the key and at what it may do",
        404 => "; look at the model's name and the address",
        413 => "; the conversation is longer than the provider takes",
        _ => "",
    }
}
