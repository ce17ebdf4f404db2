//! The three walks: what the program is asked, and how to see that it did it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::binary::Binary;
use super::scripted_model::{ModelAnswer, ScriptedModel};

/// What everything that the walks ask for has in its answer.
const TASK: &str = "buy milk";

/// The tool that runs a script, under the same name for models and over MCP.
const RUN_SCRIPT: &str = "skill_run_script";

/// One way through the program.
#[derive(Clone, Copy)]
pub(super) enum Walk {
    /// The quick start's request, without a model.
    Offline,
    /// A model that calls a script once and then answers.
    Model,
    /// A call of a script over MCP.
    Mcp,
}

impl Walk {
    /// All of them, in the order of the report.
    pub(super) const ALL: [Self; 3] = [Self::Offline, Self::Model, Self::Mcp];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Model => "model",
            Self::Mcp => "mcp",
        }
    }

    /// What it does, in a line.
    pub(super) fn summary(self) -> &'static str {
        match self {
            Self::Offline => "`metier run` without a model, which runs a bundled skill's script",
            Self::Model => "`metier run` with an OpenAI-compatible model that calls a script once",
            Self::Mcp => "`metier mcp`, from its start to the answer to one `tools/call` of a script",
        }
    }

    /// Takes it, in a home and a project that are new below `folder`. An error if the program did not do what the walk is
    /// about: the number would then be one of something else.
    pub(super) fn take(self, binary: &Binary, folder: &Path) -> Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder.join("home"))?;
        // Without it the project would be the repository, whose target folder this is in.
        fs::create_dir_all(folder.join("project").join(".git"))?;
        let result = match self {
            Self::Offline => offline(binary, folder),
            Self::Model => model(binary, folder),
            Self::Mcp => mcp(binary, folder),
        };
        result.with_context(|| format!("the walk `{}` was not taken", self.name()))
    }
}

/// The program with nothing of this machine's user around it.
fn metier(binary: &Binary, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(&binary.program);
    command.args(arguments).current_dir(folder.join("project")).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("HOME", folder.join("home"));
    command.env("METIER_HOME", folder.join("home").join("metier")).stdin(Stdio::null());
    command
}

fn offline(binary: &Binary, folder: &Path) -> Result<()> {
    let output = metier(binary, folder, &["run", "add buy milk to my todo list"]).output()?;
    require(&output, TASK)
}

fn model(binary: &Binary, folder: &Path) -> Result<()> {
    let server = ScriptedModel::start(vec![
        ModelAnswer::ToolCall(RUN_SCRIPT, call_input()),
        ModelAnswer::Text("It is on the list."),
    ])?;
    let config =
        format!("model = \"ollama/scripted\"\n[providers.ollama]\nbase_url = \"{}\"\n", server.base_url());
    let home = folder.join("home").join("metier");
    fs::create_dir_all(&home)?;
    fs::write(home.join("config.toml"), config)?;
    let output = metier(binary, folder, &["run", "please note that I have to buy milk"]).output()?;
    require(&output, "It is on the list.")?;
    server.request()?;
    let second = server.request()?;
    let result = second["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null);
    if result["role"] != "tool" || !is_result(result) {
        bail!("the script did not run: {result}");
    }
    Ok(())
}

fn mcp(binary: &Binary, folder: &Path) -> Result<()> {
    let mut command = metier(binary, folder, &["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("the program has no standard input and output");
    };
    let mut lines = BufReader::new(stdout).lines();
    let mut answer = |id: u64| -> Result<Value> {
        for line in lines.by_ref() {
            let message: Value = serde_json::from_str(&line?)?;
            if message["id"] == id {
                return Ok(message);
            }
        }
        bail!("the program ended without an answer to request {id}");
    };
    let client = json!({ "name": "walk", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }))?;
    answer(1)?;
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let call = json!({ "name": RUN_SCRIPT, "arguments": call_input() });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))?;
    let result = answer(2)?;
    drop(input);
    child.wait()?;
    if result["result"]["isError"] == true || !is_result(&result["result"]) {
        bail!("the script did not run: {result}");
    }
    Ok(())
}

/// The arguments of the call that adds a task to the list.
fn call_input() -> Value {
    json!({ "skill_name": "create-task", "script_name": "create-task.sh", "script_args": format!("\"{TASK}\"") })
}

/// Whether this is what the script printed.
fn is_result(value: &Value) -> bool {
    value.to_string().contains(&format!("created task 1: {TASK}"))
}

fn require(output: &Output, expected: &str) -> Result<()> {
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !printed.contains(expected) {
        let problems = String::from_utf8_lossy(&output.stderr);
        bail!("no `{expected}` in the answer ({}):\n{printed}{problems}", output.status);
    }
    Ok(())
}
