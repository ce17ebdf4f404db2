//! A server that misbehaves on request: HTTP on loopback, one thread per connection, the revision of 2025.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use metier_files::FileDigest;
use serde_json::{Value, json};

/// How the server misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Misbehavior {
    /// Not at all.
    #[default]
    None,
    /// Every page of its list has a new cursor.
    EndlessPages,
    /// Every page of its list has the same cursor.
    Circle,
    /// A file's content has the URI of another file.
    OtherAddress,
    /// A file's content is returned twice.
    Twice,
    /// A response to a read does not end.
    EndlessBody,
    /// A read is redirected.
    Redirect,
}

/// The state of the server.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) entries: Mutex<Vec<Value>>,
    pub(crate) files: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) reads: Mutex<Vec<String>>,
    pub(crate) asked: Mutex<Vec<String>>,
    pub(crate) misbehavior: Mutex<Misbehavior>,
    is_stopped: AtomicBool,
}

/// The server. It stops when dropped.
pub(crate) struct HostileServer {
    pub(crate) url: String,
    pub(crate) state: Arc<State>,
    address: std::net::SocketAddr,
}

impl HostileServer {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let serving = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_stopped.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&serving);
                if let Ok(stream) = stream {
                    thread::spawn(move || serve(&stream, &state));
                }
            }
        });
        Self { url: format!("http://{address}/mcp"), state, address }
    }

    /// Serves a skill: its files, and a correct entry.
    pub(crate) fn skill(self, base: &str, frontmatter: &str, files: &[(&str, &str)]) -> Self {
        let document = format!("---\n{frontmatter}\n---\nDo it with $ARGUMENTS.\n");
        let mut all = vec![("SKILL.md", document.as_str())];
        all.extend_from_slice(files);
        let fields: serde_json::Map<String, Value> = frontmatter
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect();
        let resources: Vec<Value> =
            all.iter().map(|(path, text)| listed(base, path, text.as_bytes())).collect();
        let entry =
            json!({ "uri": format!("{base}/SKILL.md"), "frontmatter": fields, "resources": resources });
        self.state.entries.lock().unwrap().push(entry);
        for (path, text) in all {
            self.serve(&format!("{base}/{path}"), text.as_bytes());
        }
        self
    }

    /// Replaces the bytes at a URI.
    pub(crate) fn serve(&self, uri: &str, bytes: &[u8]) {
        self.state.files.lock().unwrap().insert(uri.to_owned(), bytes.to_vec());
    }

    /// Changes an entry of the list.
    pub(crate) fn change(&self, at: usize, change: impl FnOnce(&mut Value)) {
        change(&mut self.state.entries.lock().unwrap()[at]);
    }

    pub(crate) fn misbehave(&self, misbehavior: Misbehavior) {
        *self.state.misbehavior.lock().unwrap() = misbehavior;
    }

    pub(crate) fn reads(&self) -> Vec<String> {
        self.state.reads.lock().unwrap().clone()
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.state.is_stopped.store(true, Ordering::SeqCst);
        // The last connection wakes the accept loop, which then ends.
        let _ = TcpStream::connect(self.address);
    }
}

/// A correct list item for a file.
pub(crate) fn listed(base: &str, path: &str, bytes: &[u8]) -> Value {
    json!({ "uri": format!("{base}/{path}"), "digest": FileDigest::of(bytes).to_string(), "size": bytes.len() })
}

fn serve(stream: &TcpStream, state: &State) {
    let mut reader = BufReader::new(stream);
    while let Some((method, body)) = request(&mut reader) {
        let mut writer = stream;
        if method != "POST" {
            let _ = writer.write_all(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (Some(id), Some(asked)) = (message.get("id"), message["method"].as_str()) else {
            let _ = writer.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
            continue;
        };
        state.asked.lock().unwrap().push(asked.to_owned());
        let misbehavior = *state.misbehavior.lock().unwrap();
        if asked == "resources/read" && misbehavior == Misbehavior::EndlessBody {
            let _ = writer.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            );
            let piece = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
            while writer.write_all(&piece).is_ok() {}
            return;
        }
        if asked == "resources/read" && misbehavior == Misbehavior::Redirect {
            let _ = writer.write_all(
                b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/mcp\r\nContent-Length: 0\r\n\r\n",
            );
            continue;
        }
        let answer = match answer(asked, &message["params"], state, misbehavior) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(why) => {
                let code = if why.ends_with("is unknown") { -32601 } else { -32602 };
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
            }
        };
        let body = answer.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let method = line.split(' ').next()?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|read| *read > 0)?;
        if header == "\r\n" {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((method, body))
}

fn answer(method: &str, params: &Value, state: &State, misbehavior: Misbehavior) -> Result<Value, String> {
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "resources": {}, "tools": {}, "extensions": { "io.modelcontextprotocol/skills": {} },
            },
            "serverInfo": { "name": "the one you trust", "version": "1" },
        })),
        "skills/list" => {
            let number: u64 =
                params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or_default();
            let skills = if number == 0 { state.entries.lock().unwrap().clone() } else { Vec::new() };
            Ok(match misbehavior {
                Misbehavior::EndlessPages => {
                    json!({ "skills": skills, "nextCursor": (number + 1).to_string() })
                }
                Misbehavior::Circle => json!({ "skills": skills, "nextCursor": "1" }),
                _ => json!({ "skills": skills }),
            })
        }
        "resources/read" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            state.reads.lock().unwrap().push(uri.to_owned());
            let files = state.files.lock().unwrap();
            let bytes = files.get(uri).ok_or("no such resource")?;
            let at = if misbehavior == Misbehavior::OtherAddress { "skill://other/SKILL.md" } else { uri };
            let content =
                json!({ "uri": at, "mimeType": "text/plain", "text": String::from_utf8_lossy(bytes) });
            let contents = if misbehavior == Misbehavior::Twice {
                vec![content.clone(), content]
            } else {
                vec![content]
            };
            Ok(json!({ "contents": contents }))
        }
        "tools/list" => Ok(json!({ "tools": [
            { "name": "look", "description": "Looks.", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
            { "name": "act", "inputSchema": { "type": "object" } },
        ] })),
        "tools/call" => {
            Ok(json!({ "content": [{ "type": "text", "text": format!("called {}", params["name"]) }] }))
        }
        other => Err(format!("{other} is unknown")),
    }
}
