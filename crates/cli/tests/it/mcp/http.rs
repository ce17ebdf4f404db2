//! `serve`: who is answered, and who is not.

use super::{Running, workspace};
use crate::binary::metier;
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

/// A server that listens.
pub(crate) struct Serving {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) said: Value,
    pub(crate) running: Running,
}

pub(crate) fn serve(workspace: &Workspace, more: &[&str]) -> Serving {
    let mut args = vec!["serve", "--listen", "127.0.0.1:0", "--json"];
    args.extend(more);
    let (running, _, output) = Running::start(workspace, &args);
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    Serving { url: text("url"), token: text("token"), running, said }
}

impl Serving {
    fn authority(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }

    /// Posts a handshake; gives the status and everything behind it.
    fn post(&self, host: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } },
        })
        .to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n",
            body.len()
        );
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        request.push_str(&body);
        let mut stream = TcpStream::connect(self.authority()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        reader.read_line(&mut first).unwrap();
        let status = first.split_whitespace().nth(1).unwrap().parse().unwrap();
        let mut rest = String::new();
        // A stream of events stays open; what is wanted of it comes first.
        let mut piece = [0_u8; 4096];
        while !rest.contains("serverInfo") {
            match reader.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(count) => rest.push_str(&String::from_utf8_lossy(&piece[..count])),
            }
        }
        (status, rest)
    }
}

#[test]
fn only_who_brings_the_token_to_this_machine_is_answered() {
    let workspace = workspace();
    let serving = serve(&workspace, &[]);
    let bearer = format!("Bearer {}", serving.token);
    let own = serving.authority().to_owned();
    let (status, answer) = serving.post(&own, &[("Authorization", &bearer)]);
    assert!(status == 200 && answer.contains("\"name\":\"metier\""), "{status} {answer}");
    let (status, answer) = serving.post(&own, &[]);
    assert!(status == 401 && answer.to_lowercase().contains("www-authenticate: bearer"), "{status} {answer}");
    assert_eq!(serving.post(&own, &[("Authorization", "Bearer 0123456789abcdef0123456789abcdef")]).0, 401);
    // A page that made its own name lead here, and one that asks across sites.
    assert_eq!(serving.post("evil.example", &[("Authorization", &bearer)]).0, 403);
    assert_eq!(serving.post(&own, &[("Authorization", &bearer), ("Origin", "http://evil.example")]).0, 403);
    assert_eq!(serving.post(&own, &[("Authorization", &bearer), ("Origin", "http://localhost:3000")]).0, 200);

    let file = serving.said["token_file"].as_str().unwrap();
    assert!(file.starts_with(workspace.join("home").to_str().unwrap()), "{file}");
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), serving.token);
    drop(serving.post(&own, &[]));
    let again = serve(&workspace, &[]);
    assert_eq!(again.token, serving.token, "hosts go on with what they were configured with");
    assert_ne!(serve(&workspace, &["--new-token"]).token, serving.token);
}

#[test]
fn without_a_token_it_is_this_machine_alone_and_said() {
    let workspace = workspace();
    let serving = serve(&workspace, &["--no-token"]);
    assert!(serving.said["token"].is_null());
    assert_eq!(serving.post("localhost", &[]).0, 200);
    assert_eq!(serving.post("evil.example", &[]).0, 403);
    let run = metier(&workspace, &["serve", "--no-token", "--listen", "0.0.0.0:0"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("without a token it is listened on this machine alone"), "{}", run.stderr);
}
