//! A request with tools as one without: the tools become a text and a shape, the calls of the history become answers.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    Message, OutcomeStatus, Part, Request, Schema, ToolCall, ToolChoice, ToolDefinition, ToolOutcome,
};

/// What the model is told about the shape. Its words and the order of the tools never change within a conversation, so
/// caches hold.
const RULES: &str = "Answer with one JSON object and nothing else. To use a tool, answer {\"tool\": NAME, \"arguments\": {…}}; \
its result comes back as {\"tool\": NAME, \"result\": TEXT}, or with \"error\" in place of \"result\". To speak to the user, \
answer {\"answer\": TEXT}. The tools:";

pub(super) fn request(request: &Request) -> Request {
    let messages = request.messages.iter().map(message).collect();
    if request.tools.is_empty() {
        return Request { messages, ..request.clone() };
    }
    let mut system = request.system.clone();
    system.push(catalogue(&request.tools).into());
    Request {
        system,
        messages,
        tools: Arc::default(),
        choice: ToolChoice::Auto,
        schema: Some(Schema { name: "answer".into(), schema: Arc::new(shape(request)) }),
        ..request.clone()
    }
}

fn catalogue(tools: &[ToolDefinition]) -> String {
    let mut text = RULES.to_owned();
    for tool in tools {
        let line =
            json!({ "tool": &*tool.name, "description": &*tool.description, "arguments": &*tool.parameters });
        text.push('\n');
        text.push_str(&line.to_string());
    }
    text
}

/// One of the tools, or an answer.
fn shape(request: &Request) -> Value {
    let is_offered = |tool: &&ToolDefinition| match &request.choice {
        ToolChoice::None => false,
        ToolChoice::Tool(name) => tool.name == *name,
        ToolChoice::Auto | ToolChoice::Any => true,
    };
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let mut ways: Vec<Value> = Vec::new();
    for tool in request.tools.iter().filter(is_offered) {
        // References of a tool's schema begin at its own root, which is a place inside of the whole now.
        let place = format!("#/oneOf/{}/properties/arguments", ways.len());
        let arguments = moved(&tool.parameters, &place);
        let properties =
            json!({ "tool": { "type": "string", "enum": [&*tool.name] }, "arguments": arguments });
        ways.push(object(properties, json!(["tool", "arguments"])));
    }
    if matches!(request.choice, ToolChoice::Auto | ToolChoice::None) || ways.is_empty() {
        let place = format!("#/oneOf/{}/properties/answer", ways.len());
        let answer = request.schema.as_ref().map(|schema| moved(&schema.schema, &place));
        let properties = json!({ "answer": answer.unwrap_or_else(|| json!({ "type": "string" })) });
        ways.push(object(properties, json!(["answer"])));
    }
    json!({ "oneOf": ways })
}

fn moved(schema: &Value, place: &str) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match value.as_str().and_then(|text| text.strip_prefix('#')) {
                Some(path) if key == "$ref" => (key.clone(), json!(format!("{place}{path}"))),
                _ => (key.clone(), moved(value, place)),
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(values) => values.iter().map(|value| moved(value, place)).collect(),
        other => other.clone(),
    }
}

fn message(message: &Arc<Message>) -> Arc<Message> {
    match &**message {
        Message::User(_) => Arc::clone(message),
        Message::Assistant(parts) => Arc::new(Message::Assistant(parts.iter().map(part).collect())),
        Message::Results(outcomes) => {
            let texts = outcomes.iter().map(|outcome| Part::Text(result(outcome).into()));
            let mut parts: Vec<Part> = Vec::new();
            for text in texts {
                if !parts.is_empty() {
                    parts.push(Part::Text("\n".into()));
                }
                parts.push(text);
            }
            Arc::new(Message::User(parts))
        }
    }
}

/// The history has the shape that the answers have, or the model would leave it.
fn part(part: &Part) -> Part {
    match part {
        Part::Text(text) => Part::Text(json!({ "answer": &**text }).to_string().into()),
        Part::Call(call) => Part::Text(called(call).into()),
        Part::Reasoning(reasoning) => Part::Reasoning(reasoning.clone()),
    }
}

