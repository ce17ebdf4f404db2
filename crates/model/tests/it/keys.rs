//! Keys: where they go, and where they never are.

use metier_model::{Endpoint, Key, ModelError, PlainHttp, Protocol};

use crate::in_every_protocol;
use crate::server::{Reply, Server, ask, remote};
use crate::stories::{story, story_events};

pub(crate) const KEY: &str = "sk-test-3f9a2b7c1d8e";
const TEAM: &str = "team-secret-77aa";

pub(crate) fn with_key(endpoint: Endpoint) -> Endpoint {
    let team = Key::new(TEAM).unwrap();
    endpoint.with_key(Key::new(KEY).unwrap()).with_header("x-team", team).unwrap()
}

async fn the_key_goes_into_the_header_of_its_protocol(protocol: Protocol) {
    let server = Server::start([Reply::stream(&story(protocol))]).await;
    assert_eq!(ask(&remote(protocol, with_key(server.endpoint()))).await, (story_events(), None));
    let head = server.seen()[0].head.clone();
    let line = match protocol {
        Protocol::OpenAi => format!("authorization: Bearer {KEY}\r\n"),
        Protocol::Anthropic => format!("x-api-key: {KEY}\r\n"),
        Protocol::Gemini => format!("x-goog-api-key: {KEY}\r\n"),
    };
    assert_eq!(head.matches(&line).count(), 1, "{head}");
    assert!(head.contains(&format!("x-team: {TEAM}\r\n")), "{head}");
    // Not in the address, which servers and proxies write down.
    assert!(!head.lines().next().unwrap().contains(KEY), "{head}");
    assert_eq!(head.contains("anthropic-version: 2023-06-01\r\n"), protocol == Protocol::Anthropic);
}

async fn status_401_with_the_key_in_its_message(protocol: Protocol) {
    let body = format!(
        "{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY} ({TEAM}), see your account\"}}}}"
    );
    let server = Server::start([Reply::status(401, "", &body)]).await;
    let (events, error) = ask(&remote(protocol, with_key(server.endpoint()))).await;
    assert!(events.is_empty());
    let error = error.unwrap();
    for shown in [format!("{error}"), format!("{error:?}"), serde_json::to_string(&error).unwrap()] {
        assert!(!shown.contains(KEY) && !shown.contains(TEAM), "{shown}");
        assert!(shown.contains("[secret API_KEY]"), "{shown}");
    }
    assert!(error.to_string().ends_with("look at the key and at what it may do"), "{error}");
}

/// The limit of a message falls into the key: redaction must come first.
async fn a_key_at_the_place_of_a_cut_leaves_no_half(protocol: Protocol) {
    let body = format!("{}{KEY}{}", "x".repeat(590), "y".repeat(100));
    let server = Server::start([Reply::status(400, "", &body)]).await;
    let (_, error) = ask(&remote(protocol, with_key(server.endpoint()))).await;
    assert!(!error.unwrap().to_string().contains("sk-test"));
}

/// What is read of a body ends inside of the key, by its length or by a cut connection, and blanks before it are left out.
async fn a_body_that_breaks_off_in_the_key_leaves_no_half(protocol: Protocol) {
    let blanks = " ".repeat((64 << 10) - 10);
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let head = "HTTP/1.1 400 Said\r\ntransfer-encoding: chunked\r\n\r\n";
    let long = [head, &chunk(&blanks), &chunk(&KEY[..12]), &chunk(&KEY[12..]), "0\r\n\r\n"].concat();
    let cut = [head, &chunk(&KEY[..12])].concat();
    let server = Server::start([long, cut].map(|text| Reply::raw(text.as_bytes()))).await;
    let model = remote(protocol, with_key(server.endpoint()));
    for _ in 0..2 {
        let (_, error) = ask(&model).await;
        let Some(ModelError::Refused { status: 400, message }) = error else { panic!("{error:?}") };
        assert!(!message.contains("sk-"), "{message}");
    }
}

async fn a_page_and_a_fault_in_a_stream_show_no_key(protocol: Protocol) {
    let page = Reply::status(200, "content-type: text/html\r\n", &format!("<p>{KEY}</p>"));
    let fault = Reply::stream(&format!(
        "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"message\":\"{KEY}\",\"code\":400,\"type\":\"invalid_request_error\"}}}}\n\n"
    ));
    let server = Server::start([page, fault]).await;
    let model = remote(protocol, with_key(server.endpoint()));
    for _ in 0..2 {
        let (_, error) = ask(&model).await;
        let shown = format!("{error:?}");
        assert!(shown.contains("[secret API_KEY]") && !shown.contains(KEY), "{shown}");
    }
    assert!(!format!("{model:?}").contains(KEY));
}

async fn a_redirect_is_not_followed(protocol: Protocol) {
    let other = Server::start([Reply::stream(&story(protocol))]).await;
    let location = format!("location: http://{}/v1/steal\r\n", other.address);
    let server = Server::start([Reply::status(307, &location, "")]).await;
    let (events, error) = ask(&remote(protocol, with_key(server.endpoint()))).await;
    assert!(events.is_empty());
    let Some(ModelError::Refused { status: 307, message }) = error else { panic!("{error:?}") };
    assert!(message.contains(&other.address.to_string()), "{message}");
    assert_eq!((other.connections(), other.seen().len()), (0, 0));
}

async fn a_given_proxy_is_used(protocol: Protocol) {
    let proxy = Server::start([Reply::stream(&story(protocol))]).await;
    let endpoint = Endpoint::new("http://model.invalid/v1")
        .unwrap()
        .with_plain_http(PlainHttp::Allow)
        .with_proxy(&format!("http://user:hunter22@{}", proxy.address))
        .unwrap();
    let model = remote(protocol, with_key(endpoint));
    assert_eq!(ask(&model).await, (story_events(), None));
    let head = proxy.seen()[0].head.clone();
    assert!(head.starts_with("POST http://model.invalid/v1/"), "{head}");
    assert!(!format!("{model:?}").contains("hunter22"));
    assert!(head.contains("proxy-authorization: Basic dXNlcjpodW50ZXIyMg=="), "{head}");
}

in_every_protocol!(
    the_key_goes_into_the_header_of_its_protocol,
    status_401_with_the_key_in_its_message,
    a_key_at_the_place_of_a_cut_leaves_no_half,
    a_body_that_breaks_off_in_the_key_leaves_no_half,
    a_page_and_a_fault_in_a_stream_show_no_key,
    a_redirect_is_not_followed,
    a_given_proxy_is_used,
);
