//! A model on this machine that says what a test tells it to, as slowly as the test wants.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Tells the calls of all answers apart.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// One answer.
pub(crate) enum Says {
    /// These words, and that is all.
    Words(&'static str),
    /// A call of a tool.
    Calls(&'static str, Value),
    /// These words, and then nothing for as long as anybody listens.
    WordsAndWaits(&'static str),
    /// The same as another, once the test lets it.
    Held(Receiver<()>, Box<Says>),
}

/// The server: each request gets the next answer. It ends with the test.
pub(crate) struct ModelServer {
    port: u16,
    /// The requests that came, in their order.
    requests: Receiver<Value>,
}

impl ModelServer {
    pub(crate) fn saying(answers: Vec<Says>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        thread::spawn(move || {
            let mut answers = answers.into_iter();
            while let Ok((stream, _)) = listener.accept() {
                let Some(body) = read_body(&stream) else { continue };
                let Some(says) = answers.next() else { return };
                let _ = sender.send(body);
                // Whoever waits must not hold up the next one.
                let sender = sender.clone();
                thread::spawn(move || {
                    answer(stream, says);
                    drop(sender);
                });
            }
        });
        Self { port, requests }
    }

    /// The configuration of a user who asks it.
    pub(crate) fn config(&self) -> String {
        format!(
            "bundled = false\nmodel = \"ollama/test\"\n[providers.ollama]\nbase_url = \"http://127.0.0.1:{}/v1\"\n",
            self.port
        )
    }

    /// The next request that came.
    pub(crate) fn request(&self) -> Value {
        self.requests.recv().expect("the model is asked")
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
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
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

fn answer(mut stream: TcpStream, mut says: Says) {
    while let Says::Held(go, held) = says {
        let _ = go.recv();
        says = *held;
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    if stream.write_all(head.as_bytes()).is_err() {
        return;
    }
    let piece = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "1", "object": "chat.completion.chunk", "model": "test",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        });
        format!("data: {chunk}\n\n")
    };
    let usage =
        json!({ "id": "1", "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
    let end = format!("data: {usage}\n\ndata: [DONE]\n\n");
    let text = match &says {
        Says::Words(words) => {
            format!("{}{}{end}", piece(json!({ "content": words }), None), piece(json!({}), Some("stop")))
        }
        Says::Calls(tool, input) => {
            let id = format!("call_{}", CALLS.fetch_add(1, Ordering::Relaxed));
            let call = json!({ "index": 0, "id": id, "type": "function",
                "function": { "name": tool, "arguments": input.to_string() } });
            let delta = json!({ "tool_calls": [call] });
            format!("{}{}{end}", piece(delta, None), piece(json!({}), Some("tool_calls")))
        }
        Says::WordsAndWaits(words) => piece(json!({ "content": words }), None),
        Says::Held(..) => String::new(),
    };
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    if matches!(says, Says::WordsAndWaits(_)) {
        // Nothing more comes; whoever asked goes away one day, which ends the reading.
        let _ = stream.read(&mut [0; 1]);
    }
}
