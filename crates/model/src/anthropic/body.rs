//! The body of a message, with the marks that say where its cache may end.
//!
//! There are four marks: behind the tools, behind the stable part of the system's text, and behind the last two messages
//! that are not the model's. The last one lets the next turn find this one; the one before it is where this turn finds the
//! last one, also when a turn added more blocks than the provider looks back over. A mark moves on with the conversation,
//! and nothing else of the earlier bytes changes with it: contents are always lists of blocks, never the short form, so a
//! mark is one key more at the end of one block.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{DEFAULT_MAX_OUTPUT, Effort, Message, OutcomeStatus, Part, Protocol, Request, Seal, ToolChoice};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Content<'a>>,
    messages: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a Value,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Clone, Copy, Serialize)]
struct Mark {
    r#type: &'static str,
}

/// Kept for five minutes and renewed by each use, which is what a conversation needs.
const MARK: Mark = Mark { r#type: "ephemeral" };

#[derive(Serialize)]
struct Line<'a> {
    role: &'static str,
    content: Vec<Content<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "is_done")]
        is_error: OutcomeStatusFlag,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
}

/// `true` on the wire when a call failed; left out when it worked.
struct OutcomeStatusFlag(OutcomeStatus);

impl Serialize for OutcomeStatusFlag {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(self.0 == OutcomeStatus::Failed)
    }
}

fn is_done(flag: &OutcomeStatusFlag) -> bool {
    flag.0 == OutcomeStatus::Done
}

pub(crate) fn body(model: &str, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let mut messages = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        if let Some(line) = line(message)? {
            messages.push(line);
        }
    }
    let others = messages.iter_mut().rev().filter(|line| line.role == "user").take(2);
    others.filter_map(|line| line.content.last_mut()).for_each(Content::mark);

    let max_output = request.max_output.unwrap_or(DEFAULT_MAX_OUTPUT);
    let format =
        request.schema.as_ref().map(|schema| Format { r#type: "json_schema", schema: &schema.schema });
    let word = request.effort.and_then(|effort| match effort {
        Effort::Tokens(_) => None,
        effort => Some(effort.word()),
    });
    let output_config = (format.is_some() || word.is_some()).then_some(OutputConfig { effort: word, format });
    serde_json::to_vec(&Body {
        model,
        max_tokens: match request.effort {
            // Thoughts are counted into the output, and the limit must be above them.
            Some(Effort::Tokens(tokens)) => max_output.saturating_add(tokens),
            _ => max_output,
        },
        stream: true,
        // With thoughts the provider takes no other temperature than its own.
        temperature: request.temperature.filter(|_| request.effort.is_none()),
        thinking: thinking(request),
        output_config,
        tool_choice: choice(request),
        tools: tools(request),
        system: system(request),
        messages,
    })
}

/// The provider refuses thoughts before a call that has to be made.
fn thinking(request: &Request) -> Option<Value> {
    if matches!(request.choice, ToolChoice::Any | ToolChoice::Tool(_)) && !request.tools.is_empty() {
        return None;
    }
    request.effort.map(|effort| match effort {
        Effort::Tokens(tokens) => json!({ "type": "enabled", "budget_tokens": tokens }),
        _ => json!({ "type": "adaptive" }),
    })
}

fn tools(request: &Request) -> Vec<Tool<'_>> {
    let mut tools: Vec<Tool<'_>> = request
        .tools
        .iter()
        .map(|tool| Tool {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.parameters,
            cache_control: None,
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(MARK);
    }
    tools
}

fn system(request: &Request) -> Vec<Content<'_>> {
    let texts = request.system.iter().filter(|text| !text.trim().is_empty());
    let mut contents: Vec<_> = texts.map(|text| Content::Text { text, cache_control: None }).collect();
    if let Some(last) = contents.last_mut() {
        last.mark();
    }
    contents
}

fn choice(request: &Request) -> Option<Value> {
    match &request.choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({ "type": "none" })),
        ToolChoice::Any => Some(json!({ "type": "any" })),
        ToolChoice::Tool(name) => Some(json!({ "type": "tool", "name": &**name })),
    }
}

/// A message on the wire. A message of nothing is none: the provider refuses empty contents.
fn line(message: &Message) -> Result<Option<Line<'_>>, serde_json::Error> {
    let (role, content) = match message {
        Message::User(parts) => ("user", contents(parts)?),
        Message::Assistant(parts) => ("assistant", contents(parts)?),
        Message::Results(outcomes) => {
            let results = outcomes.iter().map(|outcome| Content::ToolResult {
                tool_use_id: id(&outcome.call_id),
                content: &outcome.text,
                is_error: OutcomeStatusFlag(outcome.status),
                cache_control: None,
            });
            ("user", results.collect())
        }
    };
    Ok((!content.is_empty()).then_some(Line { role, content }))
}

fn contents(parts: &[Part]) -> Result<Vec<Content<'_>>, serde_json::Error> {
    let mut contents = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            // The provider refuses blocks of nothing and of blanks.
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => contents.push(Content::Text { text, cache_control: None }),
            Part::Reasoning(reasoning) => match &reasoning.seal {
                Seal::Signed { by: Protocol::Anthropic, signature } => {
                    contents.push(Content::Thinking { thinking: &reasoning.text, signature });
                }
                Seal::Hidden { by: Protocol::Anthropic, data } => {
                    contents.push(Content::RedactedThinking { data });
                }
                _ => {}
            },
            Part::Call(call) => contents.push(Content::ToolUse {
                id: id(&call.id),
                name: &call.name,
                input: RawValue::from_string(call.arguments.sendable().as_ref().to_owned())?,
            }),
        }
    }
    Ok(contents)
}

impl Content<'_> {
    fn mark(&mut self) {
        if let Self::Text { cache_control, .. } | Self::ToolResult { cache_control, .. } = self {
            *cache_control = Some(MARK);
        }
    }
}

/// The provider takes letters, digits, `_` and `-` in ids; a call of another provider may have others.
fn id(id: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect())
}
