//! The pieces of Gemini's answers.

use serde_json::Value;

use crate::speech::Speech;
use crate::sse::ServerEvent;
use crate::wire::{Decode, complaint, count, json};
use crate::{DecodeError, Protocol, Seal, Stop, Usage};

/// Reads answers. There is no last event: an answer is whole when it gave its reason to end and the connection closed.
#[derive(Debug)]
pub(crate) struct GeminiDecoder;

impl Decode for GeminiDecoder {
    fn take(&mut self, event: &ServerEvent, speech: &mut Speech) -> Result<(), DecodeError> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        match json(&event.data)? {
            // Servers that do not stream send all pieces in one list.
            Value::Array(pieces) => pieces.iter().try_for_each(|piece| response(piece, speech)),
            value => response(&value, speech),
        }
    }
}

fn response(value: &Value, speech: &mut Speech) -> Result<(), DecodeError> {
    if let Some(error) = value.get("error") {
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let message = complaint(value).unwrap_or_else(|| value.to_string());
        return Err(DecodeError::Told { status: status.unwrap_or(500), message });
    }
    if let Some(usage) = value.get("usageMetadata") {
        speech.usage(usage_of(usage));
    }
    if let Some(reason) = value.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
        let words = value.pointer("/promptFeedback/blockReasonMessage").and_then(Value::as_str);
        speech.stop(Stop::Refused(with(reason, words)));
    }
    let Some(candidate) = value.pointer("/candidates/0") else { return Ok(()) };
    for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
        piece(part, speech);
    }
    if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
        speech.stop(stop(reason, candidate.get("finishMessage").and_then(Value::as_str)));
    }
    Ok(())
}

fn piece(part: &Value, speech: &mut Speech) {
    let signature = part.get("thoughtSignature").and_then(Value::as_str);
    let seal = signature
        .map_or(Seal::Open, |signature| Seal::Signed { by: Protocol::Gemini, signature: signature.into() });
    let text = part.get("text").and_then(Value::as_str);
    if let Some(call) = part.get("functionCall") {
        let word = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or("");
        let index = speech.begin_call(word("id"), word("name"), seal);
        // Calls come whole.
        if let Some(arguments) = call.get("args") {
            speech.arguments(index, &arguments.to_string());
        }
    } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
        speech.reasoning(text.unwrap_or(""), seal);
    } else {
        speech.text(text.unwrap_or(""));
        // A signature beside text is a thought that nobody sees.
        speech.reasoning("", seal);
    }
}

fn stop(reason: &str, words: Option<&str>) -> Stop {
    match reason {
        "STOP" => Stop::EndOfTurn,
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => Stop::Refused(with(reason, words)),
        other => Stop::Other(with(other, words)),
    }
}

fn with(reason: &str, words: Option<&str>) -> String {
    words.map_or_else(|| reason.to_owned(), |words| format!("{reason}: {words}"))
}

/// The provider counts what came from a cache into what was read, and thoughts beside what was written.
fn usage_of(usage: &Value) -> Usage {
    let read = count(usage, "/promptTokenCount").saturating_add(count(usage, "/toolUsePromptTokenCount"));
    let cached = count(usage, "/cachedContentTokenCount").min(read);
    let reasoning = count(usage, "/thoughtsTokenCount");
    Usage {
        input: read - cached,
        cache_read: cached,
        cache_write: 0,
        output: count(usage, "/candidatesTokenCount").saturating_add(reasoning),
        reasoning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;
    use serde_json::json;

    fn events(values: &[Value]) -> Vec<Event> {
        let (mut decoder, mut speech) = (GeminiDecoder, Speech::new(0));
        for value in values {
            decoder.take(&ServerEvent { event: None, data: value.to_string() }, &mut speech).unwrap();
        }
        decoder.close(&mut speech);
        speech.drain()
    }

    #[test]
    fn every_reason_to_end_has_its_meaning() {
        let check = |reason: &str, expect: Stop| {
            let found = events(&[json!({"candidates": [{"finishReason": reason}]})]);
            assert_eq!(found, [Event::End(expect)]);
        };
        check("STOP", Stop::EndOfTurn);
        check("MAX_TOKENS", Stop::Length);
        for reason in
            ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"]
        {
            check(reason, Stop::Refused(reason.to_owned()));
        }
        for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "NEW_ONE"] {
            check(reason, Stop::Other(reason.to_owned()));
        }
        let blocked = events(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
        assert_eq!(blocked, [Event::End(Stop::Refused("SAFETY".to_owned()))]);
    }

    #[test]
    fn a_list_of_pieces_is_the_pieces() {
        let found = events(&[json!([
            {"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]},
            {"candidates": [{"content": {"parts": [{"text": "lo"}]}, "finishReason": "STOP"}]}
        ])]);
        assert_eq!(found, [Event::Text("Hel".into()), Event::Text("lo".into()), Event::End(Stop::EndOfTurn)]);
    }

    #[test]
    fn signatures_stay_where_they_came() {
        let seal = |signature: &str| Seal::Signed { by: Protocol::Gemini, signature: signature.into() };
        let found = events(&[json!({"candidates": [{"content": {"parts": [
            {"text": "hm", "thought": true, "thoughtSignature": "a"},
            {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "b"},
            {"text": "hello"},
            {"text": "", "thoughtSignature": "c"}
        ]}}]})]);
        assert_eq!(
            found,
            [
                Event::Reasoning { text: "hm".into(), seal: seal("a") },
                Event::CallBegan {
                    index: 0,
                    id: "metier-call-0-0".into(),
                    name: "f".into(),
                    seal: seal("b")
                },
                Event::CallArguments { index: 0, fragment: "{\"x\":1}".into() },
                Event::Text("hello".into()),
                Event::Reasoning { text: String::new(), seal: seal("c") },
            ]
        );
    }

    #[test]
    fn thoughts_are_written_and_the_cache_is_counted_once() {
        let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 10,
            "thoughtsTokenCount": 5, "toolUsePromptTokenCount": 3});
        let expect = Usage { input: 63, cache_read: 40, cache_write: 0, output: 15, reasoning: 5 };
        assert_eq!(usage_of(&usage), expect);
    }
}
