use metier_store::{
    Activated, Called, Effect, Ended, Ending, EventKind, EventQuery, Family, Outcome, SessionFilter,
    SessionId, Started, Store, StoreError, Timestamp, Usage,
};
use serde_json::{Value, json};

use crate::{place, request, said};

fn ended(outcome: Outcome) -> EventKind {
    let (text, usage) = (String::new(), Usage::default());
    EventKind::Ended(Ended { outcome, text, why: None, usage, cost_micros: 0, turns: 0, calls: 0 })
}

fn listed(store: &Store, filter: &SessionFilter) -> Vec<SessionId> {
    store.sessions(filter).unwrap().into_iter().map(|summary| summary.id).collect()
}

#[test]
fn sessions_are_listed_by_what_they_were_about() {
    let store = Store::in_memory().unwrap();
    let milk = store.begin(request("buy milk")).unwrap();
    let form = store
        .begin(Started { project: Some("/p".to_owned()), parent: Some(milk), ..request("fill the tax form") })
        .unwrap();
    let activated =
        Activated { skill: "pdf".to_owned(), arguments: "--pages 3".to_owned(), ..Activated::default() };
    store.append(form, EventKind::Activated(activated)).unwrap();
    store.append(form, ended(Outcome::Done)).unwrap();
    let check = |filter: SessionFilter, expect: &[SessionId]| {
        let mut found = listed(&store, &filter);
        found.sort_unstable();
        let mut expect = expect.to_vec();
        expect.sort_unstable();
        assert_eq!(found, expect, "{filter:?}");
    };
    let none = SessionFilter::default;
    check(none(), &[milk, form]);
    check(SessionFilter { skill: Some("pdf".to_owned()), ..none() }, &[form]);
    check(SessionFilter { skill: Some("pd".to_owned()), ..none() }, &[]);
    check(SessionFilter { ending: Some(Ending::With(Outcome::Done)), ..none() }, &[form]);
    check(SessionFilter { ending: Some(Ending::Open), ..none() }, &[milk]);
    check(SessionFilter { project: Some("/p".to_owned()), ..none() }, &[form]);
    check(SessionFilter { family: Family::TopLevel, ..none() }, &[milk]);
    check(SessionFilter { family: Family::ChildOf(milk), ..none() }, &[form]);
    check(SessionFilter { since: Some(Timestamp::LATEST), ..none() }, &[]);
    check(SessionFilter { until: Some(Timestamp::LATEST), ..none() }, &[milk, form]);
    check(SessionFilter { text: Some("TAX forms".to_owned()), ..none() }, &[form]);
    check(SessionFilter { text: Some("pages".to_owned()), ..none() }, &[form]);
    check(SessionFilter { text: Some("milk tax".to_owned()), ..none() }, &[]);
}

#[test]
fn the_latest_change_comes_first_and_a_list_can_be_cut() {
    let store = Store::in_memory().unwrap();
    let sessions: Vec<SessionId> = (0..3)
        .map(|count| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            store.begin(request(&count.to_string())).unwrap()
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(2));
    store.append(sessions[0], said("again")).unwrap();
    let all = SessionFilter::default();
    assert_eq!(listed(&store, &all), [sessions[0], sessions[2], sessions[1]]);
    assert_eq!(listed(&store, &SessionFilter { limit: Some(1), ..all }), [sessions[0]]);
}

#[test]
fn words_of_the_index_s_language_are_plain_words() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("what is NEAR the \"old\" bridge AND not far*")).unwrap();
    store.begin(request("something else")).unwrap();
    let cases = [
        ("NEAR", 1),
        ("near bridge", 1),
        ("\"old\"", 1),
        ("\"old", 1),
        ("old\" OR \"else", 0),
        ("far*", 1),
        ("fa*", 0),
        ("words:bridge", 0),
        ("NOT bridge", 1),
        ("bridge AND", 1),
        ("bridge OR zebra", 0),
        ("-bridge", 1),
        ("^what", 1),
        ("{words}", 0),
        ("(", 0),
        ("'; DROP TABLE event; --", 0),
        ("\u{0}", 0),
        ("a\u{0}b", 0),
    ];
    for (text, expect) in cases {
        let filter = SessionFilter { text: Some(text.to_owned()), ..SessionFilter::default() };
        assert_eq!(store.sessions(&filter).unwrap().len(), expect, "{text:?}");
    }
    assert_eq!(store.session(session).unwrap().last_seq, 1);
}

