//! Tools for models that were not taught to call them.

use std::sync::Arc;

use metier_model::{
    ChatModel, Constrained, Event, Message, ModelError, Protocol, Request, Stop, ToolDefinition, whole,
};
use serde_json::{Value, json};

use crate::in_every_protocol;
use crate::server::{Reply, Server, collect, remote};
use crate::stories::{beginning, end, stopping};

fn asking() -> Request {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = ToolDefinition {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: Arc::new(parameters),
    };
    Request { messages: vec![Message::user("Hello.").into()], tools: [tool].into(), ..Request::default() }
}

/// The text of an answer in place of the one of the story.
fn saying(protocol: Protocol, pieces: [&str; 2]) -> String {
    let escaped = pieces.map(|piece| {
        let quoted = Value::from(piece).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    });
    let text = beginning(protocol).replace("Hel", &escaped[0]).replace("lo ä😀", &escaped[1]);
    text + &end(protocol, stopping(protocol))
}

async fn an_answer_in_the_shape_of_a_call_is_a_call(protocol: Protocol) {
    let text = saying(protocol, ["{\"tool\": \"read\", \"argu", "ments\": {\"path\": \"a.txt\"}}"]);
    let server = Server::start([Reply::stream(&text)]).await;
    let model = Constrained::new(Arc::new(remote(protocol, server.endpoint())));
    let answered = whole(model.ask(&asking())).await.unwrap();
    let calls = answered.calls();
    assert_eq!((&*calls[0].name, calls[0].arguments.raw()), ("read", "{\"path\": \"a.txt\"}"));
    assert_eq!((answered.text().as_str(), answered.stop), ("", Some(Stop::ToolCalls)));
    assert_eq!(answered.usage.unwrap().output, 7);
    // The tools are in the shape and in the text, not where models are offered tools.
    let body: Value = serde_json::from_slice(&server.seen()[0].body).unwrap();
    assert!(body.get("tools").is_none());
    let pointer = match protocol {
        Protocol::OpenAi => "/response_format/json_schema/schema/oneOf/0/properties/tool/enum/0",
        Protocol::Anthropic => "/output_config/format/schema/oneOf/0/properties/tool/enum/0",
        Protocol::Gemini => "/generationConfig/responseSchema/anyOf/0/properties/tool/enum/0",
    };
    assert_eq!(body.pointer(pointer), Some(&json!("read")), "{body}");
}

async fn an_answer_in_words_streams(protocol: Protocol) {
    let text = saying(protocol, ["{\"answer\": \"Hel", "lo \\u00e4\"}"]);
    let server = Server::start([Reply::stream(&text)]).await;
    let model = Constrained::new(Arc::new(remote(protocol, server.endpoint())));
    let request = asking();
    let (events, error) = collect(model.ask(&request)).await;
    assert_eq!(error, None);
    assert_eq!(events[..2], [Event::Text("Hel".into()), Event::Text("lo ä".into())]);
    assert_eq!(events.last(), Some(&Event::End(Stop::EndOfTurn)));
}

async fn what_goes_wrong_is_passed_on(protocol: Protocol) {
    let busy = Reply::status(429, "retry-after: 0\r\n", "slow");
    let server = Server::start([busy, Reply::stream(&beginning(protocol)).cut()]).await;
    let model = Constrained::new(Arc::new(remote(protocol, server.endpoint())));
    let request = asking();
    let (events, error) = collect(model.ask(&request)).await;
    assert!(matches!(events[..], [Event::Retrying { attempt: 2, .. }]), "{events:?}");
    assert!(matches!(error, Some(ModelError::CutOff { .. })), "{error:?}");
}

in_every_protocol!(
    an_answer_in_the_shape_of_a_call_is_a_call,
    an_answer_in_words_streams,
    what_goes_wrong_is_passed_on,
);
