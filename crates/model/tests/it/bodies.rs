//! What is sent: exactly, and so that caches hold.

use std::sync::Arc;

use metier_model::{
    Arguments, Effort, Endpoint, Message, OutcomeStatus, Part, Protocol, Reasoning, Remote, Request, Schema,
    Seal, ToolCall, ToolChoice, ToolDefinition, ToolOutcome,
};
use serde_json::{Value, json};

use crate::in_every_protocol;
use crate::server::remote;

const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

fn model(protocol: Protocol) -> Remote {
    remote(protocol, Endpoint::new("http://127.0.0.1:9").unwrap())
}

fn body(protocol: Protocol, request: &Request) -> String {
    String::from_utf8(model(protocol).body(request).unwrap()).unwrap()
}

fn tool(name: &str) -> ToolDefinition {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolDefinition {
        name: name.into(),
        description: format!("Does {name}.").into(),
        parameters: Arc::new(parameters),
    }
}

fn call(id: &str, raw: &str) -> Part {
    Part::Call(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: Arguments::read(raw),
        seal: Seal::Open,
    })
}

fn outcome(id: &str, text: &str, status: OutcomeStatus) -> ToolOutcome {
    ToolOutcome { call_id: id.into(), name: "read".into(), text: text.into(), status }
}

fn thought(text: &str, seal: Seal) -> Part {
    Part::Reasoning(Reasoning { text: text.into(), seal })
}

fn signed(by: Protocol) -> Seal {
    Seal::Signed { by, signature: "sig".into() }
}

/// A conversation in which every turn reads a file, so many times.
fn conversation(turns: usize) -> Request {
    let mut messages = vec![Arc::new(Message::user("Begin."))];
    for turn in 0..turns {
        let id = format!("c{turn}");
        let parts = vec![
            Part::Text("Reading.".into()),
            call(&id, &format!("{{\"path\": \"{turn}.txt\", \"n\": 1.50}}")),
        ];
        messages.push(Message::Assistant(parts).into());
        messages.push(Message::Results(vec![outcome(&id, "text ä", OutcomeStatus::Done)]).into());
        messages.push(Message::user(format!("Go on, {turn}.")).into());
    }
    Request {
        system: vec!["You are careful.".into(), "Today is Monday.".into()],
        messages,
        tools: [tool("read"), tool("write")].into(),
        ..Request::default()
    }
}

async fn the_same_history_gives_the_same_bytes(protocol: Protocol) {
    let first = body(protocol, &conversation(30));
    assert_eq!(first, body(protocol, &conversation(30)));
    // Also when the values were made anew from what was kept of them.
    let kept = serde_json::to_string(&conversation(30)).unwrap();
    let again: Request = serde_json::from_str(&kept).unwrap();
    assert_eq!(first, body(protocol, &again));
}

async fn a_longer_history_begins_with_the_shorter_one(protocol: Protocol) {
    for (short, long) in [(0, 1), (1, 2), (7, 30)] {
        let (short, long) = (body(protocol, &conversation(short)), body(protocol, &conversation(long)));
        let (short, long) = (short.replace(MARK, ""), long.replace(MARK, ""));
        let prefix = short.strip_suffix("]}").unwrap();
        assert!(long.starts_with(prefix), "{short}\n{long}");
    }
}

/// What the model wrote goes back as it wrote it: blanks, order and zeros.
async fn arguments_go_back_as_they_came(protocol: Protocol) {
    let sent = body(protocol, &conversation(1));
    let raw = "{\"path\": \"0.txt\", \"n\": 1.50}";
    let expect = match protocol {
        Protocol::OpenAi => format!("\"arguments\":{}", Value::from(raw)),
        Protocol::Anthropic => format!("\"input\":{raw}"),
        Protocol::Gemini => format!("\"args\":{raw}"),
    };
    assert!(sent.contains(&expect), "{sent}");
}