#[test]
fn a_session_is_found_by_its_beginning_or_its_end() {
    let store = Store::in_memory().unwrap();
    let ids: Vec<SessionId> = ["01hzzzzzzzaaaaaaaaaaaaaaa1", "01hzzzzzzzbbbbbbbbbbbbbb22"]
        .into_iter()
        .map(|id| {
            let id = id.parse().unwrap();
            store.begin_as(id, request("x")).unwrap();
            id
        })
        .collect();
    for (typed, expect) in [
        ("01hzzzzzzza", Ok(ids[0])),
        ("01HZZZZZZZB", Ok(ids[1])),
        ("01hzzzzzzzaaaaaaaaaaaaaaa1", Ok(ids[0])),
        ("bb22", Ok(ids[1])),
        ("aaaaal", Ok(ids[0])),
        ("b22", Err(StoreError::NotFound("b22".to_owned()))),
        ("", Err(StoreError::NotFound(String::new()))),
        ("%", Err(StoreError::NotFound("%".to_owned()))),
        ("01h", Err(StoreError::Ambiguous { text: "01h".to_owned(), found: vec![ids[1], ids[0]] })),
    ] {
        assert_eq!(store.find(typed), expect, "{typed}");
    }
    let message = store.find("01h").unwrap_err().to_string();
    assert_eq!(
        message,
        "`01h` could be `01hzzzzzzzbbbbbbbbbbbbbb22`, `01hzzzzzzzaaaaaaaaaaaaaaa1`; write more of it"
    );
}

#[test]
fn events_are_read_by_session_and_kind() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("x")).unwrap();
    for (count, skill) in [(1, Some("pdf")), (2, None), (3, Some("csv")), (4, Some("pdf"))] {
        let called = Called {
            id: count.to_string(),
            tool: "Read".to_owned(),
            skill: skill.map(str::to_owned),
            input: Value::Null,
            effect: Effect::ReadOnly,
        };
        store.append(session, EventKind::Called(called)).unwrap();
        store.append(session, said("between")).unwrap();
    }
    let seqs = |query: EventQuery| -> Vec<u64> {
        store.events(&query).unwrap().into_iter().map(|event| event.seq).collect()
    };
    assert_eq!(seqs(EventQuery::of(session).kind("called")), [2, 4, 6, 8]);
    assert_eq!(seqs(EventQuery::of(session).kind("called").kind("started")), [1, 2, 4, 6, 8]);
    assert_eq!(seqs(EventQuery::all().kind("said")), [3, 5, 7, 9]);
    assert_eq!(seqs(EventQuery::of(SessionId::new().unwrap())), [0; 0]);
}

#[test]
fn rows_of_a_newer_program_and_rows_that_make_no_sense_do_not_hide_the_others() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let session = store.begin(request("x")).unwrap();
    let newer = EventKind::Other { name: "levitated".to_owned(), data: json!({"height": 1.5}) };
    store.append(session, newer.clone()).unwrap();
    store.append(session, said("after")).unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "INSERT INTO event (session, seq, at, type, data) VALUES (1, 4, 0, 'said', '{\"text\":7}');
             INSERT INTO event (session, seq, at, type, data) VALUES (1, 5, 0, 'said', 'no json');
             UPDATE session SET last_seq = 5",
        )
        .unwrap();
    let kinds: Vec<EventKind> =
        store.events(&EventQuery::of(session)).unwrap().into_iter().map(|event| event.kind).collect();
    let other = |data: Value| EventKind::Other { name: "said".to_owned(), data };
    assert_eq!(kinds[1..], [newer, said("after"), other(json!({"text": 7})), other(json!("no json"))]);
    assert_eq!(store.append(session, said("goes on")).unwrap().seq, 6);
}
