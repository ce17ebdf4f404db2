//! Scripted models.

use std::time::Duration;

use metier_model::{ChatModel, Event, ModelError, Scripted, Step, Stop, Turn, next, whole};

use crate::server::{ask, hello};

#[tokio::test(start_paused = true)]
async fn turns_wait_break_off_and_hang() {
    let model = Scripted::new([
        Turn::new([Step::Event(Event::Text("a".into())), Step::Wait(Duration::from_secs(5))])
            .ends(Stop::EndOfTurn),
        Turn::fails(ModelError::Refused { status: 400, message: "no".into() }),
        Turn::new([Step::Hang]),
    ]);
    let began = tokio::time::Instant::now();
    assert_eq!(ask(&model).await.0.len(), 2);
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert!(matches!(ask(&model).await.1, Some(ModelError::Refused { .. })));
    let request = hello();
    let mut answer = model.ask(&request);
    assert!(tokio::time::timeout(Duration::from_mins(1), next(&mut answer)).await.is_err());
    assert_eq!((model.asked().len(), model.left()), (3, 0));
}

#[tokio::test]
async fn a_script_says_what_it_did_not_expect() {
    let check = |request: &metier_model::Request| match request.messages.len() {
        1 => Ok(()),
        count => Err(format!("{count} messages")),
    };
    let model = Scripted::new([Turn::says("a").expecting(check), Turn::says("b").expecting(check)]);
    assert_eq!(whole(model.ask(&hello())).await.unwrap().text(), "a");
    let error = whole(model.ask(&metier_model::Request::default())).await.unwrap_err();
    assert_eq!(error.to_string(), "request 2 is not what the script expects: 0 messages");
    let error = whole(model.ask(&hello())).await.unwrap_err();
    assert_eq!(error.to_string(), "the script has no answer to request 3; add a turn");
}

#[tokio::test]
async fn calls_have_arguments_and_ids() {
    let model = Scripted::new([Turn::calls([("read", "{\"path\":\"a\"}"), ("list", "")])]);
    let answered = whole(model.ask(&hello())).await.unwrap();
    let calls = answered.calls();
    let found: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.name, call.arguments.raw())).collect();
    assert_eq!(found, [("call-0", "read", "{\"path\":\"a\"}"), ("call-1", "list", "{}")]);
    assert_eq!(answered.stop, Some(Stop::ToolCalls));
}
