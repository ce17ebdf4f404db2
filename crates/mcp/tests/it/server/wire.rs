//! A client that writes every byte itself, in either revision.

use std::time::Duration;

use metier_mcp::server::Server;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// No answer takes longer than this, however busy the machine is.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision {
    /// With a handshake.
    V2025,
    /// Without one.
    V2026,
}

/// What the client's user says to a question.
pub(super) type Says = fn(&Value) -> Value;

pub(super) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    revision: Revision,
    next: u64,
    says: Option<Says>,
    /// What the server said by itself.
    pub(super) told: Vec<Value>,
    /// What the server asked.
    pub(super) asked: Vec<Value>,
    /// What the server said of itself.
    pub(super) hello: Value,
    serving: JoinHandle<()>,
}

impl Wire {
    pub(super) async fn open(server: &Server, revision: Revision) -> Self {
        Self::with(server, revision, None).await
    }

    /// A client whose user answers questions.
    pub(super) async fn with(server: &Server, revision: Revision, says: Option<Says>) -> Self {
        let (near, far) = duplex(1 << 16);
        let (server, (input, output)) = (server.clone(), split(far));
        let serving = tokio::spawn(async move { server.serve(input, output).await.unwrap() });
        let (read, out) = split(near);
        let lines = BufReader::new(read).lines();
        let mut wire = Self {
            lines,
            out,
            revision,
            next: 0,
            says,
            told: Vec::new(),
            asked: Vec::new(),
            hello: Value::Null,
            serving,
        };
        match revision {
            Revision::V2025 => {
                let hello = json!({
                    "protocolVersion": "2025-11-25", "capabilities": wire.capabilities(),
                    "clientInfo": { "name": "wire", "version": "1" },
                });
                wire.hello = wire.result("initialize", hello).await;
                wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            }
            Revision::V2026 => wire.hello = wire.result("server/discover", json!({})).await,
        }
        wire
    }

    fn capabilities(&self) -> Value {
        if self.says.is_some() { json!({ "elicitation": { "form": {} } }) } else { json!({}) }
    }

    async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    /// Writes a line as it is.
    pub(super) async fn line(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request and gives its number.
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

    /// Sends a note.
    pub(super) async fn note(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// The next message of the server; what it asks is answered on the way.
    pub(super) async fn hear(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("the server says something");
        let message: Value = serde_json::from_str(&line.unwrap().expect("the server is there")).unwrap();
        if message.get("method").is_some() && message.get("id").is_some() {
            let says = self.says.expect("only who can answer is asked");
            let result = says(&message["params"]);
            self.asked.push(message["params"].clone());
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).await;
        }
        message
    }

    /// The answer to a request.
    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().await;
            if message.get("method").is_some() {
                self.told.push(message);
            } else if message["id"] == json!(id) {
                return message;
            }
        }
    }

    /// Waits until the server tells of something by itself.
    pub(super) async fn until_told(&mut self, method: &str) {
        while !self.told.iter().any(|told| told["method"] == method) {
            let message = self.hear().await;
            self.told.push(message);
        }
    }

    /// The result of a request that has to go well.
    pub(super) async fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that has to go wrong.
    pub(super) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.start(method, params).await;
        let answer = self.answer(id).await;
        let error = answer.get("error").unwrap_or_else(|| panic!("{method}: {answer}"));
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    /// A call of a tool.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Goes, and waits until the server has seen it.
    pub(super) async fn close(self) {
        drop((self.lines, self.out));
        timeout(PATIENCE, self.serving).await.expect("the server ends").unwrap();
    }
}

/// The text of a result.
pub(super) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
