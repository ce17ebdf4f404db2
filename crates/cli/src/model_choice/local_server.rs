//! Servers of models on this machine: who answers, and with which model.

use metier_model::{ModelId, Provider};
use serde::Deserialize;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long a connection may take. One to this machine takes microseconds or is refused; everybody who runs without a
/// configuration waits for this.
const CONNECT: Duration = Duration::from_millis(50);

/// How long the whole answer may take: a list of names that lies ready.
const ANSWER: Duration = Duration::from_millis(500);

/// The largest list that is read. A thousand models are a quarter of it; what sends more is something else.
const MOST_BYTES: u64 = 1 << 20;

/// The first of these providers that answers, with the first model that it lists. All are asked at once.
pub(super) fn first_that_answers(providers: &[Provider]) -> Option<(Provider, ModelId)> {
    let asked: Vec<_> = providers
        .iter()
        .map(|provider| {
            let (name, base) = (provider.name.clone(), provider.base_url.clone());
            // A thread that cannot be started is a server that is not asked.
            thread::Builder::new().spawn(move || first_model(&name, &base)).ok()
        })
        .collect();
    let answers: Vec<_> = asked.into_iter().map(|asked| asked?.join().ok()?).collect();
    providers.iter().zip(answers).find_map(|(provider, answer)| Some((provider.clone(), answer?)))
}

#[derive(Deserialize)]
struct Listed {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

fn first_model(provider: &str, base_url: &str) -> Option<ModelId> {
    let body = get(base_url)?;
    let listed: Listed = serde_json::from_slice(&body).ok()?;
    // A name that cannot be one is passed over: it is a stranger's text.
    listed.data.iter().find_map(|model| format!("{provider}/{}", model.id).parse().ok())
}

/// `GET {base}/models`, as plainly as can be: no redirect is followed and no key is sent. In the older version of HTTP,
/// since there a body ends with its connection and is never in pieces.
fn get(base_url: &str) -> Option<Vec<u8>> {
    let rest = base_url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = on_this_machine(host)?;
    let deadline = Instant::now() + ANSWER;
    let mut stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { "/models".to_owned() } else { format!("/{path}/models") };
    stream.set_write_timeout(Some(ANSWER)).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    let mut piece = [0; 8 << 10];
    loop {
        // A server that drips must not hold anybody up, so the time counts for all of it.
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut piece).ok()? {
            0 => break,
            read => answer.extend_from_slice(piece.get(..read)?),
        }
        if answer.len() as u64 > MOST_BYTES {
            return None;
        }
        if let Some(body) = whole_body(&answer) {
            return Some(body.to_vec());
        }
    }
    let (head, body) = head_and_body(&answer)?;
    is_fine(head).then(|| body.to_vec())
}

/// The address of a host with its port, where it is this machine. No name is looked up: whoever moved a server elsewhere says
/// which model is asked there.
fn on_this_machine(host: &str) -> Option<SocketAddr> {
    let literal = match host.strip_prefix("localhost") {
        Some(port) => format!("127.0.0.1{port}"),
        None => host.to_owned(),
    };
    let address = literal.parse().or_else(|_| format!("{literal}:80").parse());
    address.ok().filter(|address: &SocketAddr| address.ip().is_loopback())
}

/// The body once all of it has come, where its length was told: servers that keep the connection open are not waited for.
fn whole_body(answer: &[u8]) -> Option<&[u8]> {
    let (head, body) = head_and_body(answer)?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    body.get(..length).filter(|_| is_fine(head))
}

fn head_and_body(answer: &[u8]) -> Option<(&str, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    Some((head, answer.get(end + 4..)?))
}

fn is_fine(head: &str) -> bool {
    head.starts_with("HTTP/1.") && head.split(' ').nth(1) == Some("200")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A server that says this to whoever comes first, and then closes or waits.
    fn server(answer: &'static str, waits: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /v1/models HTTP/1.0\r\n"));
            stream.write_all(answer.as_bytes()).unwrap();
            if waits {
                thread::sleep(Duration::from_secs(5));
            }
        });
        format!("http://{address}/v1")
    }

    #[test]
    fn the_first_model_of_a_list_is_taken_and_whatever_is_no_list_is_not() {
        const LIST: &str = "{\"object\":\"list\",\"data\":[{\"id\":\"qwen3:8b\"},{\"id\":\"b\"}]}";
        let check = |answer: &'static str, waits: bool, expect: Option<&str>| {
            let found = first_model("ollama", &server(answer, waits));
            assert_eq!(found.as_ref().map(ModelId::as_str), expect, "{answer}");
        };
        let with = |head: &str, body: &str| -> &'static str {
            Box::leak(format!("{head}\r\n\r\n{body}").into_boxed_str())
        };
        check(with("HTTP/1.1 200 OK", LIST), false, Some("ollama/qwen3:8b"));
        let told = format!("HTTP/1.1 200 OK\r\nContent-Length: {}", LIST.len());
        check(with(&told, LIST), true, Some("ollama/qwen3:8b"));
        check(with("HTTP/1.1 401 Unauthorized", LIST), false, None);
        check(with("HTTP/1.1 302 Found\r\nLocation: http://evil.example/", ""), false, None);
        check(with("HTTP/1.1 200 OK", "<html>a web page</html>"), false, None);
        check(with("HTTP/1.1 200 OK", "{\"data\":[]}"), false, None);
        let named = "{\"data\":[{\"id\":\"a b\"},{\"id\":\"\\u001b[2J\"},{\"id\":\"fine\"}]}";
        check(with("HTTP/1.1 200 OK", named), false, Some("ollama/fine"));
        check("", true, None);
    }

    #[test]
    fn nobody_is_waited_for_where_nobody_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = format!("http://{}/v1", listener.local_addr().unwrap());
        drop(listener);
        let began = Instant::now();
        assert_eq!(get(&closed), None);
        assert!(began.elapsed() < Duration::from_millis(400));
        assert_eq!(get("https://127.0.0.1:1/v1"), None);
        assert_eq!(get("http://no host/v1"), None);
    }

    #[test]
    fn only_this_machine_is_asked_without_a_word() {
        let check = |host: &str, expect: Option<&str>| {
            let address = on_this_machine(host).map(|address| address.to_string());
            assert_eq!(address.as_deref(), expect, "{host}");
        };
        check("127.0.0.1:11434", Some("127.0.0.1:11434"));
        check("localhost:1234", Some("127.0.0.1:1234"));
        check("localhost", Some("127.0.0.1:80"));
        check("[::1]:8080", Some("[::1]:8080"));
        check("192.168.0.7:11434", None);
        check("localhost.example:80", None);
        check("example.com", None);
    }
}
