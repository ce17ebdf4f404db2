//! Recordings: the same again, and no secret in it.

use std::sync::Arc;

use metier_model::{
    ChatModel, Message, ModelError, Protocol, Recorded, Recorder, Request, Scripted, Turn, whole,
};

use crate::in_every_protocol;
use crate::keys::{KEY, with_key};
use crate::server::{Reply, Server, ask, collect, hello, remote};
use crate::stories::{story, story_events};

async fn a_recording_is_played_back_without_a_network(protocol: Protocol) {
    let echo = format!("{{\"error\":{{\"message\":\"{KEY} is not known\"}}}}");
    let server = Server::start([Reply::stream(&story(protocol)), Reply::status(401, "", &echo)]).await;
    let recorder = Recorder::new(Arc::new(remote(protocol, with_key(server.endpoint()))));
    let first = ask(&recorder).await;
    let other = Request { messages: vec![Message::user("Something else.").into()], ..Request::default() };
    let second = collect(recorder.ask(&other)).await;
    let lines = recorder.lines().unwrap();
    drop(server);

    let player = Recorded::read(&lines).unwrap();
    assert_eq!(player.id().as_str(), "test/some-model");
    assert_eq!(ask(&player).await, first);
    assert_eq!(collect(player.ask(&other)).await, second);
    assert_eq!(first, (story_events(), None));
    // The same question has the same answer as often as it is asked.
    assert_eq!(ask(&player).await, first);
}

async fn a_recording_holds_no_secret(protocol: Protocol) {
    let echo = format!("{{\"error\":{{\"message\":\"{KEY} for team-secret-77aa\"}}}}");
    let server = Server::start([Reply::stream(&story(protocol)), Reply::status(403, "", &echo)]).await;
    let recorder = Recorder::new(Arc::new(remote(protocol, with_key(server.endpoint()))));
    ask(&recorder).await;
    ask(&recorder).await;
    // They were sent, and they are not in the lines, in whole or in part.
    assert!(
        server.seen().iter().all(|seen| seen.head.contains(KEY) && seen.head.contains("team-secret-77aa"))
    );
    let lines = recorder.lines().unwrap();
    assert_eq!(lines.lines().count(), 2);
    for secret in [KEY, "3f9a2b7c", "team-secret", "x-team", "uthorization", "api-key", "Hello."] {
        assert!(!lines.contains(secret), "{secret} is in {lines}");
    }
}

in_every_protocol!(a_recording_is_played_back_without_a_network, a_recording_holds_no_secret);

#[tokio::test]
async fn answers_to_the_same_question_come_in_their_order() {
    let recorder = Recorder::new(Arc::new(Scripted::new([Turn::says("one"), Turn::says("two")])));
    for _ in 0..2 {
        whole(recorder.ask(&hello())).await.unwrap();
    }
    let player = Recorded::read(&recorder.lines().unwrap()).unwrap();
    for expect in ["one", "two", "two"] {
        assert_eq!(whole(player.ask(&hello())).await.unwrap().text(), expect);
    }
}

#[tokio::test]
async fn a_question_that_was_not_recorded_is_an_error() {
    let player = Recorded::read("").unwrap();
    let (events, error) = ask(&player).await;
    assert!(events.is_empty());
    assert!(matches!(error, Some(ModelError::OffScript { why }) if why.contains("record it anew")));
    assert!(Recorded::read("{\"no\": 1}\n").unwrap_err().to_string().starts_with("line 1 of the recording"));
}
