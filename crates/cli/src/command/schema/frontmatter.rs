//! The JSON Schema of a SKILL.md's frontmatter, for editors. It is what is good style; metier loads much more than that.

use metier_skill::{KeyType, MAX_COMPATIBILITY, MAX_DESCRIPTION, MAX_NAME, ManifestKey, yaml};
use serde_json::{Map, Value, json};

pub(super) fn schema() -> Value {
    let properties: Map<String, Value> = ManifestKey::ALL
        .iter()
        .map(|key| {
            let mut property = type_schema(key.takes);
            property["description"] = json!(key.summary);
            property["examples"] = json!([yaml::parse(key.example, 0).ok().flatten()]);
            (key.name.to_owned(), property)
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Frontmatter of a SKILL.md",
        "type": "object",
        "properties": properties,
        "required": ["name", "description"],
        "additionalProperties": true,
    })
}

fn type_schema(takes: KeyType) -> Value {
    match takes {
        KeyType::Text => json!({"type": "string"}),
        KeyType::TextOrNumber => json!({"type": ["string", "number"]}),
        KeyType::Boolean => json!({"type": "boolean"}),
        KeyType::Count => json!({"type": "integer", "minimum": 1}),
        KeyType::List | KeyType::Tools => json!({"type": ["string", "array"], "items": {"type": "string"}}),
        KeyType::Requires => json!({}),
        KeyType::Map => json!({"type": "object"}),
        KeyType::Compatibility => {
            json!({"type": ["string", "array", "object"], "maxLength": MAX_COMPATIBILITY})
        }
        KeyType::Name => json!({
            "type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
        }),
        KeyType::Description => json!({"type": "string", "minLength": 1, "maxLength": MAX_DESCRIPTION}),
        KeyType::Arguments => json!({
            "type": ["string", "array"],
            "items": {
                "type": ["string", "object"],
                "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "default": {"type": "string"}},
                "required": ["name"],
            },
        }),
    }
}
