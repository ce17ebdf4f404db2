//! The same conversation in every protocol.

use metier_model::{Event, Protocol, Seal, Stop, Usage};
use serde_json::{Value, json};

use crate::in_every_protocol;
use crate::server::{Reply, Server, ask};

/// A line of server-sent events.
fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

/// A text in two pieces, as the protocol sends it, without an end.
pub(crate) fn beginning(protocol: Protocol) -> String {
    match protocol {
        Protocol::OpenAi => ["Hel", "lo ä😀"]
            .map(|text| data(&json!({"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": null}]})))
            .concat(),
        Protocol::Anthropic => [
            named(&json!({"type": "message_start", "message": {"id": "1", "role": "assistant", "content": [],
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}}})),
            named(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
            named(&json!({"type": "ping"})),
            named(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}})),
            named(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo ä😀"}})),
        ]
        .concat(),
        Protocol::Gemini => ["Hel", "lo ä😀"]
            .map(|text| data(&json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}]})))
            .concat(),
    }
}

/// Calls with arguments in these pieces, as the protocol sends them. Gemini sends calls whole.
pub(crate) fn calls(protocol: Protocol, calls: &[(&str, &str, &[&str])]) -> String {
    let mut text = String::new();
    for (index, (id, name, pieces)) in calls.iter().enumerate() {
        match protocol {
            Protocol::OpenAi => {
                let delta =
                    |call: Value| data(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}));
                text += &delta(
                    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}),
                );
                for piece in *pieces {
                    text += &delta(json!({"index": index, "function": {"arguments": piece}}));
                }
            }
            Protocol::Anthropic => {
                let place = index + 1;
                text += &named(&json!({"type": "content_block_start", "index": place,
                    "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}));
                for piece in *pieces {
                    text += &named(&json!({"type": "content_block_delta", "index": place,
                        "delta": {"type": "input_json_delta", "partial_json": piece}}));
                }
                text += &named(&json!({"type": "content_block_stop", "index": place}));
            }
            Protocol::Gemini => {
                let arguments: Value = serde_json::from_str(&pieces.concat()).unwrap();
                text += &data(&json!({"candidates": [{"content": {"role": "model", "parts": [
                    {"functionCall": {"id": id, "name": name, "args": arguments}}]}}]}));
            }
        }
    }
    text
}

/// The end, with 10 tokens read, 5 from a cache, 7 written.
pub(crate) fn end(protocol: Protocol, reason: &str) -> String {
    match protocol {
        Protocol::OpenAi => [
            data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})),
            data(&json!({"choices": [], "usage": {"prompt_tokens": 15, "completion_tokens": 7, "total_tokens": 22,
                "prompt_tokens_details": {"cached_tokens": 5}}})),
            "data: [DONE]\n\n".to_owned(),
        ]
        .concat(),
        Protocol::Anthropic => [
            named(&json!({"type": "content_block_stop", "index": 0})),
            named(&json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                "usage": {"output_tokens": 7}})),
            named(&json!({"type": "message_stop"})),
        ]
        .concat(),
        Protocol::Gemini => data(&json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]},
            "finishReason": reason}], "usageMetadata": {"promptTokenCount": 15, "cachedContentTokenCount": 5,
            "candidatesTokenCount": 7, "totalTokenCount": 22}})),
    }
}

pub(crate) fn calling(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenAi => "tool_calls",
        Protocol::Anthropic => "tool_use",
        Protocol::Gemini => "STOP",
    }
}

pub(crate) fn stopping(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenAi => "stop",
        Protocol::Anthropic => "end_turn",
        Protocol::Gemini => "STOP",
    }
}

/// A thought, as the protocol sends it.
fn thought(protocol: Protocol) -> String {
    match protocol {
        Protocol::OpenAi => data(&json!({"choices": [{"index": 0, "delta": {"reasoning": "hm"}}]})),
        Protocol::Anthropic => [
            named(&json!({"type": "content_block_start", "index": 9, "content_block": {"type": "thinking", "thinking": "", "signature": ""}})),
            named(&json!({"type": "content_block_delta", "index": 9, "delta": {"type": "thinking_delta", "thinking": "hm"}})),
            named(&json!({"type": "content_block_stop", "index": 9})),
        ]
        .concat(),
        Protocol::Gemini => data(&json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}]}}]})),
    }
}

/// A whole answer: a thought, a text and two calls.
pub(crate) fn story(protocol: Protocol) -> String {
    let two: &[(&str, &str, &[&str])] = &[("c1", "read", &["{\"path\":\"a.txt\"}"]), ("c2", "list", &["{}"])];
    [thought(protocol), beginning(protocol), calls(protocol, two), end(protocol, calling(protocol))].concat()
}

/// What every protocol makes of it.
pub(crate) fn story_events() -> Vec<Event> {
    let began = |index, id: &str, name: &str| Event::CallBegan {
        index,
        id: id.into(),
        name: name.into(),
        seal: Seal::Open,
    };
    vec![
        Event::Reasoning { text: "hm".into(), seal: Seal::Open },
        Event::Text("Hel".into()),
        Event::Text("lo ä😀".into()),
        began(0, "c1", "read"),
        Event::CallArguments { index: 0, fragment: "{\"path\":\"a.txt\"}".into() },
        began(1, "c2", "list"),
        Event::CallArguments { index: 1, fragment: "{}".into() },
        Event::CallEnded { index: 0 },
        Event::CallEnded { index: 1 },
        Event::Usage(Usage { input: 10, cache_read: 5, cache_write: 0, output: 7, reasoning: 0 }),
        Event::End(Stop::ToolCalls),
    ]
}

async fn the_same_conversation_gives_the_same_events(protocol: Protocol) {
    let server = Server::start([Reply::stream(&story(protocol))]).await;
    assert_eq!(ask(&server.model(protocol)).await, (story_events(), None));
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    let path = match protocol {
        Protocol::OpenAi => "/v1/chat/completions",
        Protocol::Anthropic => "/v1/messages",
        Protocol::Gemini => "/v1/models/some-model:streamGenerateContent?alt=sse",
    };
    assert!(seen[0].head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{}", seen[0].head);
}

async fn a_conversation_goes_on_over_the_same_connection(protocol: Protocol) {
    let reply = Reply::stream(&story(protocol));
    let server = Server::start([reply.clone(), reply.clone(), reply]).await;
    let model = server.model(protocol);
    for _ in 0..3 {
        assert_eq!(ask(&model).await, (story_events(), None));
    }
    assert_eq!((server.seen().len(), server.connections()), (3, 1));
}

async fn a_connection_that_the_server_closed_is_replaced_without_a_word(protocol: Protocol) {
    let reply = Reply::stream(&story(protocol)).closing();
    let server = Server::start([reply.clone(), reply]).await;
    let model = server.model(protocol);
    assert_eq!(ask(&model).await, (story_events(), None));
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(ask(&model).await, (story_events(), None));
    assert_eq!((server.seen().len(), server.connections()), (2, 2));
}

in_every_protocol!(
    the_same_conversation_gives_the_same_events,
    a_conversation_goes_on_over_the_same_connection,
    a_connection_that_the_server_closed_is_replaced_without_a_word,
);
