//! L11: A script does not see metier's command line; the proxy drops trailers.

use crate::binary::{metier, metier_with, workspace};
use crate::mcp_client::McpClient;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[test]
fn cmdline_of_metier_is_not_shown_to_a_script() {
    let document = "---\nname: lab\ndescription: Looks.\n---\nRun it.\n";
    let script =
        "for n in /proc/[0-9]*; do tr '\\0' ' ' < $n/cmdline; tr '\\0' ' ' < $n/environ; done 2>/dev/null";
    let workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file("home/.agents/skills/lab/scripts/a.sh", script);
    let args = ["exec", "lab", "a.sh", "--deny", "command:private-rule:*"];
    let run = metier_with(&workspace, &args, &[("PRIVATE_VARIABLE", "private-value")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for word in ["private-rule", "--deny", "exec lab", "private-value"] {
        assert!(!run.stdout.contains(word), "{word}: {}", run.stdout);
    }
    assert!(run.stdout.contains("metier-sandbox-helper"), "{}", run.stdout);
    // In a metier that stays, too.
    let mut client = McpClient::start(&workspace, &["--skill", "lab"], &json!({}));
    let answer = client.call("skill_run_script", &json!({ "skill_name": "lab", "script_name": "a.sh" }));
    let text = answer.to_string();
    assert!(text.contains("metier-sandbox-helper") && !text.contains("--skill"), "{text}");
}

/// A server that hands out what each connection sent, up to the end of a chunked body.
fn proxy_server() -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, requests) = channel();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let (mut heard, mut piece) = (Vec::new(), [0; 4096]);
            while !heard.ends_with(b"0\r\n\r\n") && !heard.ends_with(b"evil\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(count) if count > 0 => heard.extend_from_slice(&piece[..count]),
                    _ => break,
                }
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            let _ = sender.send(String::from_utf8_lossy(&heard).into_owned());
        }
    });
    (port, requests)
}

#[test]
fn proxy_drops_headers_after_the_last_chunk() {
    let (port, requests) = proxy_server();
    let skill = "---\nname: send\ndescription: Sends.\n---\nSend.\n";
    // Bash speaks to the proxy itself, so that every byte of the request is the test's.
    let script = format!(
        "place=${{HTTP_PROXY#http://}}\nplace=${{place%/}}\nexec 3<>/dev/tcp/${{place%:*}}/${{place##*:}}\n\
         printf 'POST http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nTE: trailers\\r\\nTrailer: Host\\r\\n\
         Transfer-Encoding: chunked\\r\\n\\r\\n3;x=y\\r\\nabc\\r\\n0\\r\\nX-Own: 1\\r\\nHost: evil\\r\\n\\r\\n' >&3\ncat <&3\n"
    );
    let workspace = workspace()
        .file("home/.agents/skills/send/SKILL.md", skill)
        .file("home/.agents/skills/send/scripts/send.sh", script);
    let host = format!("127.0.0.1:{port}");
    let run = metier(&workspace, &["exec", "send", "send.sh", "--host", &host]);
    assert!(run.stdout.contains("ok"), "{} {}", run.stdout, run.stderr);
    let heard = requests.recv_timeout(Duration::from_mins(1)).unwrap();
    // The control: the request came, with its body.
    assert!(heard.starts_with("POST / HTTP/1.1\r\n") && heard.contains("\r\nabc\r\n"), "{heard}");
    assert!(heard.ends_with("\r\n3\r\nabc\r\n0\r\n\r\n"), "{heard}");
    for gone in ["evil", "X-Own", "railer", "x=y"] {
        assert!(!heard.contains(gone), "{gone}: {heard}");
    }
}
