//! The events of a message.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::speech::Speech;
use crate::sse::ServerEvent;
use crate::wire::{Decode, complaint, count, json};
use crate::{DecodeError, Protocol, Seal, Stop, Usage};

/// Reads messages.
#[derive(Debug, Default)]
pub(crate) struct AnthropicDecoder {
    blocks: BTreeMap<u64, Block>,
    usage: Usage,
}

/// A block while it comes.
#[derive(Debug)]
enum Block {
    Thinking {
        signature: String,
    },
    /// A call: its number, and what it was given at its beginning, which counts if nothing follows.
    Call {
        index: u32,
        given: Option<String>,
    },
}

impl Decode for AnthropicDecoder {
    fn take(&mut self, event: &ServerEvent, speech: &mut Speech) -> Result<(), DecodeError> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let value = json(&event.data)?;
        let kind = value.get("type").and_then(Value::as_str).or(event.event.as_deref()).unwrap_or("");
        match kind {
            "message_start" => {
                self.count(value.pointer("/message/usage"), speech);
            }
            "content_block_start" => self.begin(&value, speech),
            "content_block_delta" => self.delta(&value, speech)?,
            "content_block_stop" => self.end(&value, speech),
            "message_delta" => {
                self.count(value.get("usage"), speech);
                if let Some(reason) = value.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    speech.stop(stop(reason));
                }
            }
            "message_stop" => speech.end(),
            // Servers that do not stream send the message as a whole.
            "message" => self.whole(&value, speech),
            "error" => return Err(told(&value)),
            // `ping`, and whatever is added later: the provider asks to let it pass.
            _ => {}
        }
        Ok(())
    }
}

