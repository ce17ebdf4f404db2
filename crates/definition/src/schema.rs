//! JSON Schemas of definitions, for editors, from the same tables that the parsers use.

use serde_json::{Map, Value, json};

use crate::DefinitionFormat;
use crate::key::{CLAUDE_KEYS, KEYS, Key, LIMITS, SETTINGS, Setting};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The JSON Schema of a format of file: of its frontmatter, or of the whole where it is YAML.
pub fn schema(format: DefinitionFormat) -> Value {
    match format {
        DefinitionFormat::Crew => crew(),
        DefinitionFormat::Claude => markdown("Frontmatter of a file in .claude/agents", CLAUDE_KEYS),
        DefinitionFormat::Agent | DefinitionFormat::AgentMd => markdown("Frontmatter of an agent", KEYS),
    }
}

fn markdown(title: &str, table: &[(&str, Key)]) -> Value {
    let properties: Map<String, Value> =
        table.iter().map(|(name, key)| ((*name).to_owned(), property(*key))).collect();
    json!({
        "$schema": DIALECT,
        "title": title,
        "type": "object",
        "properties": properties,
        "required": ["name"],
        "additionalProperties": true,
    })
}

fn property(key: Key) -> Value {
    let text = |what: &str| json!({"type": "string", "description": what});
    let list =
        |what: &str| json!({"type": ["string", "array"], "items": {"type": "string"}, "description": what});
    let count = |what: &str| json!({"type": ["integer", "null"], "minimum": 1, "description": what});
    match key {
        Key::Name => text("What the agent is called."),
        Key::Description => text("What it is for."),
        Key::Model => json!({
            "type": ["string", "object"],
            "properties": {
                "provider": {"type": "string"},
                "name": {"type": "string"},
                "base_url": {"type": "string", "description": "Has no effect here: addresses are the user's."},
                "url": {"type": "string", "description": "Has no effect here: addresses are the user's."},
            },
            "description": "A name of `[models]`, `provider/model`, or `inherit`.",
        }),
        Key::Effort => text("How much the model thinks: `low`, `medium` or `high`."),
        Key::Skills => list("The only skills it sees, such as `analyze-pr@^1.2`; none for an empty list."),
        Key::Tools => list("The only tools it has, such as `Read` or `Bash(git:*)`."),
        Key::CustomTools => list("Modules of another program; they are named and not loaded."),
        Key::DisallowedTools => list("Tools that it does not have."),
        Key::Servers => json!({
            "type": ["string", "array", "object"],
            "description": "The MCP servers whose tools it has.",
        }),
        Key::Limits => settings(LIMITS, "What it may use up for one message."),
        Key::Settings => settings(SETTINGS, "The same in agentmd's words."),
        Key::Disclosure => json!({
            "enum": ["markdown", "xml", "eager", "handoff"],
            "description": "How its skills come to it.",
        }),
        Key::Memory => json!({"type": ["boolean", "string"], "description": "Whether it remembers."}),
        Key::Mode => json!({"enum": ["plan", "strict", "ask"], "description": "How much is asked."}),
        Key::PermissionMode => text("`plan` holds; what asks less than usual does not."),
        Key::MaxTurns => count("How often the model is asked for one message."),
        Key::Inert(why) => json!({"description": format!("Has no effect here: {why}.")}),
    }
}

fn settings(table: &[(&str, Setting)], what: &str) -> Value {
    let property = |setting: &Setting| match setting {
        Setting::Money => {
            json!({"type": ["number", "string", "null"], "description": "At most so much money."})
        }
        Setting::Inert(why) => json!({"description": format!("Has no effect here: {why}.")}),
        Setting::Turns | Setting::Calls | Setting::Tokens | Setting::Seconds => {
            json!({"type": ["integer", "null"], "minimum": 1})
        }
    };
    let properties: Map<String, Value> =
        table.iter().map(|(name, setting)| ((*name).to_owned(), property(setting))).collect();
    json!({"type": "object", "properties": properties, "description": what})
}

fn crew() -> Value {
    let items = |properties: &Value| {
        let required: Vec<&String> =
            properties.as_object().into_iter().flatten().map(|(key, _)| key).collect();
        json!({
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        })
    };
    let (text, path) = (json!({"type": "string", "minLength": 1}), json!({"type": ["string", "null"]}));
    let role = json!({
        "type": ["object", "null"],
        "properties": {
            "instructionsPath": path,
            "codeWorkerPath": path,
            "mcp_servers": items(&json!({"filePath": text})),
            "skills": items(&json!({"name": text, "folderPath": text})),
        },
        "additionalProperties": false,
    });
    json!({
        "$schema": DIALECT,
        "title": "A crew: *.skilled_crew.yaml",
        "type": "object",
        "properties": {
            "version": {"type": "string", "default": "1.0"},
            "id": {"type": "string", "default": "skillet-id-unspecified"},
            "commands": items(&json!({"name": text, "filePath": text})),
            "entryPointAgent": {"type": ["string", "null"], "default": null},
            "agents": {"type": "object", "minProperties": 1, "additionalProperties": role},
            "script_runtime": {
                "type": ["object", "null"],
                "properties": {"kind": {"enum": ["local", "container"]}, "dockerfile": path},
                "additionalProperties": false,
            },
        },
        "required": ["agents"],
        "additionalProperties": false,
    })
}
