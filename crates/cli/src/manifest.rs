//! A manifest for programs: every key that is there, under its canonical name, in the order of the specification.

use metier_skill::{Context, Description, Manifest, Needs, Requires, ToolPattern, UserOnly, yaml};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The manifest as one JSON object. Keys that are not given are left out.
pub(crate) fn to_json(manifest: &Manifest) -> Value {
    let more = &manifest.more;
    let mut map = Fields(Map::new());
    map.put("name", Some(manifest.name.as_str()));
    map.put("title", manifest.title.as_deref());
    map.put("description", Some(manifest.description.text()));
    let is_derived = matches!(manifest.description, Description::Derived(_));
    map.put("description_derived", is_derived.then_some(true));
    map.put("when_to_use", manifest.when_to_use.as_ref().map(|text| &text.value));
    map.put("license", more.license.as_ref().map(|text| &text.value));
    map.put("compatibility", more.compatibility.as_ref().map(|text| &text.value));
    // As it is written, where that is more than the one text.
    let is_more = |raw: &&yaml::Value| !matches!(raw.kind, yaml::Kind::Scalar { .. });
    map.put("compatibility_raw", more.compatibility_raw.as_ref().filter(is_more));
    map.put("metadata", more.metadata.as_ref());
    map.put("version", manifest.version.as_ref().map(|text| &text.value));
    map.put("allowed_tools", more.allowed_tools.as_ref().map(|list| patterns(&list.value)));
    map.put("tools", more.tools.as_ref().map(|list| patterns(&list.value)));
    map.put("disallowed_tools", more.disallowed_tools.as_ref().map(|list| patterns(&list.value)));
    map.put("model", more.model.as_ref().map(|text| &text.value));
    map.put("effort", more.effort.as_ref().map(|text| &text.value));
    map.put("max_turns", more.max_turns.as_ref().map(|number| number.value));
    map.put("tags", some(&more.tags));
    map.put("context", context(&more.context));
    map.put("agent", more.agent.as_ref().map(|text| &text.value));
    map.put("background", more.background);
    map.put("argument_hint", more.argument_hint.as_ref().map(|text| &text.value));
    let arguments = more.arguments.iter().map(|argument| {
        json!({"name": argument.name, "description": argument.description, "default": argument.default})
    });
    map.put("arguments", some(&arguments.collect::<Vec<_>>()));
    map.put("user_invocable", (!manifest.user_invocable).then_some(false));
    let is_disabled = manifest.user_only == Some(UserOnly::Declared);
    map.put("disable_model_invocation", is_disabled.then_some(true));
    map.put("paths", some(&more.paths));
    map.put("hooks", more.hooks.as_ref());
    map.put("shell", more.shell.as_ref().map(|text| &text.value));
    map.put("requires", more.requires.as_ref().map(requires));
    map.put("needs", more.needs.as_ref().map(needs));
    let mut extra = Fields(Map::new());
    for (key, value) in &more.extra {
        extra.put(key, Some(value));
    }
    map.put("extra", (!extra.0.is_empty()).then_some(extra.0));
    Value::Object(map.0)
}

struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, key: &str, value: Option<impl Serialize>) {
        // Only a map with keys that are no text fails to convert, and there is none.
        if let Some(value) = value.and_then(|value| serde_json::to_value(value).ok()) {
            self.0.insert(key.to_owned(), value);
        }
    }
}

fn some<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

fn patterns(list: &[ToolPattern]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn context(context: &Context) -> Option<&str> {
    match context {
        Context::Inline => None,
        Context::Fork => Some("fork"),
        Context::Note(note) => Some(note),
    }
}

fn requires(requires: &Requires) -> Value {
    json!({
        "bins": requires.bins, "anyBins": requires.any_bins, "env": requires.env, "os": requires.os, "tools": requires.tools,
    })
}

fn needs(needs: &Needs) -> Value {
    json!({"hosts": needs.hosts, "write": needs.write, "env": needs.env, "seconds": needs.seconds})
}
