//! `--print-config`: what to write into the configuration of a host, and where that is.

use crate::args::{BoundTo, Global, Host};
use crate::output::Output;
use anyhow::{Context, Result};
use metier_policy::shell::quote;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What our server is called in a host.
const NAME: &str = "metier";

/// How a host takes a server.
enum Shape {
    /// An object below a key, with `command` and `args`.
    Json {
        key: &'static str,
        more: &'static [(&'static str, &'static str)],
    },
    /// One list for the program and its arguments.
    JsonList,
    Toml,
    Yaml,
}

/// Where a host looks for servers, and how they stand there.
struct Place {
    shape: Shape,
    file: &'static str,
    /// A command of the host that does the same.
    command: Option<&'static str>,
}

fn place(host: Host) -> Place {
    let json = |file| Place { shape: Shape::Json { key: "mcpServers", more: &[] }, file, command: None };
    match host {
        Host::ClaudeCode => {
            Place { command: Some("claude mcp add metier --"), ..json(".mcp.json in the project") }
        }
        Host::ClaudeDesktop => json(
            "claude_desktop_config.json: ~/Library/Application Support/Claude/ on macOS, %APPDATA%\\Claude\\ on Windows, \
             ~/.config/Claude/ on Linux",
        ),
        Host::Cursor => json(".cursor/mcp.json in the project, or ~/.cursor/mcp.json"),
        Host::Windsurf => json("~/.codeium/windsurf/mcp_config.json"),
        Host::GeminiCli => {
            json(".gemini/settings.json in the project, or ~/.gemini/settings.json; beside what is there")
        }
        Host::Vscode => Place {
            shape: Shape::Json { key: "servers", more: &[("type", "stdio")] },
            file: ".vscode/mcp.json in the project, or the user's own by the command `MCP: Open User Configuration`",
            command: None,
        },
        Host::Zed => Place {
            shape: Shape::Json { key: "context_servers", more: &[] },
            file: "~/.config/zed/settings.json; beside what is there",
            command: None,
        },
        Host::Codex => Place {
            shape: Shape::Toml,
            file: "~/.codex/config.toml, or .codex/config.toml in a project that Codex trusts",
            command: Some("codex mcp add metier --"),
        },
        Host::Opencode => Place {
            shape: Shape::JsonList,
            file: "opencode.json in the project, or ~/.config/opencode/opencode.json; beside what is there. \
                   Before opencode 2 servers stand right below `mcp`",
            command: None,
        },
        Host::Goose => Place {
            shape: Shape::Yaml,
            file: "~/.config/goose/config.yaml; below `extensions` if that is there",
            command: None,
        },
    }
}

pub(super) fn print(host: Host, bound: &BoundTo, global: &Global, output: &mut Output) -> Result<()> {
    // A host that is started from a menu has another search path than a shell, so the program is named whole.
    let program = std::env::current_exe().context("where this program is cannot be found out")?;
    let program = program.display().to_string();
    let arguments = arguments(bound, global)?;
    let Place { shape, file, command } = place(host);
    let text = match shape {
        Shape::Json { key, more } => {
            let mut server = Map::new();
            for (key, value) in more {
                server.insert((*key).to_owned(), json!(value));
            }
            server.insert("command".to_owned(), json!(program));
            server.insert("args".to_owned(), json!(arguments));
            pretty(&json!({ key: { NAME: server } }))?
        }
        Shape::JsonList => {
            let all: Vec<&String> = std::iter::once(&program).chain(&arguments).collect();
            pretty(&json!({ "mcp": { "servers": { NAME: { "type": "local", "command": all } } } }))?
        }
        // Strings of JSON are strings of TOML and of YAML, too.
        Shape::Toml => {
            format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = {}", json!(program), json!(arguments))
        }
        Shape::Yaml => format!(
            "extensions:\n  {NAME}:\n    name: {NAME}\n    type: stdio\n    enabled: true\n    cmd: {}\n    args: {}\n    timeout: 300",
            json!(program),
            json!(arguments)
        ),
    };
    if output.is_json() {
        return output
            .json(&json!({ "file": file, "text": text, "program": program, "arguments": arguments }));
    }
    output.aside(&format!("for {file}:"))?;
    output.block(&text)?;
    if let Some(command) = command {
        let words: Vec<_> = std::iter::once(&program).chain(&arguments).map(|word| quote(word)).collect();
        output.aside(&format!("or run: {command} {}", words.join(" ")))?;
    }
    Ok(())
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)?)
}

/// What the host has to say to get the same server: the roots, rules and the mode of this call.
fn arguments(bound: &BoundTo, global: &Global) -> Result<Vec<String>> {
    let mut arguments = vec!["mcp".to_owned()];
    let mut push = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    for root in global.root.iter().filter(|root| !root.as_os_str().is_empty()) {
        // A host starts servers wherever it likes.
        let root: PathBuf = std::path::absolute(root).with_context(|| root.display().to_string())?;
        push("--root", root.display().to_string());
    }
    for rule in &global.allow {
        push("--allow", rule.clone());
    }
    for rule in &global.deny {
        push("--deny", rule.clone());
    }
    if let Some(mode) = &global.mode {
        push("--mode", mode.clone());
    }
    if let Some(skill) = &bound.skill {
        push("--skill", skill.clone());
    }
    Ok(arguments)
}
