//! Rules from the files of other clients, taken as they are.

mod tree;

use super::{Layer, List, Source};
use crate::mode::Mode;
use metier_diagnostic::{Severity, visible};
use metier_skill::Tool;
use tree::Tree;

/// The rules of an `.agents/config.json`: `{"permissions": {"allow": […], "ask": […], "deny": […], "mode": "…"}}`.
pub fn from_agents_json(text: &str, source: Source) -> Layer {
    let mut layer = Layer::new(source);
    permissions(&mut layer, text, |layer, key, value| match (key, value) {
        ("mode", Tree::Text(mode)) if mode == "acceptEdits" => edits_still_ask(layer, "permissions.mode"),
        ("mode", Tree::Text(mode)) => layer.set_mode("permissions.mode", mode),
        ("mode", other) => layer.no_mode("permissions.mode", &not_a_text(other)),
        (key, value) => list(layer, key, value, str::to_owned),
    });
    layer
}

/// The rules of a `.claude/settings.json`: `permissions` with `allow`, `ask`, `deny` and `defaultMode`. Its other keys are
/// not about permissions and are left alone.
pub fn from_claude_settings(text: &str, source: Source) -> Layer {
    let mut layer = Layer::new(source);
    permissions(&mut layer, text, |layer, key, value| match (key, value) {
        ("defaultMode", Tree::Text(mode)) => claude_mode(layer, mode),
        ("defaultMode", other) => layer.no_mode("permissions.defaultMode", &not_a_text(other)),
        // Whether another mode may be chosen, and which folders beside the project are read, is not for rules to say.
        ("disableBypassPermissionsMode" | "additionalDirectories", _) => {
            layer.report(
                &format!("permissions.{key}"),
                Severity::Info,
                "it has no effect in metier".to_owned(),
            );
        }
        (key, value) => list(layer, key, value, project_path),
    });
    layer
}

/// Walks through every `permissions` of a file; a key that is there twice counts twice, since nobody knows which one
/// was meant and both can only be heard together.
fn permissions(layer: &mut Layer, text: &str, mut each: impl FnMut(&mut Layer, &str, &Tree)) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree: Tree = match serde_json::from_str(text) {
        Ok(tree) => tree,
        Err(error) => return layer.lost("file", &format!("this is not JSON: {error}")),
    };
    let Tree::Map(entries) = &tree else {
        return layer.lost("file", "this is not a JSON object");
    };
    for (_, value) in entries.iter().filter(|(key, _)| key == "permissions") {
        match value {
            Tree::Map(entries) => entries.iter().for_each(|(key, value)| each(layer, key, value)),
            Tree::Null => {}
            other => layer
                .lost("permissions", &format!("`permissions` is {} and should be an object", other.kind())),
        }
    }
}

fn list(layer: &mut Layer, key: &str, value: &Tree, rewrite: fn(&str) -> String) {
    let Some(list) = [List::Deny, List::Ask, List::Allow].into_iter().find(|list| list.word() == key) else {
        let key = visible(key);
        let message = format!("metier knows no `{key}` here; it has no effect");
        return layer.report(&format!("permissions.{key}"), Severity::Warning, message);
    };
    let single;
    let items = match value {
        Tree::List(items) => items.as_slice(),
        Tree::Null => &[],
        // One text is a list of one; anything else is not a rule, and is reported as the one entry it is.
        other => {
            single = [other.clone()];
            &single
        }
    };
    for (at, item) in items.iter().enumerate() {
        let entry = format!("permissions.{key}[{at}]");
        match item {
            Tree::Text(text) => layer.add(list, &entry, &rewrite(text)),
            other => not_a_rule(layer, list, &entry, other),
        }
    }
}

fn not_a_rule(layer: &mut Layer, list: List, entry: &str, value: &Tree) {
    match list {
        List::Deny => layer.lost(entry, &not_a_text(value)),
        List::Ask => layer.add(list, entry, ""),
        List::Allow => {
            layer.report(entry, Severity::Error, format!("{}; it allows nothing", not_a_text(value)));
        }
    }
}

fn not_a_text(value: &Tree) -> String {
    format!("the entry is {} and should be a text", value.kind())
}

/// Claude Code's modes by the ones that let no more pass.
fn claude_mode(layer: &mut Layer, mode: &str) {
    const ENTRY: &str = "permissions.defaultMode";
    match mode {
        "default" | "auto" => layer.mode = Some(Mode::Ask),
        "plan" => layer.mode = Some(Mode::Plan),
        "dontAsk" => layer.mode = Some(Mode::Allow),
        "bypassPermissions" => layer.mode = Some(Mode::Yolo),
        "acceptEdits" => edits_still_ask(layer, ENTRY),
        other => {
            let other = visible(other);
            layer.no_mode(ENTRY, &format!("`{other}` is no mode that metier knows; it counts as `strict`"));
        }
    }
}

fn edits_still_ask(layer: &mut Layer, entry: &str) {
    layer.mode = Some(Mode::Ask);
    let message = "`acceptEdits` counts as `ask`; allow `Write` and `Edit` to have edits pass".to_owned();
    layer.report(entry, Severity::Info, message);
}

/// Claude Code writes a path from the settings' own folder with one slash and one from the root with two.
fn project_path(text: &str) -> String {
    let tool = text.split('(').next().unwrap_or_default();
    let is_file = Tool::named(tool)
        .is_some_and(|tool| matches!(tool, Tool::Read | Tool::Write | Tool::Edit | Tool::Grep | Tool::Glob));
    match text.split_once("(/") {
        Some((head, rest)) if is_file && head == tool && !rest.starts_with('/') => format!("{head}({rest}"),
        _ => text.to_owned(),
    }
}
