//! The JSON Schema of a SKILL.md's frontmatter, for editors. It is what is good style; metier loads much more than that.

use serde_json::{Map, Value, json};

/// What a key takes.
#[derive(Clone, Copy)]
enum Takes {
    Text,
    TextOrNumber,
    Boolean,
    Count,
    List,
    Any,
    Map,
    Compatibility,
    Arguments,
    Name,
    Description,
}

/// Every key that metier acts on, in the order in which people write them.
const KEYS: &[(&str, Takes, &str)] = &[
    ("name", Takes::Name, "What the skill is called; the same as its folder."),
    ("description", Takes::Description, "What it does and when to use it. This is what a model chooses by."),
    ("when_to_use", Takes::Text, "More about when to use it; shown behind the description."),
    ("license", Takes::Text, "The licence of the skill."),
    (
        "compatibility",
        Takes::Compatibility,
        "What it needs around it, for people. Never decides whether it loads.",
    ),
    ("metadata", Takes::Map, "Anything else; `metadata.version` is the version where `version` is absent."),
    ("version", Takes::TextOrNumber, "The version; compared as a semantic version where it is one."),
    ("allowed-tools", Takes::List, "The tools the skill uses, such as `Read Bash(git:*)`."),
    ("tools", Takes::List, "The only tools that may be called while the skill is active."),
    ("disallowed-tools", Takes::List, "Tools that are taken away while the skill is active."),
    ("model", Takes::Text, "The model for this skill: an alias, `provider/model`, or `inherit`."),
    ("effort", Takes::Text, "How hard the model should think."),
    ("maxTurns", Takes::Count, "The most turns for this skill."),
    ("tags", Takes::List, "Labels for memory records and activity entries."),
    ("context", Takes::Text, "`inline` (the default), `fork`, or a note that is shown on activation."),
    ("agent", Takes::Text, "Which agent definition runs a fork."),
    ("background", Takes::Boolean, "Whether the parent goes on while a fork runs."),
    ("argument-hint", Takes::Text, "What to write behind the name, such as `\"[pr-number]\"`."),
    ("arguments", Takes::Arguments, "Names of the arguments, used as `$name` in the body."),
    ("user-invocable", Takes::Boolean, "Whether the user can start it as `/name`."),
    ("disable-model-invocation", Takes::Boolean, "Whether only the user can start it."),
    ("paths", Takes::List, "Globs; the skill is offered only when the work touches a matching file."),
    ("hooks", Takes::Map, "Commands that run while the skill is active, for a trusted skill only."),
    ("shell", Takes::Text, "The shell for injected commands."),
    ("requires", Takes::Any, "What must be there: `bins`, `anyBins`, `env`, `os`, `tools`."),
];

pub(super) fn schema() -> Value {
    let properties: Map<String, Value> = KEYS
        .iter()
        .map(|(key, takes, summary)| {
            let mut property = takes.schema();
            if let Some(property) = property.as_object_mut() {
                property.insert("description".to_owned(), json!(summary));
            }
            ((*key).to_owned(), property)
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

impl Takes {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::TextOrNumber => json!({"type": ["string", "number"]}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Count => json!({"type": "integer", "minimum": 1}),
            Self::List => json!({"type": ["string", "array"], "items": {"type": "string"}}),
            Self::Any => json!({}),
            Self::Map => json!({"type": "object"}),
            Self::Compatibility => json!({"type": ["string", "array", "object"], "maxLength": 500}),
            Self::Name => {
                json!({"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"})
            }
            Self::Description => json!({"type": "string", "minLength": 1, "maxLength": 1024}),
            Self::Arguments => json!({
                "type": ["string", "array"],
                "items": {
                    "type": ["string", "object"],
                    "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "default": {"type": "string"}},
                    "required": ["name"],
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_schema_is_one_the_parser_knows() {
        for (key, ..) in KEYS {
            let text = format!("---\n{key}:\n---\nbody\n");
            let parsed = metier_skill::parse(text.as_bytes(), Some("x"));
            assert!(parsed.diagnostics.iter().all(|found| found.code.name() != "unknown-key"), "{key}");
        }
    }
}
