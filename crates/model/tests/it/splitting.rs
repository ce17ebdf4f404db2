//! Fragments split at any byte.

use metier_model::{Arguments, Protocol, Stop, whole};

use crate::in_every_protocol;
use crate::server::{Reply, Server, ask, hello};
use crate::stories::{beginning, calling, calls, end, stopping, story, story_events};

/// A short answer, once for every place where it can be split in two.
async fn fragments_split_at_any_byte(protocol: Protocol) {
    let text = story(protocol);
    let bytes = text.as_bytes();
    let places: Vec<usize> = (1..bytes.len()).collect();
    let replies = places.iter().map(|place| Reply::pieces([&bytes[..*place], &bytes[*place..]]));
    let server = Server::start(replies).await;
    let model = server.model(protocol);
    for place in places {
        assert_eq!(ask(&model).await, (story_events(), None), "split at {place}");
    }
}

async fn fragments_of_one_byte_each(protocol: Protocol) {
    let text = story(protocol).replace('\n', "\r\n");
    let server = Server::start([Reply::pieces(text.as_bytes().chunks(1))]).await;
    assert_eq!(ask(&server.model(protocol)).await, (story_events(), None));
}

/// A long answer, split at random places.
async fn a_long_answer_split_at_random(protocol: Protocol) {
    let long = [beginning(protocol).repeat(40), end(protocol, stopping(protocol))].concat();
    let expect = "Hello ä😀".repeat(40);
    let mut state = 0x2545_f491_4f6c_dd1d;
    let mut replies = Vec::new();
    for _ in 0..20 {
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut rest = long.as_bytes();
        while !rest.is_empty() {
            let size = 1 + random(&mut state) % 97;
            let (piece, more) = rest.split_at(size.min(rest.len()));
            pieces.push(piece);
            rest = more;
        }
        replies.push(Reply::pieces(pieces));
    }
    let count = replies.len();
    let server = Server::start(replies).await;
    let model = server.model(protocol);
    for _ in 0..count {
        let answered = whole(metier_model::ChatModel::ask(&model, &hello())).await.unwrap();
        assert_eq!((answered.text(), answered.stop.clone()), (expect.clone(), Some(Stop::EndOfTurn)));
    }
}

/// The next of a fixed row of numbers, so that a failure happens again.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 40).unwrap()
}

async fn tool_arguments_in_pieces(protocol: Protocol) {
    let pieces: &[&str] = &["{\"pa", "th\": \"ä", "😀\\\"", ".txt\"", ", \"n\": 1}"];
    let text = [calls(protocol, &[("c1", "read", pieces)]), end(protocol, calling(protocol))].concat();
    let server = Server::start([Reply::stream(&text)]).await;
    let model = server.model(protocol);
    let answered = whole(metier_model::ChatModel::ask(&model, &hello())).await.unwrap();
    let calls = answered.calls();
    let fields = calls[0].arguments.fields().unwrap();
    assert_eq!((fields["path"].as_str(), fields["n"].as_u64()), (Some("ä😀\".txt"), Some(1)));
    assert_eq!(answered.stop, Some(Stop::ToolCalls));
}

async fn parallel_tool_calls(protocol: Protocol) {
    let three: &[(&str, &str, &[&str])] = &[
        ("a", "read", &["{\"path\"", ":\"1\"}"]),
        ("b", "read", &["{\"path\":\"2\"}"]),
        ("c", "list", &["{}"]),
    ];
    let text = [beginning(protocol), calls(protocol, three), end(protocol, calling(protocol))].concat();
    let server = Server::start([Reply::stream(&text)]).await;
    let model = server.model(protocol);
    let answered = whole(metier_model::ChatModel::ask(&model, &hello())).await.unwrap();
    let calls = answered.calls();
    let found: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.name, call.arguments.raw())).collect();
    assert_eq!(
        found,
        [("a", "read", "{\"path\":\"1\"}"), ("b", "read", "{\"path\":\"2\"}"), ("c", "list", "{}")]
    );
}

in_every_protocol!(
    fragments_split_at_any_byte,
    fragments_of_one_byte_each,
    a_long_answer_split_at_random,
    tool_arguments_in_pieces,
    parallel_tool_calls,
);

/// Gemini sends arguments as values; the two others as text, which need not be JSON.
#[tokio::test]
async fn malformed_json_from_the_model() {
    for protocol in [Protocol::OpenAi, Protocol::Anthropic] {
        let text =
            [calls(protocol, &[("c1", "read", &["{\"path\": ", "oops"])]), end(protocol, calling(protocol))]
                .concat();
        let server = Server::start([Reply::stream(&text)]).await;
        let model = server.model(protocol);
        let answered = whole(metier_model::ChatModel::ask(&model, &hello())).await.unwrap();
        let calls = answered.calls();
        let Arguments::Malformed { raw, why } = &calls[0].arguments else { panic!("{calls:?}") };
        assert_eq!(&**raw, "{\"path\": oops");
        assert!(why.contains("not JSON"), "{why}");
    }
    let text = end(Protocol::Gemini, "MALFORMED_FUNCTION_CALL");
    let server = Server::start([Reply::stream(&text)]).await;
    let model = server.model(Protocol::Gemini);
    let answered = whole(metier_model::ChatModel::ask(&model, &hello())).await.unwrap();
    assert_eq!(answered.stop, Some(Stop::Other("MALFORMED_FUNCTION_CALL".into())));
}
