//! The MCP servers that a file of a project describes.

use super::entry::TrustEntry;
use super::item::{Detail, TrustItem};
use serde_json::Value;

/// `{"mcpServers": {NAME: {"command", "args"} or {"url"}}}`.
pub(super) fn servers(place: &str, file: &Value) -> Vec<TrustItem> {
    let servers = file.get("mcpServers").or_else(|| file.get("servers")).and_then(Value::as_object);
    servers.into_iter().flatten().map(|(name, settings)| server(place, name, settings)).collect()
}

/// The same, also without a name for the whole, as agentmd has it.
pub(super) fn bare_servers(place: &str, file: &Value) -> Vec<TrustItem> {
    let servers = file.get("mcpServers").unwrap_or(file).as_object();
    servers.into_iter().flatten().map(|(name, settings)| server(place, name, settings)).collect()
}

/// The file of one server, as a crew names them.
pub(super) fn server_file(place: &str, file: &Value) -> Vec<TrustItem> {
    let name = file.get("name").and_then(Value::as_str).unwrap_or_default();
    vec![server(place, name, file)]
}

fn server(place: &str, name: &str, settings: &Value) -> TrustItem {
    TrustItem::new(TrustEntry::server(place, name, settings), details(settings))
}

/// Everything that a server is started or connected with. A word of a command is never cut: what is not shown would be
/// agreed to unseen.
pub(super) fn details(settings: &Value) -> Vec<Detail> {
    let mut details = Vec::new();
    let mut line = |key: &str, words: &dyn Fn(&str) -> String| match settings.get(key) {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            details.extend(items.iter().map(|item| Detail::filled(words(&text(item)))));
        }
        Some(Value::Object(map)) => {
            let named = map.iter().map(|(name, value)| format!("{name}: {}", text(value)));
            details.extend(named.map(|one| Detail::filled(words(&one))));
        }
        Some(value) => details.push(Detail::filled(words(&text(value)))),
    };
    line("command", &|word| format!("starts {word}"));
    line("args", &|word| format!("  with {word}"));
    for key in ["url", "serverUrl", "httpUrl"] {
        line(key, &|url| format!("connects to {url}"));
    }
    line("env", &|one| format!("variable {one}"));
    line("headers", &|one| format!("header {one}"));
    line("hosts", &|host| format!("may reach {host}"));
    line("cwd", &|folder| format!("starts in {folder}"));
    if details.is_empty() {
        details.push(Detail::new("names neither a command nor an address"));
    }
    if settings.get("disabled").and_then(Value::as_bool) == Some(true) {
        details.push(Detail::new("is disabled"));
    }
    details
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_variable_header_and_host_is_a_line() {
        let long = "x".repeat(500);
        let settings = serde_json::json!({
            "command": "python3", "args": ["-c", long], "cwd": "tools", "hosts": ["*"],
            "env": {"K": "${AWS_SECRET_ACCESS_KEY}"}, "headers": {"X": "Bearer ${A}${B:-c}"},
        });
        let details = details(&settings);
        let lines: Vec<&str> = details.iter().map(|detail| detail.text.as_str()).collect();
        let with = format!("  with {long}");
        let expect = [
            "starts python3",
            "  with -c",
            &with,
            "variable K: ${AWS_SECRET_ACCESS_KEY}",
            "header X: Bearer ${A}${B:-c}",
            "may reach *",
            "starts in tools",
        ];
        assert_eq!(lines, expect);
        let names: Vec<&str> =
            details.iter().flat_map(|detail| &detail.variables).map(String::as_str).collect();
        assert_eq!(names, ["AWS_SECRET_ACCESS_KEY", "A", "B"]);
    }
}
