use std::thread;

use metier_store::{
    Activated, Answered, Called, Effect, Ended, EventKind, EventQuery, LARGE, MAX_EVENT, Outcome, Part,
    SessionId, Store, StoreError, Usage,
};
use serde_json::json;

use crate::{place, request, said};

#[test]
fn events_of_a_session_are_numbered_without_holes_and_come_back_as_they_were() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let session = store.begin(request("buy milk")).unwrap();
    for text in ["a", "b", "c"] {
        store.append(session, said(text)).unwrap();
    }
    drop(store);
    let events = Store::open(&file).unwrap().events(&EventQuery::of(session)).unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(events[0].kind, EventKind::Started(request("buy milk")));
    assert_eq!(events[3].kind, said("c"));
    assert!(events.is_sorted_by_key(|event| event.position));
}

#[test]
fn what_was_handed_in_is_written_when_the_last_handle_goes() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let session = store.begin(request("x")).unwrap();
    for count in 0..500 {
        drop(store.submit(session, said(&count.to_string())).unwrap());
    }
    drop(store);
    let events = Store::open(&file).unwrap().events(&EventQuery::of(session)).unwrap();
    assert_eq!(events.len(), 501);
    assert_eq!(events[500].kind, said("499"), "in the order in which they were handed in");
}

#[test]
fn an_event_that_cannot_be_taken_fails_alone() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("x")).unwrap();
    let nobody = SessionId::new().unwrap();
    let tickets: Vec<_> = [session, nobody, session, nobody, session]
        .map(|session| store.submit(session, said("y")).unwrap())
        .into_iter()
        .map(metier_store::Ticket::wait)
        .collect();
    assert_eq!(tickets.iter().filter(|answer| answer.is_ok()).count(), 3);
    assert_eq!(tickets[1], Err(StoreError::NoSession(nobody)));
    assert_eq!(store.begin_as(session, request("again")), Err(StoreError::SessionExists(session)));
    let large = store.append(session, said(&"x".repeat(MAX_EVENT + 1)));
    assert!(matches!(large, Err(StoreError::TooLarge { what: "the event", limit: MAX_EVENT, .. })));
    assert_eq!(store.session(session).unwrap().last_seq, 4);
}

#[test]
fn many_threads_append_at_once_and_each_session_has_its_own_order() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let sessions: Vec<SessionId> =
        (0..8).map(|count| store.begin(request(&count.to_string())).unwrap()).collect();
    thread::scope(|scope| {
        for session in &sessions {
            let store = store.clone();
            scope.spawn(move || {
                for count in 2..=40_u64 {
                    assert_eq!(store.append(*session, said(&count.to_string())).unwrap().seq, count);
                }
            });
        }
    });
    for session in sessions {
        let events = store.events(&EventQuery::of(session).kind("said")).unwrap();
        assert_eq!(events.len(), 39);
        for event in events {
            assert_eq!(event.kind, said(&event.seq.to_string()));
        }
    }
}

#[test]
fn the_summary_is_what_the_events_say() {
    let store = Store::in_memory().unwrap();
    let parent = store.begin(request("parent")).unwrap();
    let started = metier_store::Started {
        request: "\n  fill the form\nplease".to_owned(),
        parent: Some(parent),
        project: Some("/home/me/project".to_owned()),
        model: Some("local/small".to_owned()),
        ..Default::default()
    };
    let session = store.begin(started).unwrap();
    let usage = Usage { input: 100, output: 10, cached: 5, cache_written: 1 };
    for _ in 0..2 {
        let answered = Answered { usage, cost_micros: Some(7), ..Answered::default() };
        store.append(session, EventKind::Answered(answered)).unwrap();
    }
    for skill in ["pdf", "csv", "pdf"] {
        let activated = Activated { skill: skill.to_owned(), ..Activated::default() };
        store.append(session, EventKind::Activated(activated)).unwrap();
    }
    let called = Called {
        id: "1".to_owned(),
        tool: "Read".to_owned(),
        skill: None,
        input: json!({}),
        effect: Effect::ReadOnly,
    };
    store.append(session, EventKind::Called(called)).unwrap();
    let ended = Ended {
        outcome: Outcome::Partial,
        text: String::new(),
        why: None,
        usage,
        cost_micros: 14,
        turns: 2,
        calls: 1,
    };
    store.append(session, EventKind::Ended(ended)).unwrap();

    let summary = store.session(session).unwrap();
    assert_eq!(summary.title, "fill the form");
    assert_eq!(summary.parent, Some(parent));
    assert_eq!(summary.by, "user");
    assert_eq!(summary.project.as_deref(), Some("/home/me/project"));
    assert_eq!(summary.outcome, Some(Outcome::Partial));
    assert_eq!(summary.usage, usage + usage);
    assert_eq!((summary.cost_micros, summary.turns, summary.calls, summary.last_seq), (14, 2, 1, 8));
    assert_eq!(summary.skills, ["csv", "pdf"]);

    store.append(session, said("go on")).unwrap();
    assert_eq!(store.session(session).unwrap().outcome, None, "whoever speaks to a session opens it again");
}

#[test]
fn a_large_text_is_kept_once_however_many_events_hold_it() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let message = "The same skill. ".repeat(LARGE);
    let activated = EventKind::Activated(Activated { message: message.clone(), ..Activated::default() });
    let mut sessions = Vec::new();
    for _ in 0..50 {
        let session = store.begin(request("x")).unwrap();
        store.submit(session, activated.clone()).unwrap();
        sessions.push(session);
    }
    store.flush().unwrap();
    for session in &sessions {
        assert_eq!(store.events(&EventQuery::of(*session)).unwrap()[1].kind, activated);
    }
    drop(store);
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size < 8 * message.len() as u64, "{size} bytes for 50 times {}", message.len());
}

#[test]
fn a_model_can_write_whatever_looks_like_our_own_notation() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("x")).unwrap();
    let call = metier_store::ToolCall {
        id: "1".to_owned(),
        name: "odd".to_owned(),
        input: json!({"type": "ended", "$blob": "sha256:00", "a/b": {"~1": "y".repeat(LARGE)}, "": null}),
        raw: Some("{\"type\": \"ended\"".to_owned()),
        opaque: json!({"signed": "s"}),
    };
    let kind = EventKind::Answered(Answered { parts: vec![Part::Call(call)], ..Answered::default() });
    store.append(session, kind.clone()).unwrap();
    assert_eq!(store.events(&EventQuery::of(session)).unwrap()[1].kind, kind);
}
