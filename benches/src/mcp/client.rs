//! A client that asks one thing at a time, so that what is measured is the server.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
        let input = child.stdin.take().context("it has no standard input")?;
        let output = BufReader::new(child.stdout.take().context("it has no standard output")?);
        Ok(Self { child, input, output, next: 0 })
    }

    /// The handshake that every server has.
    pub(crate) fn begin(&mut self) -> Result<()> {
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        self.request("initialize", hello)?;
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        Ok(writeln!(self.input, "{note}")?)
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.input.write_all(format!("{request}\n").as_bytes())?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the server ended");
            }
            let mut answer: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            if answer["id"] != json!(self.next) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(answer["result"].take());
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
