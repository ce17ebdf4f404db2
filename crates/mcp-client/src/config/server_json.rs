//! Server settings in JSON, as in `.mcp.json` and the files of other clients.

use std::collections::BTreeMap;

use metier_catalog::{McpServerConfig, McpTransport, one_line};
use serde_json::{Map, Value};

/// Parses the settings of a server. Keys of other clients are ignored.
pub(super) fn parse_server(value: &Value) -> Result<McpServerConfig, String> {
    let server = value.as_object().ok_or("it is not an object")?;
    let wrong = |key: &str, kind: &str| format!("its `{key}` is not {kind}");
    let text = |key: &str| match server.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(key, "a string")),
    };
    let texts = |key: &str| -> Result<Vec<String>, String> {
        let Some(list) = server.get(key) else { return Ok(Vec::new()) };
        let list = list.as_array().ok_or_else(|| wrong(key, "a list of strings"))?;
        list.iter()
            .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "a list of strings")))
            .collect()
    };
    let map = |key: &str| -> Result<BTreeMap<String, String>, String> {
        let none = Map::new();
        let map = match server.get(key) {
            None | Some(Value::Null) => &none,
            Some(map) => map.as_object().ok_or_else(|| wrong(key, "an object of strings"))?,
        };
        let one = |(name, value): (&String, &Value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
            _ => Err(wrong(key, "an object of strings")),
        };
        map.iter().map(one).collect()
    };
    let transport = match text("type")?.as_deref() {
        None => None,
        Some("stdio") => Some(McpTransport::Stdio),
        Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => Some(McpTransport::Http),
        Some("sse") => Some(McpTransport::Sse),
        Some(other) => return Err(format!("unknown type `{}`", one_line(other, 40))),
    };
    if server.contains_key("write") {
        // The author of this file, or of an agent's, is not the user who would have to approve it.
        return Err(
            "`write` is only allowed in `[mcp.NAME]` of your own configuration; remove it here".to_owned()
        );
    }
    let url = text("url")?.or(text("serverUrl")?).or(text("httpUrl")?);
    Ok(McpServerConfig {
        transport,
        command: text("command")?,
        args: texts("args")?,
        env: map("env")?,
        cwd: text("cwd")?,
        hosts: texts("hosts")?,
        write: Vec::new(),
        url,
        headers: map("headers")?,
        disabled: server.get("disabled").and_then(Value::as_bool).unwrap_or_default(),
        aliases: BTreeMap::new(),
    })
}

/// The byte offset of a line and column, both 1-based.
pub(super) fn offset(source: &str, line: usize, column: usize) -> usize {
    let before: usize = source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (before + column.saturating_sub(1)).min(source.len());
    source.floor_char_boundary(at)
}
