//! L4: `serve` survives slow and half-open clients.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use metier_testkit::Workspace;
use serde_json::Value;

use crate::binary::{program, workspace};

/// How long an answer may take on a busy machine before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Descriptors that the server gets, so that a few hundred connections are too many.
const DESCRIPTORS: usize = 128;

/// A `metier serve`, ended with the test.
struct Serving {
    server: Child,
    address: String,
    token: String,
}

impl Serving {
    fn start(workspace: &Workspace, more: &str) -> Self {
        let line = format!("ulimit -n {DESCRIPTORS} && exec \"$0\" serve --listen 127.0.0.1:0 --json {more}");
        let mut server = Command::new("bash")
            .args(["-c", &line])
            .arg(program())
            .current_dir(workspace.join("project"))
            .env_clear()
            .env("HOME", workspace.join("home"))
            .env("PATH", "/usr/bin:/bin")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).expect("it says where it is");
        let address = said["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/mcp");
        let token = said["token"].as_str().unwrap().to_owned();
        Self { address: address.to_owned(), token, server }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn head(&self, method: &str, more: &str) -> String {
        let (address, token) = (&self.address, &self.token);
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{more}\r\n"
        )
    }

    /// Begins a session; its id.
    fn initialize(&self) -> (String, String) {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
        let mut stream = self.connect();
        let head = self.head("POST", &format!("Content-Length: {}\r\nConnection: close\r\n", body.len()));
        // A server that has no place may close before it has read everything.
        let _ = stream.write_all(format!("{head}{body}").as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let session = answer.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        (answer, session.unwrap_or_default())
    }

    /// Opens the stream of a session for what the server has to say; its connection, after the head of the answer.
    fn stream(&self, session: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(self.head("GET", &format!("Mcp-Session-Id: {session}\r\n")).as_bytes()).unwrap();
        assert!(head_of(&mut stream).starts_with("HTTP/1.1 200"), "the stream is not opened");
        stream
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Reads the head of an answer.
fn head_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

#[test]
fn half_requests_give_way_to_whole_ones() {
    let workspace = workspace();
    let serving = Serving::start(&workspace, "");
    let half: Vec<TcpStream> = (0..3 * DESCRIPTORS)
        .map(|_| {
            let mut stream = serving.connect();
            let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127");
            stream
        })
        .collect();
    let (answer, session) = serving.initialize();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!session.is_empty(), "{answer}");
    drop(half);
}

#[test]
fn a_head_and_a_body_have_their_time_and_a_stream_has_all_of_it() {
    let workspace = workspace();
    let serving = Serving::start(&workspace, "--head-timeout 1 --body-timeout 1");
    let (_, session) = serving.initialize();
    let mut stream = serving.stream(&session);
    // Half a head, and nothing at all: closed.
    for sent in ["POST /mcp HTTP/1.1\r\nHost: 127", ""] {
        let mut half = serving.connect();
        half.write_all(sent.as_bytes()).unwrap();
        let mut rest = Vec::new();
        assert!(half.read_to_end(&mut rest).is_ok(), "{sent:?} is not closed");
    }
    // Half a body: refused in words.
    let mut slow = serving.connect();
    slow.write_all(format!("{}{{", serving.head("POST", "Content-Length: 100\r\n")).as_bytes()).unwrap();
    assert!(head_of(&mut slow).starts_with("HTTP/1.1 408"));
    // Idle after an answer: closed.
    let mut idle = serving.connect();
    idle.write_all(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    assert!(
        idle.read_to_end(&mut rest).is_ok() && rest.starts_with(b"HTTP/1.1 4"),
        "not answered and closed"
    );
    // All of that took longer than a head and a body may, and the stream is still open.
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut piece = [0; 4096];
    match stream.read(&mut piece) {
        Ok(read) => assert_ne!(read, 0, "the stream was cut"),
        Err(error) => assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}"),
    }
}

#[test]
fn who_finds_no_place_is_told() {
    let workspace = workspace();
    let serving = Serving::start(&workspace, "--max-connections 2");
    let sessions: Vec<String> = (0..2).map(|_| serving.initialize().1).collect();
    let streams: Vec<TcpStream> = sessions.iter().map(|session| serving.stream(session)).collect();
    let mut more = serving.connect();
    more.write_all(serving.head("GET", "").as_bytes()).unwrap();
    let head = head_of(&mut more);
    assert!(head.starts_with("HTTP/1.1 503") && head.contains("Connection: close"), "{head}");
    drop(streams);
    drop(more);
    // A place is free as soon as the server has seen that the streams are gone.
    let deadline = std::time::Instant::now() + PATIENCE;
    while !serving.initialize().0.starts_with("HTTP/1.1 200") {
        assert!(std::time::Instant::now() < deadline, "no place is given back");
        std::thread::sleep(Duration::from_millis(50));
    }
}
