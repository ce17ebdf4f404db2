//! A skill's frontmatter as JSON, as the ADK surface returns it.

use metier_skill::{Context, Manifest, UserOnly};
use serde_json::{Map, Value, json};

/// The whole frontmatter under the names of the open standard, unknown keys included as they were written. What is not
/// given is left out.
///
/// The ADK drops what it does not know; its documents say that it is passed on, so it is.
pub fn frontmatter(manifest: &Manifest) -> Map<String, Value> {
    let more = &manifest.more;
    let mut map = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(key.to_owned(), value);
        }
    };
    let patterns =
        |list: &[metier_skill::ToolPattern]| json!(list.iter().map(ToString::to_string).collect::<Vec<_>>());
    let some = |list: &[String]| (!list.is_empty()).then(|| json!(list));
    put("name", Some(json!(manifest.name.as_str())));
    put("title", manifest.title.as_ref().map(|title| json!(title)));
    put("description", Some(json!(manifest.description.text())));
    put("when_to_use", manifest.when_to_use.as_ref().map(|text| json!(text.value)));
    put("license", more.license.as_ref().map(|text| json!(text.value)));
    put("compatibility", more.compatibility.as_ref().map(|text| json!(text.value)));
    put("metadata", more.metadata.as_ref().and_then(|metadata| serde_json::to_value(metadata).ok()));
    put("version", manifest.version.as_ref().map(|text| json!(text.value)));
    put("allowed-tools", more.allowed_tools.as_ref().map(|list| patterns(&list.value)));
    put("tools", more.tools.as_ref().map(|list| patterns(&list.value)));
    put("disallowed-tools", more.disallowed_tools.as_ref().map(|list| patterns(&list.value)));
    put("model", more.model.as_ref().map(|text| json!(text.value)));
    put("effort", more.effort.as_ref().map(|text| json!(text.value)));
    put("maxTurns", more.max_turns.as_ref().map(|number| json!(number.value)));
    put("tags", some(&more.tags));
    put(
        "context",
        match &more.context {
            Context::Inline => None,
            Context::Fork => Some(json!("fork")),
            Context::Note(note) => Some(json!(note)),
        },
    );
    put("agent", more.agent.as_ref().map(|text| json!(text.value)));
    put("background", more.background.map(|background| json!(background)));
    put("argument-hint", more.argument_hint.as_ref().map(|text| json!(text.value)));
    put("user-invocable", (!manifest.user_invocable).then_some(json!(false)));
    let arguments = more.arguments.iter().map(|argument| {
        json!({ "name": argument.name, "description": argument.description, "default": argument.default })
    });
    put("arguments", (!more.arguments.is_empty()).then(|| json!(arguments.collect::<Vec<_>>())));
    let is_disabled = manifest.user_only == Some(UserOnly::Declared);
    put("disable-model-invocation", is_disabled.then_some(json!(true)));
    put("paths", some(&more.paths));
    put("hooks", more.hooks.as_ref().and_then(|hooks| serde_json::to_value(hooks).ok()));
    put("shell", more.shell.as_ref().map(|text| json!(text.value)));
    let requires = more.requires.as_ref().map(|requires| {
        json!({
            "bins": requires.bins, "anyBins": requires.any_bins, "env": requires.env, "os": requires.os,
            "tools": requires.tools,
        })
    });
    put("requires", requires);
    for (key, value) in &more.extra {
        put(key, serde_json::to_value(value).ok());
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_come_along_as_they_are_written() {
        let text = "---\nname: x\ndescription: d\nallowed-tools: Read, Bash(git:*)\nmetadata:\n  a: 1\nowner: [ops, 2]\nshell: sh\nbackground: yes\narguments: [pr]\n---\nBody.\n";
        let parsed = metier_skill::parse_whole(text.as_bytes(), Some("x"));
        let found = Value::Object(frontmatter(&parsed.document.unwrap().manifest)).to_string();
        let start = r#"{"name":"x","description":"d","metadata":{"a":"#;
        assert!(found.starts_with(start), "{found}");
        assert!(found.contains(r#""allowed-tools":["Read","Bash(git:*)"]"#), "{found}");
        assert!(found.contains(r#""owner":["ops","#), "{found}");
        assert!(found.contains(r#""shell":"sh""#) && found.contains(r#""background":true"#), "{found}");
        assert!(found.contains(r#""arguments":[{"name":"pr","#), "{found}");
    }
}
