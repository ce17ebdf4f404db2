//! An OpenAI-compatible server on this machine that gives prepared answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Grace period for a request that the program has already sent.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// One answer of the model.
pub(super) enum ModelAnswer {
    /// A call of this tool with this input.
    ToolCall(&'static str, Value),
    /// Text.
    Text(&'static str),
}

/// The server. Each request gets the next answer; after the last one it stops listening.
pub(super) struct ScriptedModel {
    port: u16,
    requests: Receiver<Value>,
}

impl ScriptedModel {
    /// Starts it on a free port.
    pub(super) fn start(answers: Vec<ModelAnswer>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port can be listened on")?;
        let port = listener.local_addr()?.port();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let Some(body) = read_body(&stream) else { return };
                let _ = sender.send(body);
                let _ = stream.write_all(response(&answer).as_bytes());
            }
        });
        Ok(Self { port, requests })
    }

    /// The base address of its API.
    pub(super) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The next request that came.
    pub(super) fn request(&self) -> Result<Value> {
        self.requests.recv_timeout(REQUEST_TIMEOUT).context("the model was asked too few times")
    }
}

fn read_body(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// A whole streamed response.
fn response(answer: &ModelAnswer) -> String {
    let (delta, reason) = match answer {
        ModelAnswer::Text(text) => (json!({ "content": text }), "stop"),
        ModelAnswer::ToolCall(tool, input) => {
            let function = json!({ "name": tool, "arguments": input.to_string() });
            let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            (json!({ "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = |delta: &Value, reason: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        json!({ "id": "1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice] })
    };
    let usage =
        json!({ "id": "1", "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
         data: {}\n\ndata: {}\n\ndata: {usage}\n\ndata: [DONE]\n\n",
        chunk(&delta, None),
        chunk(&json!({}), Some(reason)),
    )
}