/// Thoughts of another provider would be refused.
async fn only_its_own_seals_go_back(protocol: Protocol) {
    let parts = vec![
        thought("a", signed(Protocol::Anthropic)),
        thought("", Seal::Hidden { by: Protocol::Anthropic, data: "hidden".into() }),
        thought("g", signed(Protocol::Gemini)),
        thought("open", Seal::Open),
        thought("o", Seal::Echo { by: Protocol::OpenAi }),
        call("c1", "{}"),
    ];
    let request = Request { messages: vec![Message::Assistant(parts).into()], ..Request::default() };
    let sent = body(protocol, &request);
    let messages = match protocol {
        Protocol::OpenAi => {
            json!([{"role": "assistant", "reasoning_content": "o", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}])
        }
        Protocol::Anthropic => json!([{"role": "assistant", "content": [
            {"type": "thinking", "thinking": "a", "signature": "sig"}, {"type": "redacted_thinking", "data": "hidden"},
            {"type": "tool_use", "id": "c1", "name": "read", "input": {}}]}]),
        Protocol::Gemini => {
            json!([{"role": "model", "parts": [{"text": "g", "thought": true, "thoughtSignature": "sig"},
            {"functionCall": {"id": "c1", "name": "read", "args": {}}}]}])
        }
    };
    assert!(sent.contains(&messages.to_string()), "{sent}\n{messages}");
}

async fn malformed_arguments_and_empty_messages_do_not_break_the_next_request(protocol: Protocol) {
    let messages = vec![
        Message::user("Hi").into(),
        Message::Assistant(Vec::new()).into(),
        Message::Assistant(vec![call("c1", "{\"path\": oops")]).into(),
        Message::Results(vec![outcome("c1", "", OutcomeStatus::Failed)]).into(),
    ];
    let sent: Value =
        serde_json::from_str(&body(protocol, &Request { messages, ..Request::default() })).unwrap();
    let list = sent.get("messages").or_else(|| sent.get("contents")).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 3, "{sent}");
    assert!(sent.to_string().contains("malformed_arguments"), "{sent}");
}

/// Skills count on the shape of a result, JSON among them.
async fn what_a_tool_gave_is_sent_as_it_is_also_when_it_failed(protocol: Protocol) {
    let text = "{\"exitCode\":1}";
    let messages = vec![
        Message::Assistant(vec![call("c1", "{}")]).into(),
        Message::Results(vec![outcome("c1", text, OutcomeStatus::Failed)]).into(),
    ];
    let sent = body(protocol, &Request { messages, ..Request::default() });
    assert!(sent.contains(&Value::from(text).to_string()), "{sent}");
}

in_every_protocol!(
    what_a_tool_gave_is_sent_as_it_is_also_when_it_failed,
    the_same_history_gives_the_same_bytes,
    a_longer_history_begins_with_the_shorter_one,
    arguments_go_back_as_they_came,
    only_its_own_seals_go_back,
    malformed_arguments_and_empty_messages_do_not_break_the_next_request,
);

fn short() -> Request {
    let mut request = conversation(1);
    request.tools = [tool("read")].into();
    request.messages.truncate(3);
    request
}

#[test]
fn openai_to_the_byte() {
    let parameters = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    assert_eq!(
        body(Protocol::OpenAi, &short()),
        [
            r#"{"model":"some-model","stream":true,"stream_options":{"include_usage":true},"#,
            r#""tools":[{"type":"function","function":{"name":"read","description":"Does read.","parameters":"#,
            parameters,
            r#"}}],"messages":[{"role":"system","content":"You are careful.\n\nToday is Monday."},"#,
            r#"{"role":"user","content":"Begin."},{"role":"assistant","content":"Reading.","tool_calls":[{"id":"c0","type":"function","#,
            r#""function":{"name":"read","arguments":"{\"path\": \"0.txt\", \"n\": 1.50}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"c0","content":"text ä"}]}"#,
        ]
        .concat()
    );
}

#[test]
fn anthropic_to_the_byte() {
    let parameters = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    assert_eq!(
        body(Protocol::Anthropic, &short()),
        [
            r#"{"model":"some-model","max_tokens":8192,"stream":true,"tools":[{"name":"read","description":"Does read.","input_schema":"#,
            parameters,
            MARK,
            r#"}],"system":[{"type":"text","text":"You are careful."},{"type":"text","text":"Today is Monday.""#,
            MARK,
            r#"}],"messages":[{"role":"user","content":[{"type":"text","text":"Begin.""#,
            MARK,
            r#"}]},{"role":"assistant","content":[{"type":"text","text":"Reading."},{"type":"tool_use","id":"c0","name":"read","#,
            r#""input":{"path": "0.txt", "n": 1.50}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c0","content":"text ä""#,
            MARK,
            "}]}]}",
        ]
        .concat()
    );
}