impl AnthropicDecoder {
    fn whole(&mut self, message: &Value, speech: &mut Speech) {
        let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, block) in blocks.iter().enumerate() {
            let block = serde_json::json!({ "index": index, "content_block": block });
            self.begin(&block, speech);
            self.end(&block, speech);
        }
        self.count(message.get("usage"), speech);
        if let Some(reason) = message.get("stop_reason").and_then(Value::as_str) {
            speech.stop(stop(reason));
        }
        speech.end();
    }

    fn begin(&mut self, value: &Value, speech: &mut Speech) {
        let block = value.get("content_block").unwrap_or(&Value::Null);
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or("");
        let place = count(value, "/index");
        match text("type") {
            "text" => speech.text(text("text")),
            "thinking" => {
                speech.reasoning(text("thinking"), Seal::Open);
                self.blocks.insert(place, Block::Thinking { signature: text("signature").to_owned() });
            }
            "redacted_thinking" => {
                let data = Arc::from(text("data"));
                speech.reasoning("", Seal::Hidden { by: Protocol::Anthropic, data });
            }
            "tool_use" => {
                let index = speech.begin_call(text("id"), text("name"), Seal::Open);
                let input = block.get("input").and_then(Value::as_object).filter(|input| !input.is_empty());
                let given = input.and_then(|input| serde_json::to_string(input).ok());
                self.blocks.insert(place, Block::Call { index, given });
            }
            _ => {}
        }
    }

    fn delta(&mut self, value: &Value, speech: &mut Speech) -> Result<(), DecodeError> {
        let delta = value.get("delta").unwrap_or(&Value::Null);
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or("");
        let block = self.blocks.get_mut(&count(value, "/index"));
        match (text("type"), block) {
            ("text_delta", _) => speech.text(text("text")),
            ("thinking_delta", _) => speech.reasoning(text("thinking"), Seal::Open),
            ("signature_delta", Some(Block::Thinking { signature })) => signature.push_str(text("signature")),
            ("input_json_delta", Some(Block::Call { index, given })) => {
                let fragment = text("partial_json");
                if !fragment.is_empty() {
                    *given = None;
                    speech.arguments(*index, fragment);
                }
            }
            ("input_json_delta", _) => {
                return Err(DecodeError::Garbled("arguments came for a call that had not begun".to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, value: &Value, speech: &mut Speech) {
        match self.blocks.remove(&count(value, "/index")) {
            Some(Block::Thinking { signature }) if !signature.is_empty() => {
                let seal = Seal::Signed { by: Protocol::Anthropic, signature: signature.into() };
                speech.reasoning("", seal);
            }
            Some(Block::Call { index, given: Some(given) }) => speech.arguments(index, &given),
            _ => {}
        }
    }

    /// The numbers are sums, and those at the end need not name all of them again.
    fn count(&mut self, usage: Option<&Value>, speech: &mut Speech) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let own = &mut self.usage;
        let numbers = [
            (&mut own.input, "input_tokens"),
            (&mut own.cache_read, "cache_read_input_tokens"),
            (&mut own.cache_write, "cache_creation_input_tokens"),
            (&mut own.output, "output_tokens"),
        ];
        for (number, key) in numbers {
            if let Some(new) = usage.get(key).and_then(Value::as_u64) {
                *number = new;
            }
        }
        speech.usage(self.usage);
    }
}

fn told(value: &Value) -> DecodeError {
    let status = match value.pointer("/error/type").and_then(Value::as_str).unwrap_or("") {
        "overloaded_error" => 529,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        _ => 500,
    };
    DecodeError::Told { status, message: complaint(value).unwrap_or_else(|| value.to_string()) }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::EndOfTurn,
        "tool_use" => Stop::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refused(reason.to_owned()),
        other => Stop::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;
    use serde_json::json;

    fn events(values: &[Value]) -> Vec<Event> {
        let (mut decoder, mut speech) = (AnthropicDecoder::default(), Speech::new(0));
        for value in values {
            let event = ServerEvent { event: None, data: value.to_string() };
            decoder.take(&event, &mut speech).unwrap();
        }
        decoder.close(&mut speech);
        speech.drain()
    }

    #[test]
    fn a_thought_ends_with_its_signature_and_a_hidden_one_is_kept() {
        let found = events(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "ab"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "cd"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "xyz"}}),
            json!({"type": "content_block_stop", "index": 1}),
        ]);
        let seal = Seal::Signed { by: Protocol::Anthropic, signature: "abcd".into() };
        let hidden = Seal::Hidden { by: Protocol::Anthropic, data: "xyz".into() };
        assert_eq!(
            found,
            [
                Event::Reasoning { text: "hm".into(), seal: Seal::Open },
                Event::Reasoning { text: String::new(), seal },
                Event::Reasoning { text: String::new(), seal: hidden },
            ]
        );
    }

    #[test]
    fn arguments_given_at_the_beginning_count_if_nothing_follows() {
        let start = json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}});
        let stop = json!({"type": "content_block_stop", "index": 0});
        let arguments = |found: Vec<Event>| -> Vec<String> {
            let fragment = |event| match event {
                Event::CallArguments { fragment, .. } => Some(fragment),
                _ => None,
            };
            found.into_iter().filter_map(fragment).collect()
        };
        assert_eq!(arguments(events(&[start.clone(), stop.clone()])), ["{\"x\":1}"]);
        let delta = json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{}"}});
        assert_eq!(arguments(events(&[start, delta, stop])), ["{}"]);
    }

    #[test]
    fn a_message_that_comes_whole_is_an_answer() {
        let found = events(&[json!({"type": "message", "role": "assistant", "stop_reason": "tool_use",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Hello"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}],
            "usage": {"input_tokens": 3, "output_tokens": 4}})]);
        let seal = Seal::Signed { by: Protocol::Anthropic, signature: "s".into() };
        assert_eq!(
            found,
            [
                Event::Reasoning { text: "hm".into(), seal: Seal::Open },
                Event::Reasoning { text: String::new(), seal },
                Event::Text("Hello".into()),
                Event::CallBegan { index: 0, id: "a".into(), name: "f".into(), seal: Seal::Open },
                Event::CallArguments { index: 0, fragment: "{\"x\":1}".into() },
                Event::CallEnded { index: 0 },
                Event::Usage(Usage { input: 3, output: 4, ..Usage::default() }),
                Event::End(Stop::ToolCalls),
            ]
        );
    }

    #[test]
    fn numbers_of_the_end_replace_those_of_the_beginning() {
        let found = events(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "cache_read_input_tokens": 7,
                "cache_creation_input_tokens": 5, "output_tokens": 1}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 40}}),
            json!({"type": "message_stop"}),
        ]);
        let usage = Usage { input: 9, cache_read: 7, cache_write: 5, output: 40, reasoning: 0 };
        assert_eq!(found, [Event::Usage(usage), Event::End(Stop::Length)]);
    }
}
