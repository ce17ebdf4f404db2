//! What an adapter knows: how a request looks on the wire, and what the events that come back mean.

use serde_json::Value;

use crate::anthropic::AnthropicDecoder;
use crate::gemini::GeminiDecoder;
use crate::openai::OpenAiDecoder;
use crate::speech::Speech;
use crate::sse::ServerEvent;
use crate::{DecodeError, ModelError, ModelId, Protocol, Request, anthropic, gemini, openai};

/// Reads the events of one answer.
pub(crate) trait Decode: Send {
    /// Takes one event of the stream. It calls [`Speech::end`] when the protocol says that this was all.
    fn take(&mut self, event: &ServerEvent, speech: &mut Speech) -> Result<(), DecodeError>;

    /// The connection was closed properly. Calls [`Speech::end`] if the answer is whole by then.
    fn close(&mut self, speech: &mut Speech) {
        if speech.has_stop() {
            speech.end();
        }
    }
}

/// Where requests go, below the base address.
pub(crate) fn path(protocol: Protocol, model: &str) -> String {
    match protocol {
        Protocol::OpenAi => "chat/completions".to_owned(),
        Protocol::Anthropic => "messages".to_owned(),
        Protocol::Gemini => format!("models/{}:streamGenerateContent?alt=sse", gemini::path_segment(model)),
    }
}

/// The header that carries the key, and what stands before the key in it. Never the address: addresses are logged.
pub(crate) fn key_header(protocol: Protocol) -> (&'static str, &'static str) {
    match protocol {
        Protocol::OpenAi => ("authorization", "Bearer "),
        Protocol::Anthropic => ("x-api-key", ""),
        Protocol::Gemini => ("x-goog-api-key", ""),
    }
}

/// Headers that every request has.
pub(crate) fn fixed_headers(protocol: Protocol) -> &'static [(&'static str, &'static str)] {
    match protocol {
        Protocol::Anthropic => &[("anthropic-version", "2023-06-01")],
        Protocol::OpenAi | Protocol::Gemini => &[],
    }
}

/// The body of a request.
pub(crate) fn body(protocol: Protocol, id: &ModelId, request: &Request) -> Result<Vec<u8>, ModelError> {
    let body = match protocol {
        Protocol::OpenAi => openai::body(id, request),
        Protocol::Anthropic => anthropic::body(id.model(), request),
        Protocol::Gemini => gemini::body(request),
    };
    body.map_err(|error| ModelError::Unsendable { why: error.to_string() })
}

/// A reader for the answer.
pub(crate) fn decoder(protocol: Protocol) -> Box<dyn Decode> {
    match protocol {
        Protocol::OpenAi => Box::new(OpenAiDecoder::default()),
        Protocol::Anthropic => Box::new(AnthropicDecoder::default()),
        Protocol::Gemini => Box::new(GeminiDecoder),
    }
}

/// Reads an event's data as JSON.
pub(crate) fn json(data: &str) -> Result<Value, DecodeError> {
    serde_json::from_str(data).map_err(|error| DecodeError::Garbled(format!("an event is not JSON: {error}")))
}

/// What a provider says went wrong, out of whatever shape it has.
pub(crate) fn complaint(value: &Value) -> Option<String> {
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").unwrap_or(value);
    let text = ["message", "detail", "error", "msg", "title"].iter().find_map(|key| error.get(key)?.as_str());
    // Routers put the words of the provider behind them into a field of its own.
    let inner = error.pointer("/metadata/raw").and_then(Value::as_str);
    match (error.as_str().or(text), inner) {
        (Some(text), Some(inner)) if !text.contains(inner) => Some(format!("{text}: {inner}")),
        (text, inner) => text.or(inner).map(str::to_owned),
    }
}

/// How long to wait, where a provider says it among the details of its fault rather than in a header: `{"retryDelay": "17s"}`.
pub(crate) fn retry_delay(value: &Value) -> Option<&str> {
    let value = value.get(0).unwrap_or(value);
    let details = value.pointer("/error/details")?.as_array()?;
    details.iter().find_map(|detail| detail.get("retryDelay")?.as_str()?.strip_suffix('s'))
}

/// A number at a place, or 0.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wait_is_found_among_the_details_of_a_fault() {
        let details = json!([{"@type": "type.googleapis.com/google.rpc.Help"}, {"retryDelay": "17.5s"}]);
        assert_eq!(retry_delay(&json!({"error": {"code": 429, "details": details}})), Some("17.5"));
        assert_eq!(retry_delay(&json!([{"error": {"details": details}}])), Some("17.5"));
        assert_eq!(retry_delay(&json!({"error": {"message": "slow"}})), None);
    }

    #[test]
    fn complaints_are_found_in_the_shapes_that_servers_have() {
        let check =
            |value: Value, expect: Option<&str>| assert_eq!(complaint(&value).as_deref(), expect, "{value}");
        check(json!({"error": {"message": "no", "type": "x"}}), Some("no"));
        check(json!({"error": "model not found"}), Some("model not found"));
        check(json!([{"error": {"code": 400, "message": "key"}}]), Some("key"));
        check(
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            Some("Overloaded"),
        );
        check(json!({"object": "error", "message": "too long"}), Some("too long"));
        check(json!({"detail": "Not Found"}), Some("Not Found"));
        check(
            json!({"error": {"message": "Provider returned error", "metadata": {"raw": "slow down"}}}),
            Some("Provider returned error: slow down"),
        );
        check(json!({"a": 1}), None);
        check(json!(7), None);
    }
}
