//! A model that does what its request says: `id=X turns=N delay=MS [stamp]`.
//!
//! It calls a tool in each of its first N turns and then says something; before each answer it waits. With `stamp` its words are the time at
//! which it wrote them. `GET /stats` gives the times between an answer's end and the next request's, in microseconds, for
//! conversations of more than fifty turns.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream as Blocking;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Turns from which on the time between counts.
const COUNTED: usize = 50;

#[derive(Default)]
struct Book {
    ended: HashMap<String, Instant>,
    times: Vec<u64>,
}

pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap().port());
        let book = Arc::new(Mutex::new(Book::default()));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(connection(stream, Arc::clone(&book)));
        }
    });
}

/// Nanoseconds of the system's clock.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

/// Asks a server for its times, and makes it forget them.
pub(crate) fn stats(port: u16) -> Vec<u64> {
    let mut stream = Blocking::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let body = text.split_once("\r\n\r\n").unwrap().1;
    body.split_whitespace().map(|time| time.parse().unwrap()).collect()
}

async fn connection(mut stream: TcpStream, book: Arc<Mutex<Book>>) {
    let mut bytes = Vec::new();
    while let Some((head, body)) = request(&mut stream, &mut bytes).await {
        if head.starts_with("GET") {
            let times = std::mem::take(&mut book.lock().unwrap().times);
            let times: Vec<String> = times.iter().map(ToString::to_string).collect();
            let text = times.join(" ");
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            let _ = stream.write_all(answer.as_bytes()).await;
            return;
        }
        let came = Instant::now();
        let turn = body.matches("\"role\":\"assistant\"").count();
        let id = word(&body, "id=").to_owned();
        let ended = book.lock().unwrap().ended.remove(&id);
        if let Some(ended) = ended.filter(|_| turn >= COUNTED) {
            let time = u64::try_from((came - ended).as_micros()).unwrap();
            book.lock().unwrap().times.push(time);
        }
        let delay: u64 = word(&body, "delay=").parse().unwrap_or_default();
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        let turns: usize = word(&body, "turns=").parse().unwrap_or_default();
        let answer = if turn < turns { call(turn) } else { words(body.contains(" stamp")) };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        book.lock().unwrap().ended.insert(id, Instant::now());
    }
}

/// One request: its head and its body.
async fn request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(String, String)> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            });
            let whole = end + 4 + length.unwrap_or(0_usize);
            if bytes.len() >= whole {
                let body = String::from_utf8_lossy(&bytes[end + 4..whole]).into_owned();
                bytes.drain(..whole);
                return Some((head, body));
            }
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// What stands behind a mark in the request's first words.
fn word<'a>(body: &'a str, mark: &str) -> &'a str {
    let Some(at) = body.find(mark) else { return "" };
    let rest = &body[at + mark.len()..];
    &rest[..rest.find(|next: char| !next.is_alphanumeric()).unwrap_or(rest.len())]
}

fn call(turn: usize) -> String {
    let arguments = format!(r#"{{\"skill_name\":\"skill-{turn:04}\",\"file_path\":\"SKILL.md\"}}"#);
    streamed(&[
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"role":"assistant","tool_calls":[{{"index":0,"id":"call{turn}","type":"function","function":{{"name":"skill_read_file","arguments":"{arguments}"}}}}]}}}}]}}"#
        ),
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned(),
    ])
}

fn words(is_stamped: bool) -> String {
    let text = if is_stamped { now().to_string() } else { "done".to_owned() };
    streamed(&[
        format!(r#"{{"choices":[{{"index":0,"delta":{{"role":"assistant","content":"{text}"}}}}]}}"#),
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned(),
    ])
}

fn streamed(events: &[String]) -> String {
    let mut answer =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    for event in events.iter().map(String::as_str).chain(["[DONE]"]) {
        let data = format!("data: {event}\n\n");
        answer.push_str(&format!("{:x}\r\n{data}\r\n", data.len()));
    }
    answer.push_str("0\r\n\r\n");
    answer
}
