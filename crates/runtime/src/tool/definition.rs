//! A tool as a model is told of it.

use std::borrow::Cow;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::form::{Field, FieldKind, Form};

/// A tool as a model is told of it. Its bytes are settled when a session starts and stay as they are: they stand before
/// everything else in a request, and a prompt cache holds only as long as they do.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it does.
    pub description: Cow<'static, str>,
    /// The JSON Schema of its input.
    pub schema: Value,
    /// What a call does to others of the same turn.
    pub effect: SideEffect,
}

/// What a call does, as far as others of the same turn are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideEffect {
    /// Starts nothing, changes nothing and reaches no one. All such calls of a turn may run in parallel.
    ReadOnly,
    /// Changes a file or a record.
    Writes,
    /// Starts a process, contained.
    Runs,
    /// Reaches someone outside of this machine.
    Network,
    /// Waits for a person.
    Asks,
}

/// Who reads a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolFormat {
    /// Chat completions of `OpenAI` and of everybody who follows them.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// The Model Context Protocol.
    Mcp,
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format `{0}`; there are openai, anthropic and mcp")]
pub struct ParseFormatError(String);

impl FromStr for ToolFormat {
    type Err = ParseFormatError;

    fn from_str(text: &str) -> Result<Self, ParseFormatError> {
        match text {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "mcp" => Ok(Self::Mcp),
            _ => Err(ParseFormatError(text.chars().take(64).collect())),
        }
    }
}

impl Definition {
    /// `names` are the skills that the schema names; without them any text is taken.
    pub fn new(spec: &'static Form, effect: SideEffect, names: Option<&[&str]>) -> Self {
        let mut properties = Map::new();
        for field in spec.fields {
            properties.insert(field.name.to_owned(), property(field, names));
        }
        let required = spec.fields.iter().filter(|field| field.is_required);
        let required: Vec<&str> = required.map(|field| field.name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        Self { name: spec.name.into(), description: spec.description.into(), schema, effect }
    }

    /// Whether it only looks: it starts nothing and changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.effect == SideEffect::ReadOnly
    }

    /// The definition for one reader.
    pub fn render(&self, format: ToolFormat) -> Value {
        let Self { name, description, schema, .. } = self;
        match format {
            ToolFormat::OpenAi => json!({
                "type": "function",
                "function": { "name": name, "description": description, "parameters": schema },
            }),
            ToolFormat::Anthropic => {
                json!({ "name": name, "description": description, "input_schema": schema })
            }
            // What runs is contained: it reaches nobody unless the user says so. Hence no open world, but for tools that are
            // there to reach somebody.
            ToolFormat::Mcp => json!({
                "name": name,
                "description": description,
                "inputSchema": schema,
                "annotations": { "readOnlyHint": self.is_read_only(), "openWorldHint": self.effect == SideEffect::Network },
            }),
        }
    }
}

fn property(field: &Field, names: Option<&[&str]>) -> Value {
    let mut property = match field.kind {
        FieldKind::Skill => match names {
            Some(names) => json!({ "type": "string", "enum": names }),
            None => json!({ "type": "string" }),
        },
        FieldKind::Text | FieldKind::Bytes => json!({ "type": "string" }),
        FieldKind::Flag => json!({ "type": "boolean", "default": false }),
        FieldKind::Choice(words) => json!({ "type": "string", "enum": words, "default": words.first() }),
        FieldKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        FieldKind::Words => json!({ "type": "string", "default": "" }),
        FieldKind::Options => json!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
                { "type": "object" },
            ],
        }),
        FieldKind::Number { least, default } => {
            json!({ "type": "integer", "minimum": least, "default": default })
        }
        FieldKind::References => json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "The file: references/api.md." },
                    "reason": { "type": "string", "description": "Why it is needed." },
                    "offset": {
                        "type": "integer", "minimum": 0, "default": 0,
                        "description": "The byte to begin at, for a file that comes in pages.",
                    },
                },
                "required": ["path", "reason"],
            },
        }),
    };
    property["description"] = json!(field.description);
    property
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::{Surface, spec};

    #[test]
    fn a_definition_has_the_shape_of_its_reader() {
        let list =
            Definition::new(spec(Surface::Adk, "load_skill").unwrap(), SideEffect::Runs, Some(&["a", "b"]));
        let schema = r#"{"type":"object","properties":{"name":{"type":"string","enum":["a","b"],"description":"The skill."}},"required":["name"],"additionalProperties":false}"#;
        let description = "Loads the instructions of a skill, to be carried out.";
        let check = |format, expect: String| assert_eq!(list.render(format).to_string(), expect);
        check(
            ToolFormat::OpenAi,
            format!(
                r#"{{"type":"function","function":{{"name":"load_skill","description":"{description}","parameters":{schema}}}}}"#
            ),
        );
        check(
            ToolFormat::Anthropic,
            format!(r#"{{"name":"load_skill","description":"{description}","input_schema":{schema}}}"#),
        );
        check(
            ToolFormat::Mcp,
            format!(
                r#"{{"name":"load_skill","description":"{description}","inputSchema":{schema},"annotations":{{"readOnlyHint":false,"openWorldHint":false}}}}"#
            ),
        );
    }

    #[test]
    fn without_names_any_text_is_taken() {
        let read =
            Definition::new(spec(Surface::Canonical, "skill_read_file").unwrap(), SideEffect::ReadOnly, None);
        assert_eq!(read.schema["properties"]["skill_name"].get("enum"), None);
        assert_eq!(read.schema["required"], json!(["skill_name", "file_path"]));
        assert!(read.is_read_only());
    }
}
