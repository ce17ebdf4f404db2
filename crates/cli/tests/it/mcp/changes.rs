//! What a script changed in the project, as an MCP client gets to know it.

use super::Running;
use crate::binary::{metier, without_bundled};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout};

/// The revision without a handshake and without requests of the server's own.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// A client of `metier mcp` that writes every byte itself.
struct Client {
    _running: Running,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it answers to questions, and the questions that came.
    says: Option<&'static str>,
    asked: Vec<String>,
}

impl Client {
    fn start(workspace: &Workspace, version: &str, says: Option<&'static str>) -> Self {
        let (running, input, output) = Running::start(workspace, &["mcp"]);
        let lines = BufReader::new(output).lines();
        let mut client = Self { _running: running, input, lines, says, asked: Vec::new() };
        if version == WITHOUT_HANDSHAKE {
            return client;
        }
        let capabilities = if says.is_some() { json!({ "elicitation": { "form": {} } }) } else { json!({}) };
        let hello = json!({ "protocolVersion": version, "capabilities": capabilities,
                            "clientInfo": { "name": "test", "version": "1" } });
        client.request(0, "initialize", &hello);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                let content = json!({ "action": "accept", "content": { "answer": self.says } });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": content }));
            } else if message["id"] == json!(id) {
                return message["result"].clone();
            }
        }
    }

    fn run(&mut self) -> Value {
        let arguments = json!({ "skill_name": "sh", "script_name": "run.sh" });
        self.request(1, "tools/call", &json!({ "name": "skill_run_script", "arguments": arguments }))
    }

    /// The same in the revision in which every request says what the client can do.
    fn run_without_handshake(&mut self) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
        let arguments = json!({ "skill_name": "sh", "script_name": "run.sh" });
        let params = json!({ "name": "skill_run_script", "arguments": arguments, "_meta": meta });
        self.request(1, "tools/call", &params)
    }
}

/// A skill whose script changes two files, one of them protected, and counts how often it ran.
fn machine() -> Workspace {
    without_bundled()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Changes files.\n---\nRun it.\n")
        .file(
            "home/.agents/skills/sh/scripts/run.sh",
            "cd \"$PROJECT_DIR\"; echo a > a.txt; echo be kind > AGENTS.md; echo ran >> \"$SKILL_DATA/count\"\n",
        )
        .dir("project/.git")
}

fn runs(workspace: &Workspace) -> usize {
    let found = std::process::Command::new("find")
        .arg(workspace.join("home"))
        .args(["-name", "count"])
        .output()
        .unwrap();
    let path = String::from_utf8(found.stdout).unwrap();
    std::fs::read_to_string(path.trim()).unwrap_or_default().lines().count()
}

#[test]
fn a_client_that_can_be_asked_is_asked_once_with_every_path() {
    let workspace = machine();
    let mut client = Client::start(&workspace, "2025-11-25", Some("once"));
    let ran = client.run();
    let question = client.asked.last().unwrap();
    let (agents, file) = (question.find("AGENTS.md").unwrap(), question.find("a.txt").unwrap());
    assert!(agents < file && question.contains("protected"), "protected paths come first: {question}");
    assert!(
        workspace.join("project/AGENTS.md").exists() && workspace.join("project/a.txt").exists(),
        "{ran}"
    );
    let changes = &ran["structuredContent"]["changes"];
    assert!(changes["entries"].as_array().unwrap().iter().all(|entry| entry["state"] == "applied"), "{ran}");
    assert!(
        ran["content"]
            .to_string()
            .contains("changes applied to the project: created AGENTS.md, created a.txt"),
        "{ran}"
    );
    assert_eq!(runs(&workspace), 1);
}

#[test]
fn a_client_that_cannot_be_asked_is_told_what_waits_and_how_to_apply_it() {
    let workspace = machine();
    let ran = Client::start(&workspace, "2025-11-25", None).run();
    assert!(!workspace.join("project/a.txt").exists());
    let changes = &ran["structuredContent"]["changes"];
    let id = changes["id"].as_str().unwrap();
    assert!(changes["allow_with"].to_string().contains("write:a.txt"), "{ran}");
    let text = ran["content"].to_string();
    assert!(text.contains("changes NOT applied") && text.contains("created a.txt"), "{text}");
    assert!(
        text.contains(&format!("metier changes apply {id}")) && text.contains("write:AGENTS.md"),
        "{text}"
    );
    assert_eq!(ran["isError"], false, "{ran}");
    let applied = metier(&workspace, &["changes", "apply", id, "--yes", "--protected", "AGENTS.md"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    assert!(workspace.join("project/AGENTS.md").exists());
    assert_eq!(runs(&workspace), 1);
}

#[test]
fn a_client_that_would_have_to_call_again_is_not_asked_since_nothing_runs_twice() {
    let workspace = machine();
    let ran = Client::start(&workspace, WITHOUT_HANDSHAKE, Some("once")).run_without_handshake();
    assert_eq!(ran["resultType"], "complete", "{ran}");
    let entries = ran["structuredContent"]["changes"]["entries"].as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["state"] == "not-approved"), "{ran}");
    assert!(ran["content"].to_string().contains("metier changes apply"), "{ran}");
    assert_eq!(runs(&workspace), 1);
}
