//! The pieces of a chat completion, in all the ways in which servers send them.

use serde_json::Value;

use crate::speech::Speech;
use crate::sse::ServerEvent;
use crate::wire::{Decode, complaint, count, json};
use crate::{DecodeError, Protocol, Seal, Stop, Usage};

/// The most calls of one answer. No model makes so many at once, and each piece is looked for among all of them.
const MAX_CALLS: usize = 1_000;

/// Reads chat completions.
#[derive(Debug, Default)]
pub(crate) struct OpenAiDecoder {
    calls: Vec<OpenCall>,
    /// Whether the model said in a field of its own that it will not. The reason to end is a plain "stop" then.
    has_refused: bool,
}

/// A call as far as it has come. It is announced once its name and id are known; what comes before is held.
#[derive(Debug, Default)]
struct OpenCall {
    place: Option<u64>,
    id: String,
    name: String,
    held: String,
    announced: Option<u32>,
}

impl Decode for OpenAiDecoder {
    fn take(&mut self, event: &ServerEvent, speech: &mut Speech) -> Result<(), DecodeError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.announce_all(speech);
            speech.end();
            return Ok(());
        }
        // Some servers keep a connection open with empty events.
        if data.is_empty() {
            return Ok(());
        }
        let chunk = json(data)?;
        if let Some(fault) = told(event, &chunk) {
            return Err(fault);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            speech.usage(usage_of(usage));
        }
        // One answer was asked for; other choices are not ours.
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(()) };
        // Servers that do not stream send the message as a whole.
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, speech)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.announce_all(speech);
            speech.stop(match stop(reason) {
                Stop::EndOfTurn if self.has_refused => Stop::Refused("refusal".to_owned()),
                stop => stop,
            });
        }
        Ok(())
    }
}

impl OpenAiDecoder {
    fn delta(&mut self, delta: &Value, speech: &mut Speech) -> Result<(), DecodeError> {
        // Servers that have both words say the same twice. Those that say the first one want it back, and those that say
        // the second one refuse a message with the first.
        let thought = |key: &str| delta.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(text) = thought("reasoning_content") {
            speech.reasoning(text, Seal::Echo { by: Protocol::OpenAi });
        } else if let Some(text) = thought("reasoning") {
            speech.reasoning(text, Seal::Open);
        }
        match delta.get("content") {
            Some(Value::String(text)) => speech.text(text),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| content_part(part, speech)),
            _ => {}
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.has_refused = true;
            speech.text(text);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, speech);
            if self.calls.len() > MAX_CALLS {
                return Err(DecodeError::Garbled(format!("an answer has more than {MAX_CALLS} calls")));
            }
        }
        Ok(())
    }

    fn call(&mut self, piece: &Value, speech: &mut Speech) {
        let text = |pointer: &str| piece.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        let (id, name) = (text("/id"), text("/function/name"));
        let place = piece.get("index").and_then(Value::as_u64);
        let position = self.position(place, id, name).unwrap_or_else(|| {
            self.calls.push(OpenCall { place, ..OpenCall::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(position) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.announced.is_none() {
            call.learn_name(name);
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(fragment)) => call.held.push_str(fragment),
            // Some servers send the object itself.
            Some(object @ Value::Object(_)) => call.held.push_str(&object.to_string()),
            _ => {}
        }
        if !call.id.is_empty() && !call.name.is_empty() {
            call.announce(speech);
        }
    }

    /// The call that a piece belongs to; none if it begins one. Some servers number every call 0, others number none.
    fn position(&self, place: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let position = match place {
            Some(_) => self.calls.iter().rposition(|call| call.place == place)?,
            None => match self.calls.iter().position(|call| !id.is_empty() && call.id == id) {
                Some(position) => position,
                // Without a number and an id, a name begins a call and arguments go on with the last.
                None if !id.is_empty() || !name.is_empty() => return None,
                None => self.calls.len().checked_sub(1)?,
            },
        };
        let call = self.calls.get(position)?;
        let is_another = !id.is_empty() && !call.id.is_empty() && call.id != id && !name.is_empty();
        (!is_another).then_some(position)
    }

    /// No more ids will come.
    fn announce_all(&mut self, speech: &mut Speech) {
        for call in &mut self.calls {
            call.announce(speech);
        }
    }
}

impl OpenCall {
    /// Most servers send a name once, some with every piece, some in pieces.
    fn learn_name(&mut self, name: &str) {
        if name.starts_with(&self.name) {
            name.clone_into(&mut self.name);
        } else {
            self.name.push_str(name);
        }
    }

    fn announce(&mut self, speech: &mut Speech) {
        let index = match self.announced {
            Some(index) => index,
            None => speech.begin_call(&self.id, &self.name, Seal::Open),
        };
        self.announced = Some(index);
        speech.arguments(index, &std::mem::take(&mut self.held));
    }
}

/// Parts of a content that is a list: text, and thoughts with a text inside.
fn content_part(part: &Value, speech: &mut Speech) {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        speech.text(text);
    }
    match part.get("thinking") {
        Some(Value::String(text)) => speech.reasoning(text, Seal::Open),
        Some(Value::Array(parts)) => {
            for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                speech.reasoning(text, Seal::Open);
            }
        }
        _ => {}
    }
}

