//! An MCP host over stdio that writes every message itself.

use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::binary::command;

/// How long a message may take before the test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running `metier mcp`, ended with the test.
pub(crate) struct McpClient {
    server: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    last_id: u64,
}

impl McpClient {
    /// Starts `metier mcp ARGS…` and performs the handshake. `capabilities` are the host's own.
    pub(crate) fn start(workspace: &Workspace, args: &[&str], capabilities: &Value) -> Self {
        Self::of(command(workspace, &[&["mcp"], args].concat()), capabilities)
    }

    /// The same with a command that starts the server, by another user for example.
    pub(crate) fn of(mut command: Command, capabilities: &Value) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut server = command.spawn().expect("the binary can be started");
        let input = server.stdin.take();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let (send, output) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut client = Self { server, input, output, last_id: 0 };
        let info = json!({ "name": "findings", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
        let id = client.send("initialize", &params);
        client.answer(id);
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// The server's process id.
    #[allow(dead_code, reason = "for findings about the server's processes")]
    pub(crate) fn process(&self) -> u32 {
        self.server.id()
    }

    /// Writes one message.
    pub(crate) fn write(&mut self, message: &Value) {
        writeln!(self.input.as_ref().unwrap(), "{message}").unwrap();
    }

    /// Closes the connection and waits for the server's end.
    pub(crate) fn leaves(&mut self) -> ExitStatus {
        self.input = None;
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message of the server.
    pub(crate) fn message(&mut self) -> Value {
        let line = self.output.recv_timeout(PATIENCE).expect("the server has ended, or says nothing");
        serde_json::from_str(&line).unwrap()
    }

    /// Reads until the answer to this request; other messages are passed over.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.message();
            if message["id"] == json!(id) && message["method"].is_null() {
                return message;
            }
        }
    }

    /// Calls a tool and gives the whole answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
        self.answer(id)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
