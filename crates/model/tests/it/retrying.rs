//! When a provider is asked again.

use std::time::Duration;

use metier_model::{Endpoint, Event, MAX_WAIT, ModelError, Protocol};

use crate::in_every_protocol;
use crate::server::{Reply, Server, ask, remote};
use crate::stories::{story, story_events};

const SLOW: &str = r#"{"error":{"message":"slow down"}}"#;

fn retries(events: &[Event]) -> Vec<(u32, Duration, String)> {
    let retry = |event: &Event| match event {
        Event::Retrying { attempt, after, why } => Some((*attempt, *after, why.clone())),
        _ => None,
    };
    events.iter().filter_map(retry).collect()
}

async fn status_429_with_retry_after(protocol: Protocol) {
    let server =
        Server::start([Reply::status(429, "retry-after: 0\r\n", SLOW), Reply::stream(&story(protocol))])
            .await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(error, None);
    let said = retries(&events);
    assert_eq!((said.len(), said[0].0, said[0].1), (1, 2, Duration::ZERO));
    assert!(said[0].2.contains("429") && said[0].2.contains("slow down"), "{said:?}");
    assert_eq!(events[1..], story_events());
    let seen = server.seen();
    assert_eq!((seen.len(), &seen[0].body), (2, &seen[1].body));
}

async fn status_429_with_a_date(protocol: Protocol) {
    let headers = "date: Mon, 16 Nov 2026 12:00:00 GMT\r\nretry-after: Mon, 16 Nov 2026 12:00:00 GMT\r\n";
    let server = Server::start([Reply::status(429, headers, SLOW), Reply::stream(&story(protocol))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!((error, retries(&events)[0].1), (None, Duration::ZERO));
}

async fn status_529(protocol: Protocol) {
    let server =
        Server::start([Reply::status(529, "retry-after: 0\r\n", SLOW), Reply::stream(&story(protocol))])
            .await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!((error, &events[1..]), (None, story_events().as_slice()));
}

async fn a_fourth_refusal_is_an_error(protocol: Protocol) {
    let busy = Reply::status(503, "retry-after: 0\r\n", SLOW);
    let server = Server::start([busy.clone(), busy.clone(), busy.clone(), busy.clone(), busy]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(retries(&events).iter().map(|retry| retry.0).collect::<Vec<_>>(), [2, 3, 4]);
    let expect =
        ModelError::Busy { status: 503, message: "slow down".into(), retry_after: Some(Duration::ZERO) };
    assert_eq!((error, server.seen().len()), (Some(expect), 4));
}

async fn a_wait_beyond_the_cap_is_an_error_that_says_when(protocol: Protocol) {
    let seconds = MAX_WAIT.as_secs() + 1;
    let server = Server::start([Reply::status(429, &format!("retry-after: {seconds}\r\n"), SLOW)]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert!(events.is_empty());
    let words = error.unwrap().to_string();
    assert_eq!(words, "the provider could not answer (429): slow down; it can be asked again in 61 s");
}

/// The first wait of our own is real here; the others are in the table beside the code.
async fn a_cut_before_the_first_event(protocol: Protocol) {
    let server = Server::start([Reply::raw(b""), Reply::stream(&story(protocol))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!((error, retries(&events)[0].1), (None, Duration::from_secs(1)));
    assert_eq!(events[1..], story_events());
}

/// An overload that is told inside of a stream, before anything else.
async fn a_fault_as_the_first_event(protocol: Protocol) {
    let fault = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\",\"code\":529}}\n\n";
    let server = Server::start([Reply::stream(fault), Reply::stream(&story(protocol))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!((error, retries(&events).len()), (None, 1));
    assert!(retries(&events)[0].2.contains("529"), "{events:?}");
}

async fn nobody_listens(protocol: Protocol) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let (events, error) =
        ask(&remote(protocol, Endpoint::new(&format!("http://{address}/v1")).unwrap())).await;
    assert_eq!(retries(&events).iter().map(|retry| retry.1.as_secs()).collect::<Vec<_>>(), [1, 2, 4]);
    assert!(began.elapsed() >= Duration::from_secs(7));
    let words = error.unwrap().to_string();
    assert!(words.starts_with(&format!("`{address}` cannot be reached: Connection refused")), "{words}");
}

/// The server waits for a request that it understands, and TLS waits for an answer.
async fn a_server_without_tls(protocol: Protocol) {
    let server = Server::start([]).await;
    tokio::time::pause();
    let endpoint = Endpoint::new(&format!("https://{}/v1", server.address)).unwrap();
    let (events, error) = ask(&remote(protocol, endpoint)).await;
    assert_eq!(retries(&events).len(), 3);
    assert!(matches!(error, Some(ModelError::Unreachable { .. })), "{error:?}");
}

in_every_protocol!(
    status_429_with_retry_after,
    status_429_with_a_date,
    status_529,
    a_fourth_refusal_is_an_error,
    a_wait_beyond_the_cap_is_an_error_that_says_when,
    a_cut_before_the_first_event,
    a_fault_as_the_first_event,
    nobody_listens,
    a_server_without_tls,
);
