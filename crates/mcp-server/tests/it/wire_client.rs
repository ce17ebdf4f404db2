//! A client that writes its messages itself, for both protocol revisions.

use std::time::Duration;

use metier_mcp_server::Server;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Timeout for every answer, generous for busy machines.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision {
    /// With a handshake.
    V2025,
    /// Without a handshake.
    V2026,
}

/// Answers the questions of the server for the client's user.
pub(super) type Answerer = fn(&Value) -> Value;

pub(super) struct WireClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    revision: Revision,
    next: u64,
    answerer: Option<Answerer>,
    /// Notifications from the server.
    pub(super) notifications: Vec<Value>,
    /// Elicitation requests from the server.
    pub(super) elicitations: Vec<Value>,
    /// The result of the handshake or of `server/discover`.
    pub(super) server_info: Value,
    serving: JoinHandle<()>,
}

impl WireClient {
    pub(super) async fn open(server: &Server, revision: Revision) -> Self {
        Self::with(server, revision, None).await
    }

    /// A client whose user answers questions.
    pub(super) async fn with(server: &Server, revision: Revision, answerer: Option<Answerer>) -> Self {
        let (near, far) = duplex(1 << 16);
        let (server, (input, output)) = (server.clone(), split(far));
        let serving = tokio::spawn(async move { server.serve(input, output).await.unwrap() });
        let (read, out) = split(near);
        let lines = BufReader::new(read).lines();
        let mut client = Self {
            lines,
            out,
            revision,
            next: 0,
            answerer,
            notifications: Vec::new(),
            elicitations: Vec::new(),
            server_info: Value::Null,
            serving,
        };
        match revision {
            Revision::V2025 => {
                let hello = json!({
                    "protocolVersion": "2025-11-25", "capabilities": client.capabilities(),
                    "clientInfo": { "name": "wire", "version": "1" },
                });
                client.server_info = client.result("initialize", hello).await;
                client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            }
            Revision::V2026 => client.server_info = client.result("server/discover", json!({})).await,
        }
        client
    }

    fn capabilities(&self) -> Value {
        if self.answerer.is_some() { json!({ "elicitation": { "form": {} } }) } else { json!({}) }
    }

    async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    /// Writes a raw line.
    pub(super) async fn line(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request and returns its id.
    pub(super) async fn start(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if self.revision == Revision::V2026 {
            let mut meta = params.get("_meta").cloned().unwrap_or_else(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "wire", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities();
            params["_meta"] = meta;
        }
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// Sends a notification.
    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// The next message from the server. Elicitation requests are answered on the way.
    pub(super) async fn receive(&mut self) -> Value {
        let line = timeout(ANSWER_TIMEOUT, self.lines.next_line()).await.expect("the server sends a message");
        let message: Value = serde_json::from_str(&line.unwrap().expect("the server is connected")).unwrap();
        if message.get("method").is_some() && message.get("id").is_some() {
            let answerer = self.answerer.expect("only clients with elicitation are asked");
            let result = answerer(&message["params"]);
            self.elicitations.push(message["params"].clone());
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).await;
        }
        message
    }

    /// Waits for the response to a request.
    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message.get("method").is_some() {
                self.notifications.push(message);
            } else if message["id"] == json!(id) {
                return message;
            }
        }
    }

    /// Waits for a notification.
    pub(super) async fn wait_for_notification(&mut self, method: &str) {
        while !self.notifications.iter().any(|notification| notification["method"] == method) {
            let message = self.receive().await;
            self.notifications.push(message);
        }
    }

    /// Sends a request that must succeed and returns its result.
    pub(super) async fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request that must fail and returns code and message.
    pub(super) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.start(method, params).await;
        let answer = self.answer(id).await;
        let error = answer.get("error").unwrap_or_else(|| panic!("{method}: {answer}"));
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    /// Calls a tool.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Disconnects and waits until the server noticed.
    pub(super) async fn close(self) {
        drop((self.lines, self.out));
        timeout(ANSWER_TIMEOUT, self.serving).await.expect("the connection ends").unwrap();
    }
}

/// The text of a result.
pub(super) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
