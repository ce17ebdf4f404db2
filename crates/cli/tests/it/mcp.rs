//! `mcp` and `serve`: the real program, asked by a client that writes every byte itself, and by the SDK's.

mod changes;
mod http;
mod many;
mod sdk;

use crate::binary::{command, metier, without_bundled};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A program that ends with the test.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    /// Starts it; gives its two ends.
    pub(crate) fn start(workspace: &Workspace, args: &[&str]) -> (Self, ChildStdin, ChildStdout) {
        let mut command = command(workspace, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the binary can be started");
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (Self { child }, input, output)
    }

    /// What it holds in memory, in kilobytes.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Waits until it has ended by itself.
    fn ended(mut self) -> i32 {
        self.child.wait().expect("it can be waited for").code().expect("it was not killed")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A skill of the user's own, and one of a project that nobody trusts.
pub(crate) fn workspace() -> Workspace {
    without_bundled()
        .file(
            "home/.claude/skills/greet/SKILL.md",
            "---\nname: greet\ndescription: Greets somebody by name.\n---\nSay hello to $ARGUMENTS.\n",
        )
        .file("home/.claude/skills/greet/references/tone.md", "Be kind.\n")
        .file("home/.claude/skills/greet/scripts/hello.sh", "echo hello $1\n")
        .dir("project/.git")
        .skill("project/.claude/skills/stranger", "Comes with the project.")
}

#[test]
fn a_host_uses_a_whole_skill_and_goes() {
    let workspace = workspace();
    let (running, mut input, output) = Running::start(&workspace, &["mcp"]);
    let mut lines = BufReader::new(output).lines();
    let mut id = 0;
    let mut ask = |method: &str, params: Value| -> Value {
        id += 1;
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        if method == "initialize" {
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            writeln!(input, "{note}").unwrap();
            return answer["result"].clone();
        }
        loop {
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if answer["id"] == json!(id) {
                return answer["result"].clone();
            }
        }
    };
    let hello = ask(
        "initialize",
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
    );
    assert_eq!(hello["serverInfo"]["name"], "metier");
    let instructions = hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("- **greet**: Greets somebody by name."), "{instructions}");
    assert!(instructions.contains("1 skill is not offered"), "{instructions}");
    assert!(instructions.contains("metier trust") && !instructions.contains("stranger"), "{instructions}");
    let used = ask(
        "tools/call",
        json!({ "name": "skill_use", "arguments": { "skill_name": "greet", "arguments": "Ada" } }),
    );
    assert!(used.to_string().contains("Say hello to Ada."), "{used}");
    let ran = ask(
        "tools/call",
        json!({ "name": "skill_run_script", "arguments": { "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" } }),
    );
    assert_eq!(ran["structuredContent"]["stdout"], "hello Ada", "{ran}");
    let refused =
        ask("tools/call", json!({ "name": "skill_use", "arguments": { "skill_name": "stranger" } }));
    assert_eq!(refused["isError"], true, "{refused}");
    let listed = ask("skills/list", json!({}));
    assert_eq!(listed["skills"].as_array().unwrap().len(), 1, "{listed}");
    drop(input);
    assert_eq!(running.ended(), 0);
}

#[test]
fn a_skill_that_is_not_there_is_said_before_anything_is_served() {
    let workspace = workspace();
    let run = metier(&workspace, &["mcp", "--skill", "grete"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stdout.is_empty() && run.stderr.contains("greet"), "{}", run.stderr);
}

#[test]
fn every_host_gets_a_configuration_that_it_can_read() {
    let workspace = workspace();
    let program = env!("CARGO_BIN_EXE_metier");
    let server = |text: &str, path: &str| -> Value {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        value.pointer(path).unwrap_or_else(|| panic!("{path}: {text}")).clone()
    };
    for (host, path) in [
        ("claude-code", "/mcpServers/metier"),
        ("claude-desktop", "/mcpServers/metier"),
        ("cursor", "/mcpServers/metier"),
        ("windsurf", "/mcpServers/metier"),
        ("gemini-cli", "/mcpServers/metier"),
        ("vscode", "/servers/metier"),
        ("zed", "/context_servers/metier"),
    ] {
        let run =
            metier(&workspace, &["mcp", "--print-config", host, "--deny", "command:rm", "--skill", "greet"]);
        let found = server(&run.stdout, path);
        assert_eq!(found["command"], program, "{host}");
        assert_eq!(found["args"], json!(["mcp", "--deny", "command:rm", "--skill", "greet"]), "{host}");
        assert!(run.stderr.starts_with("for "), "{host}: {}", run.stderr);
    }
    let run = metier(&workspace, &["mcp", "--print-config", "opencode", "--root", "skills"]);
    let root = workspace.join("project/skills").display().to_string();
    assert_eq!(server(&run.stdout, "/mcp/servers/metier/command"), json!([program, "mcp", "--root", root]));
    let run = metier(&workspace, &["mcp", "--print-config", "codex"]);
    let table: toml::Table = toml::from_str(&run.stdout).unwrap();
    assert_eq!(table["mcp_servers"]["metier"]["command"].as_str(), Some(program));
    let run = metier(&workspace, &["mcp", "--print-config", "goose"]);
    assert!(run.stdout.contains(&format!("cmd: \"{program}\"")), "{}", run.stdout);
    let json = metier(&workspace, &["mcp", "--print-config", "zed", "--json"]).json();
    assert_eq!(json["program"], program);
}
