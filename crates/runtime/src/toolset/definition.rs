//! A tool as a model is told of it.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::form::{Field, Form, Kind, Need};

/// A tool as a model is told of it. Its bytes are settled when a session starts and stay as they are: they stand before
/// everything else in a request, and a prompt cache holds only as long as they do.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON Schema of its input.
    pub schema: Value,
    sight: Sight,
}

/// Whether a tool only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It starts nothing, changes nothing and reaches nobody.
    Looks,
    /// It does something.
    Acts,
    /// It does something, with somebody outside of this machine.
    Reaches,
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
pub struct NoFormat(String);

impl FromStr for ToolFormat {
    type Err = NoFormat;

    fn from_str(text: &str) -> Result<Self, NoFormat> {
        match text {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "mcp" => Ok(Self::Mcp),
            _ => Err(NoFormat(text.chars().take(64).collect())),
        }
    }
}

impl Definition {
    /// `names` are the skills that the schema names; without them any text is taken.
    pub fn new(spec: &'static Form, sight: Sight, names: Option<&[&str]>) -> Self {
        let mut properties = Map::new();
        for field in spec.fields {
            properties.insert(field.name.to_owned(), property(field, names));
        }
        let required: Vec<&str> =
            spec.fields.iter().filter(|field| field.need == Need::Required).map(|field| field.name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        Self { name: spec.name, description: spec.description, schema, sight }
    }

    /// Whether it only looks: it starts nothing and changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.sight == Sight::Looks
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
                "annotations": { "readOnlyHint": self.is_read_only(), "openWorldHint": self.sight == Sight::Reaches },
            }),
        }
    }
}

fn property(field: &Field, names: Option<&[&str]>) -> Value {
    let mut property = match field.kind {
        Kind::Skill => match names {
            Some(names) => json!({ "type": "string", "enum": names }),
            None => json!({ "type": "string" }),
        },
        Kind::Text | Kind::Bytes => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean", "default": false }),
        Kind::Choice(words) => json!({ "type": "string", "enum": words, "default": words.first() }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Words => json!({ "type": "string", "default": "" }),
        Kind::Options => json!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
                { "type": "object" },
            ],
        }),
        Kind::Number { least, default } => {
            json!({ "type": "integer", "minimum": least, "default": default })
        }
        Kind::References => json!({
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
    use super::super::spec::spec;
    use super::super::surface::Surface;
    use super::*;

    #[test]
    fn a_definition_has_the_shape_of_its_reader() {
        let list = Definition::new(spec(Surface::Adk, "load_skill").unwrap(), Sight::Acts, Some(&["a", "b"]));
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
        let read = Definition::new(spec(Surface::Canonical, "skill_read_file").unwrap(), Sight::Looks, None);
        assert_eq!(read.schema["properties"]["skill_name"].get("enum"), None);
        assert_eq!(read.schema["required"], json!(["skill_name", "file_path"]));
        assert!(read.is_read_only());
    }
}
