//! The body of a chat completion: what stays the same first, the history last.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Effort, Message, ModelId, Part, Protocol, Reasoning, Request, Seal, ToolChoice};

/// Keys are sent in the order of these fields. `messages` is last, so that a longer history begins with the bytes of a
/// shorter one.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct Line<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    content: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Text<'a> {
    Whole(&'a str),
    Joined(String),
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CallFunction<'a>,
}

#[derive(Serialize)]
struct CallFunction<'a> {
    name: &'a str,
    arguments: Arc<str>,
}

pub(crate) fn body(id: &ModelId, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        let texts = request.system.iter().map(|text| &**text);
        messages.push(Line::new("system", joined(texts, "\n\n")));
    }
    for message in &request.messages {
        lines(message, &mut messages);
    }
    // OpenAI itself, and models that think, take only the newer word for the limit; other servers know only the older.
    let is_newer = id.provider() == "openai" || request.effort.is_some();
    let (max_tokens, max_completion_tokens) =
        if is_newer { (None, request.max_output) } else { (request.max_output, None) };
    serde_json::to_vec(&Body {
        model: id.model(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens,
        max_completion_tokens,
        reasoning_effort: request.effort.map(Effort::word),
        temperature: request.temperature,
        response_format: request.schema.as_ref().map(|schema| {
            json!({ "type": "json_schema", "json_schema": { "name": &*schema.name, "schema": &*schema.schema } })
        }),
        tool_choice: choice(request),
        tools: request
            .tools
            .iter()
            .map(|tool| Tool {
                r#type: "function",
                function: Function {
                    name: &tool.name,
                    description: &tool.description,
                    parameters: &tool.parameters,
                },
            })
            .collect(),
        messages,
    })
}

/// Without tools a choice is refused, and `auto` is what holds without it.
fn choice(request: &Request) -> Option<Value> {
    match &request.choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Any => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "function": { "name": &**name } })),
    }
}

impl<'a> Line<'a> {
    fn new(role: &'static str, content: Option<Text<'a>>) -> Self {
        Self { role, tool_call_id: None, reasoning_content: None, content, tool_calls: Vec::new() }
    }
}

fn lines<'a>(message: &'a Message, out: &mut Vec<Line<'a>>) {
    match message {
        // The user's words, notes and activated skills are texts of their own.
        Message::User(parts) => {
            out.push(Line::new("user", Some(text(parts, "\n\n").unwrap_or(Text::Whole("")))));
        }
        Message::Assistant(parts) => {
            let tool_calls: Vec<Call<'_>> = parts.iter().filter_map(call).collect();
            // The pieces of one answer.
            let content = text(parts, "");
            // An answer of nothing is no message: several servers refuse one.
            if content.is_some() || !tool_calls.is_empty() {
                // Thoughts are for the calls they led to; servers that know the field want it there and only there.
                let reasoning_content = if tool_calls.is_empty() { None } else { thoughts(parts) };
                out.push(Line { reasoning_content, tool_calls, ..Line::new("assistant", content) });
            }
        }
        // The protocol has no place for "it failed". The text says it: an exit code, a refusal. Nothing is put before it, since
        // skills count on the shape that a result has, and JSON with a word before it is none.
        Message::Results(outcomes) => out.extend(outcomes.iter().map(|outcome| Line {
            tool_call_id: Some(&outcome.call_id),
            ..Line::new("tool", Some(Text::Whole(&outcome.text)))
        })),
    }
}

fn text<'a>(parts: &'a [Part], between: &str) -> Option<Text<'a>> {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(&**text),
        _ => None,
    });
    joined(texts, between)
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> Option<Text<'a>> {
    let texts: Vec<&str> = texts.collect();
    match *texts.as_slice() {
        [] => None,
        [text] => Some(Text::Whole(text)),
        _ => Some(Text::Joined(texts.join(between))),
    }
}

/// Only thoughts whose server wants them back; others refuse the field.
fn thoughts(parts: &[Part]) -> Option<String> {
    let text: String = parts
        .iter()
        .filter_map(|part| match part {
            Part::Reasoning(Reasoning { text, seal: Seal::Echo { by: Protocol::OpenAi } }) => Some(&**text),
            _ => None,
        })
        .collect();
    (!text.is_empty()).then_some(text)
}

fn call(part: &Part) -> Option<Call<'_>> {
    let Part::Call(call) = part else { return None };
    Some(Call {
        id: &call.id,
        r#type: "function",
        function: CallFunction { name: &call.name, arguments: call.arguments.sendable() },
    })
}
