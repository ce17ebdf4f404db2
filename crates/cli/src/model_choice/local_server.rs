//! Servers of models on this machine: who answers, and with which model.

use metier_model::{Endpoint, ModelId, Provider, Timeouts, list_models};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;

/// How long a connection may take. One to this machine takes microseconds or is refused; everybody who runs without a
/// configuration waits for this.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(50);

/// How long the whole answer may take: a list of names that lies ready.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// The first of these providers that answers, with the first model that it lists. All are asked at once.
pub(super) fn first_that_answers(providers: &[Provider]) -> Option<(Provider, ModelId)> {
    // Without a runtime no server is asked.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let asked: Vec<_> = providers
        .iter()
        .map(|provider| {
            let (name, base) = (provider.name.clone(), provider.base_url.clone());
            runtime.spawn(async move { first_model(&name, &base).await })
        })
        .collect();
    let answered = providers.iter().zip(asked).find_map(|(provider, asked)| {
        let model = runtime.block_on(asked).ok()??;
        Some((provider.clone(), model))
    });
    // Nobody waits for those that come after the first that answered.
    runtime.shutdown_background();
    answered
}

async fn first_model(provider: &str, base_url: &str) -> Option<ModelId> {
    let timeouts = Timeouts { connect: CONNECT_TIMEOUT, ..Timeouts::default() };
    let endpoint = Endpoint::new(&on_this_machine(base_url)?).ok()?.with_timeouts(timeouts);
    // A server that drips must not hold anybody up, so the time counts for all of it.
    let names = timeout(ANSWER_TIMEOUT, list_models(&endpoint)).await.ok()??;
    // A name that cannot be one is passed over: it is a stranger's text.
    names.iter().find_map(|name| format!("{provider}/{name}").parse().ok())
}

/// The address of a server with its host as a number, where that is this machine. No name is looked up: whoever moved a server
/// elsewhere says which model is asked there.
fn on_this_machine(base_url: &str) -> Option<String> {
    let rest = base_url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let literal = match host.strip_prefix("localhost") {
        Some(port) => format!("127.0.0.1{port}"),
        None => host.to_owned(),
    };
    let address = literal.parse().or_else(|_| format!("{literal}:80").parse());
    let address = address.ok().filter(|address: &SocketAddr| address.ip().is_loopback())?;
    Some(format!("http://{address}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::ProviderConfig;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Instant;

    /// Asks one server.
    fn asked(base_url: &str) -> Option<ModelId> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(first_model("ollama", base_url))
    }

    /// A server that says this to whoever comes first, and then closes or waits.
    fn server(answer: &'static str, waits: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /v1/models HTTP/1.1\r\n"));
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
            let found = asked(&server(answer, waits));
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
        assert_eq!(asked(&closed), None);
        assert!(began.elapsed() < Duration::from_millis(400));
        assert_eq!(asked("https://127.0.0.1:1/v1"), None);
        assert_eq!(asked("http://no host/v1"), None);
    }

    #[test]
    fn only_this_machine_is_asked_without_a_word() {
        let check = |host: &str, expect: Option<&str>| {
            let address = on_this_machine(&format!("http://{host}/v1"));
            let expect = expect.map(|expect| format!("http://{expect}/v1"));
            assert_eq!(address, expect, "{host}");
        };
        check("127.0.0.1:11434", Some("127.0.0.1:11434"));
        check("localhost:1234", Some("127.0.0.1:1234"));
        check("localhost", Some("127.0.0.1:80"));
        check("[::1]:8080", Some("[::1]:8080"));
        check("192.168.0.7:11434", None);
        check("localhost.example:80", None);
        check("example.com", None);
        assert_eq!(on_this_machine("http://localhost:1").as_deref(), Some("http://127.0.0.1:1/"));
    }

    #[test]
    fn the_first_provider_that_answers_is_taken_and_a_silent_one_only_costs_its_time() {
        const LIST: &str = "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"data\":[{\"id\":\"a\"}]}";
        let provider = |name: &str, base_url: String| {
            let config = ProviderConfig { base_url: Some(base_url), ..ProviderConfig::default() };
            Provider::configured(name, &config).unwrap()
        };
        let silent = provider("silent", server("", true));
        let (one, other) = (provider("one", server(LIST, true)), provider("other", server(LIST, true)));
        let began = Instant::now();
        let (found, model) = first_that_answers(&[silent, one, other]).unwrap();
        assert_eq!((found.name.as_str(), model.as_str()), ("one", "one/a"));
        assert!(began.elapsed() < 3 * ANSWER_TIMEOUT, "{:?}", began.elapsed());
        assert!(first_that_answers(&[provider("silent", server("", true))]).is_none());
        assert!(first_that_answers(&[]).is_none());
    }
}
