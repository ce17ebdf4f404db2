//! The body of a request to Gemini: what stays the same first, the history last.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::schema::narrowed;
use crate::message::is_made_up;
use crate::{Effort, Message, OutcomeStatus, Part, Protocol, Request, ToolChoice};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Settings::is_empty")]
    generation_config: Settings,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<Value>,
}

impl Settings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Piece<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Piece<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<Returned<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Box<RawValue>,
}

#[derive(Serialize)]
struct Returned<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

pub(crate) fn body(request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let mut contents = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        let (role, parts) = match &**message {
            Message::User(parts) => ("user", pieces(parts)?),
            Message::Assistant(parts) => ("model", pieces(parts)?),
            Message::Results(outcomes) => ("user", outcomes.iter().map(response).collect()),
        };
        // A content of nothing is refused.
        if !parts.is_empty() {
            contents.push(Content { role: Some(role), parts });
        }
    }
    let system: Vec<Piece<'_>> = request.system.iter().map(|told| text(told)).collect();
    serde_json::to_vec(&Body {
        generation_config: Settings {
            max_output_tokens: request.max_output,
            temperature: request.temperature,
            thinking_config: request.effort.map(|effort| match effort {
                Effort::Tokens(tokens) => json!({ "includeThoughts": true, "thinkingBudget": tokens }),
                effort => json!({ "includeThoughts": true, "thinkingLevel": effort.word() }),
            }),
            response_mime_type: request.schema.as_ref().map(|_| "application/json"),
            response_schema: request.schema.as_ref().map(|schema| narrowed(&schema.schema)),
        },
        tool_config: choice(request),
        tools: tools(request),
        system_instruction: (!system.is_empty()).then_some(Content { role: None, parts: system }),
        contents,
    })
}

fn tools(request: &Request) -> Vec<Value> {
    let declared: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            let mut declared = json!({ "name": &*tool.name, "description": &*tool.description });
            let parameters = narrowed(&tool.parameters);
            // A tool without parameters has no schema: one of an object without fields is refused.
            if let (true, Some(own)) = (parameters.get("properties").is_some(), declared.as_object_mut()) {
                own.insert("parameters".to_owned(), parameters);
            }
            declared
        })
        .collect();
    if declared.is_empty() { Vec::new() } else { vec![json!({ "functionDeclarations": declared })] }
}

fn choice(request: &Request) -> Option<Value> {
    let mode = match &request.choice {
        _ if request.tools.is_empty() => return None,
        ToolChoice::Auto => return None,
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Any => json!({ "mode": "ANY" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [&**name] }),
    };
    Some(json!({ "functionCallingConfig": mode }))
}

fn text(text: &str) -> Piece<'_> {
    Piece { text: Some(text), ..Piece::default() }
}

fn pieces(parts: &[Part]) -> Result<Vec<Piece<'_>>, serde_json::Error> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Text(own) if own.is_empty() => {}
            Part::Text(own) => pieces.push(text(own)),
            // Signatures come back where they came; thoughts without one are not wanted.
            Part::Reasoning(reasoning) => {
                if let Some(signature) = reasoning.seal.signature_of(Protocol::Gemini) {
                    let thought = (!reasoning.text.is_empty()).then_some(true);
                    let signature = Some(signature);
                    pieces.push(Piece { thought, thought_signature: signature, ..text(&reasoning.text) });
                }
            }
            Part::Call(call) => pieces.push(Piece {
                function_call: Some(Call {
                    id: id(&call.id),
                    name: &call.name,
                    args: RawValue::from_string(call.arguments.sendable().as_ref().to_owned())?,
                }),
                thought_signature: call.seal.signature_of(Protocol::Gemini),
                ..Piece::default()
            }),
        }
    }
    Ok(pieces)
}

fn response(outcome: &crate::ToolOutcome) -> Piece<'_> {
    let response = match outcome.status {
        OutcomeStatus::Done => Outcome::Output(&outcome.text),
        OutcomeStatus::Failed => Outcome::Error(&outcome.text),
    };
    let response = Returned { id: id(&outcome.call_id), name: &outcome.name, response };
    Piece { function_response: Some(response), ..Piece::default() }
}

/// Older models give no ids and match outcomes by name and order.
fn id(id: &str) -> Option<&str> {
    (!is_made_up(id)).then_some(id)
}

/// A model's name as a part of an address: nothing in it leads elsewhere.
pub(crate) fn path_segment(model: &str) -> String {
    let mut segment = String::with_capacity(model.len());
    for byte in model.strip_prefix("models/").unwrap_or(model).bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            segment.push(char::from(byte));
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_change_the_address() {
        let check = |model: &str, expect: &str| assert_eq!(path_segment(model), expect);
        check("gemini-3.0-flash", "gemini-3.0-flash");
        check("models/gemini", "gemini");
        check("a/../b?key=1#x", "a%2F..%2Fb%3Fkey%3D1%23x");
        check("ä", "%C3%A4");
    }
}