fn called(call: &ToolCall) -> String {
    format!("{{\"tool\":{},\"arguments\":{}}}", json!(&*call.name), call.arguments.sendable())
}

/// As JSON, so that no result can pretend to be two.
fn result(outcome: &ToolOutcome) -> String {
    let key = match outcome.status {
        OutcomeStatus::Done => "result",
        OutcomeStatus::Failed => "error",
    };
    json!({ "tool": &*outcome.name, key: &*outcome.text }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, Seal};

    fn tool(name: &str) -> ToolDefinition {
        let parameters = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}});
        ToolDefinition { name: name.into(), description: "Does.".into(), parameters: Arc::new(parameters) }
    }

    fn asking(choice: ToolChoice) -> Request {
        Request { tools: [tool("f"), tool("g")].into(), choice, ..Request::default() }
    }

    #[test]
    fn the_shape_offers_what_the_choice_allows() {
        let check = |choice: ToolChoice, expect: &[&str]| {
            let shape = shape(&asking(choice));
            let ways = shape["oneOf"].as_array().unwrap();
            let name = |way: &Value| {
                way.pointer("/properties/tool/enum/0").and_then(Value::as_str).unwrap_or("answer").to_owned()
            };
            assert_eq!(ways.iter().map(name).collect::<Vec<_>>(), expect);
        };
        check(ToolChoice::Auto, &["f", "g", "answer"]);
        check(ToolChoice::Any, &["f", "g"]);
        check(ToolChoice::Tool("g".into()), &["g"]);
        check(ToolChoice::None, &["answer"]);
    }

    #[test]
    fn references_lead_where_they_led() {
        let shape = shape(&asking(ToolChoice::Auto));
        let path =
            shape.pointer("/oneOf/1/properties/arguments/properties/a/$ref").and_then(Value::as_str).unwrap();
        assert_eq!(shape.pointer(path.strip_prefix('#').unwrap()), Some(&json!({"type": "string"})));
    }

    #[test]
    fn a_history_of_calls_is_one_of_answers() {
        let call = ToolCall {
            id: "1".into(),
            name: "f".into(),
            arguments: Arguments::read("{\"a\":1}"),
            seal: Seal::Open,
        };
        let outcome = |status, text: &str| ToolOutcome {
            call_id: "1".into(),
            name: "f".into(),
            text: text.into(),
            status,
        };
        let mut asked = asking(ToolChoice::Auto);
        asked.messages = vec![
            Message::Assistant(vec![Part::Call(call)]).into(),
            Message::Results(vec![
                outcome(OutcomeStatus::Done, "\"}ok"),
                outcome(OutcomeStatus::Failed, "no"),
            ])
            .into(),
            Message::assistant("Done.").into(),
        ];
        let text = |message: &Message| -> String {
            let (Message::User(parts) | Message::Assistant(parts)) = message else { panic!("{message:?}") };
            let text =
                |part: &Part| if let Part::Text(text) = part { text.to_string() } else { panic!("{part:?}") };
            parts.iter().map(text).collect()
        };
        let rewritten = request(&asked);
        let texts: Vec<String> = rewritten.messages.iter().map(|message| text(message)).collect();
        assert_eq!(texts[0], r#"{"tool":"f","arguments":{"a":1}}"#);
        assert_eq!(texts[1], "{\"tool\":\"f\",\"result\":\"\\\"}ok\"}\n{\"tool\":\"f\",\"error\":\"no\"}");
        assert_eq!(texts[2], r#"{"answer":"Done."}"#);
        assert!(rewritten.tools.is_empty() && rewritten.schema.is_some());
    }

    #[test]
    fn the_tools_stand_behind_what_the_model_is_told() {
        let mut asked = asking(ToolChoice::Auto);
        asked.system = vec!["first".into()];
        let system = request(&asked).system;
        assert_eq!(&*system[0], "first");
        assert!(system[1].starts_with(RULES) && system[1].contains("\"tool\":\"g\""));
    }
}
