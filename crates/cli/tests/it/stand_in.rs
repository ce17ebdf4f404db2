//! A stand-in for a model: a server on loopback that speaks the `OpenAI` protocol and answers by what a request has in it.

use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// One thing that it says. Of several that fit the first one counts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Line {
    /// Texts that the request has.
    pub(crate) sees: Vec<String>,
    /// Texts that it has one behind the other.
    pub(crate) order: Vec<String>,
    /// Texts that it has not.
    pub(crate) lacks: Vec<String>,
    pub(crate) says: String,
    /// Tools that are called, each with its arguments.
    pub(crate) calls: Vec<(String, String)>,
    /// Whether nothing more comes after that, and it does not end either.
    pub(crate) hangs: bool,
    /// The codes of faults that come first, one for each request that fits.
    pub(crate) faults: Vec<u16>,
    /// What such a fault says of when to ask again, in seconds.
    pub(crate) retry_after: Option<u32>,
    /// How many requests that fit must be there at once before the first of them is answered.
    pub(crate) together: usize,
}

/// The requests that a line has met.
#[derive(Default)]
struct Met {
    count: Mutex<usize>,
    more: Condvar,
}

impl Met {
    /// Counts a request. Gives which one it is, once so many are there; `None` where they are not there in time.
    fn another(&self, together: usize) -> Option<usize> {
        let mut count = self.count.lock().expect("nobody panics");
        *count += 1;
        let which = *count;
        self.more.notify_all();
        let wait = self.more.wait_timeout_while(count, PATIENCE, |count| *count < together);
        let (_count, waited) = wait.expect("nobody panics");
        (!waited.timed_out()).then_some(which)
    }
}

/// How long requests that are wanted at once are waited for: far longer than it takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

impl Line {
    fn fits(&self, request: &str) -> bool {
        self.sees.iter().all(|text| request.contains(text))
            && is_in_order(request, &self.order)
            && !self.lacks.iter().any(|text| request.contains(text))
    }

    /// The answer as a stream of events.
    fn stream(&self) -> String {
        let calls: Vec<Value> = (0..)
            .zip(&self.calls)
            .map(|(index, (name, arguments))| {
                let function = json!({ "name": name, "arguments": arguments });
                json!({ "index": index, "id": format!("call-{index}"), "type": "function", "function": function })
            })
            .collect();
        let mut delta = json!({ "role": "assistant" });
        if !self.says.is_empty() {
            delta["content"] = json!(self.says);
        }
        if !calls.is_empty() {
            delta["tool_calls"] = json!(calls);
        }
        let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
        let mut stream = String::new();
        if self.hangs {
            let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
            return format!("data: {chunk}\n\n");
        }
        for chunk in [
            json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }),
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }),
            json!({ "choices": [], "usage": usage }),
        ] {
            write!(stream, "data: {chunk}\n\n").expect("text grows");
        }
        stream + "data: [DONE]\n\n"
    }
}

fn is_in_order(request: &str, texts: &[String]) -> bool {
    let behind = |rest: &str, text: &String| rest.find(text.as_str()).map(|at| at + text.len());
    let found = texts.iter().try_fold(0, |from, text| Some(from + behind(&request[from..], text)?));
    found.is_some()
}

/// Starts it, and gives the configuration of a user who has it as the only model.
pub(crate) fn start(lines: Vec<Line>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let port = listener.local_addr().expect("it has an address").port();
    let lines: Vec<(Line, Met)> = lines.into_iter().map(|line| (line, Met::default())).collect();
    let lines = Arc::new(lines);
    thread::spawn(move || {
        // Children ask at once, so each connection has a thread.
        while let Ok((stream, _)) = listener.accept() {
            let lines = Arc::clone(&lines);
            thread::spawn(move || answer(stream, &lines));
        }
    });
    format!(
        "bundled = false\nmodel = \"stage/actor\"\n[providers.stage]\nprotocol = \"openai\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\n"
    )
}

/// Answers one request. Whatever goes wrong closes the connection, which is what a caller sees.
fn answer(stream: TcpStream, lines: &[(Line, Met)]) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let (name, value) = line.trim().split_once(':').unwrap_or((line.trim(), ""));
        match name.to_ascii_lowercase().as_str() {
            "" => break,
            "content-length" => length = value.trim().parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let mut stream = reader.into_inner();
    // A fault that is not tried again.
    let refused = |message: &str| {
        let text = json!({ "error": { "message": message } }).to_string();
        ("400 Bad Request", "application/json", text)
    };
    let found = lines.iter().find(|(line, _)| line.fits(&body));
    let which = found.map(|(line, met)| met.another(line.together));
    let fitting = found.map(|(line, _)| line);
    let mut more = String::new();
    let (status, kind, text) = match fitting {
        // As providers do.
        _ if !has_pairs(&body) => refused("a call and its result were parted"),
        _ if which == Some(None) => refused("no other came"),
        Some(line) if which.flatten().is_some_and(|which| which <= line.faults.len()) => {
            if let Some(seconds) = line.retry_after {
                more = format!("Retry-After: {seconds}\r\n");
            }
            let code = line.faults[which.flatten().unwrap_or(1) - 1];
            let text = json!({ "error": { "message": format!("fault {code}") } }).to_string();
            let status = if code == 429 { "429 Too Many Requests" } else { "503 Service Unavailable" };
            (status, "application/json", text)
        }
        Some(line) => ("200 OK", "text/event-stream", line.stream()),
        None => refused("no line fits"),
    };
    if fitting.is_some_and(|line| line.hangs) {
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
        stream.write_all((head + &text).as_bytes()).ok()?;
        // Until whoever asks has gone.
        return stream.read(&mut [0]).ok().map(|_| ());
    }
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n",
        text.len()
    );
    stream.write_all((head + &text).as_bytes()).ok()
}

/// Whether every call has its result right behind it, and every result its call.
fn has_pairs(body: &str) -> bool {
    let Ok(request) = serde_json::from_str::<Value>(body) else { return false };
    let mut waiting: Vec<&Value> = Vec::new();
    for message in request["messages"].as_array().into_iter().flatten() {
        if message["role"] == "tool" {
            let Some(at) = waiting.iter().position(|id| **id == message["tool_call_id"]) else {
                return false;
            };
            waiting.remove(at);
            continue;
        }
        if !waiting.is_empty() {
            return false;
        }
        waiting = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]).collect();
    }
    waiting.is_empty()
}