/// A fault inside of a stream that began well.
fn told(event: &ServerEvent, chunk: &Value) -> Option<DecodeError> {
    let error = chunk.get("error").filter(|error| !error.is_null());
    let is_error = error.is_some()
        || chunk.get("object").and_then(Value::as_str) == Some("error")
        || event.event.as_deref() == Some("error");
    if !is_error {
        return None;
    }
    let inner = error.unwrap_or(chunk);
    let code = inner.get("code").or_else(|| inner.get("status"));
    let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let word = |key: &str| inner.get(key).and_then(Value::as_str).unwrap_or("").to_ascii_lowercase();
    let words = format!("{} {}", word("type"), word("code"));
    let status = match number.and_then(|number| u16::try_from(number).ok()) {
        Some(status) if (400..600).contains(&status) => status,
        _ if words.contains("rate_limit") || words.contains("quota") => 429,
        _ if words.contains("invalid") || words.contains("context_length") => 400,
        _ => 500,
    };
    let message = complaint(chunk).unwrap_or_else(|| chunk.to_string());
    Some(DecodeError::Told { status, message })
}

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" | "eos" | "end_turn" => Stop::EndOfTurn,
        "tool_calls" | "function_call" => Stop::ToolCalls,
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" | "refusal" => Stop::Refused(reason.to_owned()),
        other => Stop::Other(other.to_owned()),
    }
}

