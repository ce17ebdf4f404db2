//! What goes wrong on the way, in every protocol.

use std::time::Duration;

use metier_model::{Event, ModelError, Protocol, Timeouts, Wait, sse};

use crate::in_every_protocol;
use crate::server::{Reply, Server, ask, remote};
use crate::stories::{beginning, end, stopping, story, story_events};

async fn a_connection_cut_in_the_middle(protocol: Protocol) {
    let text = beginning(protocol);
    let server = Server::start([Reply::stream(&text).cut(), Reply::stream(&story(protocol))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(events, [Event::Text("Hel".into()), Event::Text("lo ä😀".into())]);
    let Some(ModelError::CutOff { received, .. }) = &error else { panic!("{error:?}") };
    assert_eq!((received.bytes, received.events), (text.len() as u64, 2));
    let words = error.unwrap().to_string();
    assert!(words.ends_with(&format!("{} bytes with 2 events had come", text.len())), "{words}");
    // What was passed on may have been acted upon: nobody asks again by himself.
    assert_eq!(server.seen().len(), 1);
}

async fn a_stream_that_ends_without_its_end(protocol: Protocol) {
    let server = Server::start([Reply::stream(&beginning(protocol))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(events.len(), 2);
    assert!(matches!(error, Some(ModelError::CutOff { .. })), "{error:?}");
}

async fn a_stream_that_breaks_off_inside_an_event(protocol: Protocol) {
    // In the middle of an object, and in the middle of a character.
    for rest in [b"data: {\"choices\":[{\"del".as_slice(), b"data: {\"a\":\"\xf0\x9f"] {
        let bytes = [beginning(protocol).as_bytes(), rest].concat();
        let server = Server::start([Reply::pieces([bytes.as_slice()])]).await;
        let (events, error) = ask(&server.model(protocol)).await;
        assert_eq!(events.len(), 2);
        assert!(matches!(error, Some(ModelError::CutOff { .. })), "{error:?}");
    }
}

async fn a_cut_behind_the_reason_to_end_costs_nothing(protocol: Protocol) {
    let text = [beginning(protocol), end(protocol, stopping(protocol))].concat();
    let text = text
        .replace("data: [DONE]\n\n", "")
        .replace("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "");
    let server = Server::start([Reply::stream(&text).cut()]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(error, None);
    assert!(matches!(events.last(), Some(Event::End(metier_model::Stop::EndOfTurn))), "{events:?}");
}

async fn a_stall_before_the_first_byte(protocol: Protocol) {
    let server = Server::start([Reply::silence()]).await;
    let timeouts = Timeouts { first_byte: Duration::from_millis(80), ..Timeouts::default() };
    let (events, error) = ask(&remote(protocol, server.endpoint().with_timeouts(timeouts))).await;
    assert!(events.is_empty());
    let Some(ModelError::Stalled { wait, after, .. }) = error else { panic!("{error:?}") };
    assert_eq!((wait, after), (Wait::FirstByte, Duration::from_millis(80)));
    server.was_left().await;
}

async fn a_stall_between_bytes(protocol: Protocol) {
    let server = Server::start([Reply::stream(&beginning(protocol)).hanging()]).await;
    let timeouts = Timeouts { between_bytes: Duration::from_millis(80), ..Timeouts::default() };
    let (events, error) = ask(&remote(protocol, server.endpoint().with_timeouts(timeouts))).await;
    assert_eq!(events.len(), 2);
    let Some(ModelError::Stalled { wait, received, .. }) = error else { panic!("{error:?}") };
    assert_eq!((wait, received.events), (Wait::NextByte, 2));
    server.was_left().await;
}

async fn a_line_that_never_ends(protocol: Protocol) {
    let long = "x".repeat(1 << 20);
    let pieces = (0..=sse::MAX_EVENT >> 20).map(|_| long.as_bytes());
    let server = Server::start([Reply::pieces([b"data: ".as_slice()].into_iter().chain(pieces))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert!(events.is_empty());
    let Some(ModelError::Garbled { why, .. }) = error else { panic!("{error:?}") };
    assert_eq!(why, "one event has more than 16777216 bytes");
}

async fn bytes_that_are_no_text(protocol: Protocol) {
    let bytes = [beginning(protocol).as_bytes(), b"data: \xff\xfe\n\n"].concat();
    let server = Server::start([Reply::pieces([bytes.as_slice()])]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(events.len(), 2);
    assert!(
        matches!(&error, Some(ModelError::Garbled { why, .. }) if why == "a line is not UTF-8"),
        "{error:?}"
    );
}

async fn an_event_that_is_no_json(protocol: Protocol) {
    let text = format!("{}data: {{oops\n\n", beginning(protocol));
    let server = Server::start([Reply::stream(&text)]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(events.len(), 2);
    assert!(matches!(&error, Some(ModelError::Garbled { why, .. }) if why.contains("not JSON")), "{error:?}");
}

async fn a_page_of_a_proxy(protocol: Protocol) {
    let page = "<html><body>Please log in to the guest network.</body></html>";
    let server = Server::start([Reply::status(200, "content-type: text/html\r\n", page)]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert!(events.is_empty());
    let Some(ModelError::NotAStream { content_type, beginning }) = error else { panic!("{error:?}") };
    assert_eq!((&*content_type, &*beginning), ("text/html", page));
}

async fn a_fault_that_pretends_to_be_an_answer(protocol: Protocol) {
    let body = r#"{"type":"error","error":{"message":"no such model","code":404,"type":"not_found_error"}}"#;
    let server = Server::start([Reply::status(200, "content-type: application/json\r\n", body)]).await;
    let (_, error) = ask(&server.model(protocol)).await;
    assert_eq!(error, Some(ModelError::Refused { status: 404, message: "no such model".into() }));
}

async fn a_fault_in_the_middle_of_a_stream(protocol: Protocol) {
    let fault = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\",\"code\":529}}\n\n";
    let server = Server::start([Reply::stream(&[&beginning(protocol), fault].concat())]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(events.len(), 2);
    assert!(matches!(&error, Some(ModelError::CutOff { why, .. }) if why == "Overloaded"), "{error:?}");
    assert_eq!(server.seen().len(), 1);
}

async fn a_refusal_in_the_provider_s_own_words(protocol: Protocol) {
    let body = r#"{"error":{"message":"max_tokens is too large","type":"invalid_request_error"}}"#;
    let server = Server::start([Reply::status(400, "", body), Reply::stream(&story(protocol))]).await;
    let (events, error) = ask(&server.model(protocol)).await;
    assert!(events.is_empty());
    assert_eq!(error, Some(ModelError::Refused { status: 400, message: "max_tokens is too large".into() }));
    assert_eq!(server.seen().len(), 1);
}

async fn a_refusal_is_cut(protocol: Protocol) {
    let server = Server::start([Reply::status(400, "", &"x".repeat(100_000))]).await;
    let (_, error) = ask(&server.model(protocol)).await;
    let Some(ModelError::Refused { message, .. }) = error else { panic!("{error:?}") };
    assert_eq!(message.chars().count(), 601);
}

async fn no_http_at_all(protocol: Protocol) {
    let replies = (0..4).map(|_| Reply::raw(b"SSH-2.0-OpenSSH_9.6\r\n"));
    let server = Server::start(replies).await;
    tokio::time::pause();
    let (events, error) = ask(&server.model(protocol)).await;
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(matches!(error, Some(ModelError::CutOff { .. })), "{error:?}");
}

async fn times_that_no_clock_can_show(protocol: Protocol) {
    let server = Server::start([Reply::stream(&story(protocol))]).await;
    let timeouts =
        Timeouts { first_byte: Duration::MAX, between_bytes: Duration::MAX, ..Timeouts::default() };
    let model = remote(protocol, server.endpoint().with_timeouts(timeouts));
    assert_eq!(ask(&model).await, (story_events(), None));
}

/// A server that does not stream answers with the whole.
#[tokio::test]
async fn an_answer_in_one_piece() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let server = Server::start([Reply::status(200, "content-type: application/json\r\n", body)]).await;
    let (events, error) = ask(&server.model(Protocol::OpenAi)).await;
    assert_eq!((events.len(), error), (6, None), "{events:?}");
    assert_eq!(events[0], Event::Text("Hello".into()));
    assert_eq!(events[5], Event::End(metier_model::Stop::ToolCalls));
}

async fn headers_without_a_kind_and_other_line_ends(protocol: Protocol) {
    let text = format!("\u{feff}: hello\r\r{}", story(protocol).replace('\n', "\r"));
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    let server = Server::start([Reply::raw([head, &text].concat().as_bytes())]).await;
    assert_eq!(ask(&server.model(protocol)).await, (story_events(), None));
}

in_every_protocol!(
    a_connection_cut_in_the_middle,
    a_stream_that_ends_without_its_end,
    a_stream_that_breaks_off_inside_an_event,
    a_cut_behind_the_reason_to_end_costs_nothing,
    a_stall_before_the_first_byte,
    a_stall_between_bytes,
    a_line_that_never_ends,
    bytes_that_are_no_text,
    an_event_that_is_no_json,
    a_page_of_a_proxy,
    a_fault_that_pretends_to_be_an_answer,
    a_fault_in_the_middle_of_a_stream,
    a_refusal_in_the_provider_s_own_words,
    a_refusal_is_cut,
    no_http_at_all,
    times_that_no_clock_can_show,
    headers_without_a_kind_and_other_line_ends,
);
