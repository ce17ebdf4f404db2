//! Dropping an answer ends it.

use metier_model::{ChatModel, Event, Protocol, next};

use crate::in_every_protocol;
use crate::server::{Reply, Server, hello};
use crate::stories::beginning;

async fn a_dropped_answer_closes_its_connection(protocol: Protocol) {
    let server = Server::start([Reply::stream(&beginning(protocol)).hanging()]).await;
    let (model, request) = (server.model(protocol), hello());
    let mut answer = model.ask(&request);
    assert_eq!(next(&mut answer).await, Some(Ok(Event::Text("Hel".into()))));
    drop(answer);
    server.was_left().await;
}

async fn an_answer_that_nobody_polls_asks_nothing(protocol: Protocol) {
    let server = Server::start([]).await;
    let (model, request) = (server.model(protocol), hello());
    drop(model.ask(&request));
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert_eq!(server.connections(), 0);
}

async fn a_dropped_answer_is_not_asked_again(protocol: Protocol) {
    let server = Server::start([Reply::status(429, "retry-after: 1\r\n", "")]).await;
    let (model, request) = (server.model(protocol), hello());
    let mut answer = model.ask(&request);
    assert!(matches!(next(&mut answer).await, Some(Ok(Event::Retrying { attempt: 2, .. }))));
    drop(answer);
    tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
    assert_eq!(server.seen().len(), 1);
}

in_every_protocol!(
    a_dropped_answer_closes_its_connection,
    an_answer_that_nobody_polls_asks_nothing,
    a_dropped_answer_is_not_asked_again,
);