#[test]
fn gemini_to_the_byte() {
    let parameters = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    assert_eq!(
        body(Protocol::Gemini, &short()),
        [
            r#"{"tools":[{"functionDeclarations":[{"name":"read","description":"Does read.","parameters":"#,
            parameters,
            r#"}]}],"systemInstruction":{"parts":[{"text":"You are careful."},{"text":"Today is Monday."}]},"#,
            r#""contents":[{"role":"user","parts":[{"text":"Begin."}]},{"role":"model","parts":[{"text":"Reading."},"#,
            r#"{"functionCall":{"id":"c0","name":"read","args":{"path": "0.txt", "n": 1.50}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"c0","name":"read","response":{"output":"text ä"}}}]}]}"#,
        ]
        .concat()
    );
}

#[test]
fn anthropic_gets_at_most_the_four_marks_it_takes() {
    for turns in [0, 1, 2, 30] {
        let marks = body(Protocol::Anthropic, &conversation(turns)).matches(MARK).count();
        assert_eq!(marks, if turns == 0 { 3 } else { 4 });
    }
}

#[test]
fn settings_have_their_words_in_every_protocol() {
    let schema = Schema {
        name: "shape".into(),
        schema: Arc::new(json!({"type": "object", "additionalProperties": false})),
    };
    let request = Request {
        schema: Some(schema),
        max_output: Some(100),
        effort: Some(Effort::High),
        choice: ToolChoice::Tool("read".into()),
        ..short()
    };
    let check = |protocol: Protocol, request: &Request, expect: &[(&str, Value)]| {
        let sent: Value = serde_json::from_str(&body(protocol, request)).unwrap();
        for (pointer, value) in expect {
            assert_eq!(sent.pointer(pointer).unwrap_or(&Value::Null), value, "{protocol:?} {pointer}");
        }
    };
    check(
        Protocol::OpenAi,
        &request,
        &[
            ("/max_completion_tokens", json!(100)),
            ("/reasoning_effort", json!("high")),
            ("/tool_choice/function/name", json!("read")),
            ("/response_format/json_schema/name", json!("shape")),
        ],
    );
    check(
        Protocol::Anthropic,
        &request,
        &[
            ("/max_tokens", json!(100)),
            // The provider takes no thoughts before a call that has to be made.
            ("/thinking", Value::Null),
            ("/output_config/effort", json!("high")),
            ("/output_config/format/type", json!("json_schema")),
            ("/tool_choice", json!({"type": "tool", "name": "read"})),
        ],
    );
    check(
        Protocol::Gemini,
        &request,
        &[
            ("/generationConfig/maxOutputTokens", json!(100)),
            ("/generationConfig/thinkingConfig/thinkingLevel", json!("high")),
            ("/generationConfig/responseSchema", json!({"type": "object"})),
            ("/toolConfig/functionCallingConfig", json!({"mode": "ANY", "allowedFunctionNames": ["read"]})),
        ],
    );
    let free = Request { choice: ToolChoice::Auto, ..request.clone() };
    check(Protocol::Anthropic, &free, &[("/thinking", json!({"type": "adaptive"}))]);
    let counted = Request { effort: Some(Effort::Tokens(2_000)), temperature: Some(0.2), ..free };
    check(Protocol::OpenAi, &counted, &[("/reasoning_effort", json!("low"))]);
    check(
        Protocol::Anthropic,
        &counted,
        &[
            ("/thinking/budget_tokens", json!(2_000)),
            ("/max_tokens", json!(2_100)),
            ("/temperature", Value::Null),
        ],
    );
    check(Protocol::Gemini, &counted, &[("/generationConfig/thinkingConfig/thinkingBudget", json!(2_000))]);
    assert!(body(Protocol::Gemini, &counted).contains("\"temperature\":0.2,"));
}