/// The provider counts what came from a cache into what was read.
fn usage_of(usage: &Value) -> Usage {
    let read = count(usage, "/prompt_tokens");
    let cached = count(usage, "/prompt_tokens_details/cached_tokens")
        .max(count(usage, "/prompt_cache_hit_tokens"))
        .min(read);
    Usage {
        input: read - cached,
        cache_read: cached,
        cache_write: 0,
        output: count(usage, "/completion_tokens"),
        reasoning: count(usage, "/completion_tokens_details/reasoning_tokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;
    use serde_json::json;

    fn events(chunks: &[Value]) -> Vec<Event> {
        let (mut decoder, mut speech) = (OpenAiDecoder::default(), Speech::new(0));
        for chunk in chunks {
            decoder.take(&ServerEvent { event: None, data: chunk.to_string() }, &mut speech).unwrap();
        }
        decoder.close(&mut speech);
        speech.drain()
    }

    fn calls(deltas: &[Value]) -> Vec<(String, String, String)> {
        let mut chunks: Vec<Value> =
            deltas.iter().map(|delta| json!({"choices": [{"delta": {"tool_calls": delta}}]})).collect();
        chunks.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
        let mut answered = crate::Answered::default();
        for event in events(&chunks) {
            answered.take(event);
        }
        let call = |call: &crate::ToolCall| {
            (call.id.to_string(), call.name.to_string(), call.arguments.raw().to_owned())
        };
        answered.calls().iter().map(call).collect()
    }

    #[test]
    fn calls_come_in_every_shape() {
        let check = |deltas: Value, expect: &[(&str, &str, &str)]| {
            let found = calls(deltas.as_array().unwrap());
            let found: Vec<_> = found.iter().map(|(id, name, raw)| (&**id, &**name, &**raw)).collect();
            assert_eq!(found, expect, "{deltas}");
        };
        // In pieces, by number.
        check(
            json!([
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}],
                [{"index": 0, "function": {"arguments": "{\"x\""}}],
                [{"index": 0, "function": {"arguments": ":1}"}}],
                [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]
            ]),
            &[("a", "f", "{\"x\":1}"), ("b", "g", "{}")],
        );
        // Whole, without a number, in one chunk.
        check(
            json!([[
                {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "function": {"name": "f", "arguments": "{}"}}
            ]]),
            &[("a", "f", "{}"), ("b", "f", "{}")],
        );
        // The id comes late.
        check(
            json!([
                [{"index": 0, "function": {"name": "f", "arguments": "{"}}],
                [{"index": 0, "id": "late", "function": {"arguments": "}"}}]
            ]),
            &[("late", "f", "{}")],
        );
        // The id is empty, or never comes.
        check(
            json!([
                [{"index": 0, "id": "", "function": {"name": "f", "arguments": "{}"}}],
                [{"index": 1, "function": {"name": "g", "arguments": {"y": 2}}}]
            ]),
            &[("metier-call-0-0", "f", "{}"), ("metier-call-0-1", "g", "{\"y\":2}")],
        );
        // Every call has the number 0.
        check(
            json!([
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}],
                [{"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}]
            ]),
            &[("a", "f", "{}"), ("b", "g", "{}")],
        );
        // The name and the id come with every piece.
        check(
            json!([
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}}],
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ":1}"}}]
            ]),
            &[("a", "f", "{\"x\":1}")],
        );
        // Without numbers and ids, by names.
        check(
            json!([
                [{"function": {"name": "f", "arguments": "{\"x\""}}],
                [{"function": {"arguments": ":1}"}}],
                [{"function": {"name": "g", "arguments": ""}}]
            ]),
            &[("metier-call-0-0", "f", "{\"x\":1}"), ("metier-call-0-1", "g", "{}")],
        );
    }

    #[test]
    fn a_refusal_is_a_text_and_no_usual_end() {
        let found = events(&[
            json!({"choices": [{"delta": {"refusal": null, "content": ""}}]}),
            json!({"choices": [{"delta": {"refusal": "I will not."}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ]);
        assert_eq!(found, [Event::Text("I will not.".into()), Event::End(Stop::Refused("refusal".into()))]);
    }

    #[test]
    fn thoughts_are_found_under_both_words_and_in_lists() {
        let check = |delta: Value, seal: Seal| {
            let found = events(&[json!({"choices": [{"delta": delta}]})]);
            assert_eq!(found, [Event::Reasoning { text: "hm".into(), seal }]);
        };
        let echo = Seal::Echo { by: Protocol::OpenAi };
        check(json!({"reasoning_content": "hm"}), echo.clone());
        check(json!({"reasoning": "hm", "content": null}), Seal::Open);
        check(json!({"reasoning_content": "hm", "reasoning": "hm"}), echo);
        check(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            Seal::Open,
        );
    }

    #[test]
    fn faults_inside_a_stream_have_the_status_they_mean() {
        let check = |chunk: Value, expect: u16| {
            let (mut decoder, mut speech) = (OpenAiDecoder::default(), Speech::new(0));
            let event = ServerEvent { event: None, data: chunk.to_string() };
            let Err(DecodeError::Told { status, message }) = decoder.take(&event, &mut speech) else {
                panic!("{chunk}")
            };
            assert_eq!((status, &*message), (expect, "no"), "{chunk}");
        };
        check(json!({"error": {"message": "no", "code": 503}}), 503);
        check(json!({"error": {"message": "no", "code": "429"}}), 429);
        check(json!({"error": {"message": "no", "type": "rate_limit_exceeded"}}), 429);
        check(json!({"error": {"message": "no", "type": "invalid_request_error"}}), 400);
        check(json!({"error": {"message": "no"}}), 500);
        check(json!({"error": "no"}), 500);
        check(json!({"object": "error", "message": "no", "code": 400}), 400);
    }

    #[test]
    fn calls_without_an_end_are_refused() {
        let many: Vec<Value> = (0..=MAX_CALLS).map(|index| json!({"index": index})).collect();
        let data = json!({"choices": [{"delta": {"tool_calls": many}}]}).to_string();
        let (mut decoder, mut speech) = (OpenAiDecoder::default(), Speech::new(0));
        let fault = decoder.take(&ServerEvent { event: None, data }, &mut speech);
        assert_eq!(fault, Err(DecodeError::Garbled("an answer has more than 1000 calls".to_owned())));
    }

    #[test]
    fn what_came_from_a_cache_is_counted_once() {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 5}});
        let expect = Usage { input: 36, cache_read: 64, cache_write: 0, output: 20, reasoning: 5 };
        assert_eq!(usage_of(&usage), expect);
        assert_eq!(usage_of(&json!({"prompt_tokens": 1, "prompt_cache_hit_tokens": 9})).input, 0);
    }
}
