use metier_store::{
    EventKind, EventQuery, Export, Exported, LARGE, Record, SessionFilter, SessionId, Started, Store,
    StoreError, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{invariant, request, said};

fn exported(store: &Store) -> String {
    String::from_utf8(invariant::exported(store)).unwrap()
}

/// Any JSON, with long texts, odd keys and odd numbers.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        (0..2 * LARGE).prop_map(|length| Value::from("ü".repeat(length))),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z~/$\"]{0,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        any::<String>().prop_map(|text| said(&text)),
        json_value().prop_map(|messages| EventKind::Compacted {
            through: 1,
            messages,
            why: String::new(),
            usage: Usage::default(),
            cost_micros: 0
        }),
        ("[a-z]{1,3}_[a-z]{1,3}", json_value()).prop_map(|(name, data)| EventKind::Other { name, data }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_import_exports_the_same_bytes(
        sessions in prop::collection::vec((any::<String>(), prop::collection::vec(kind(), 0..6)), 0..4),
        records in prop::collection::vec((any::<String>(), prop::collection::vec(any::<String>(), 0..3)), 0..4),
    ) {
        let store = Store::in_memory().unwrap();
        let mut parent = None;
        for (text, kinds) in sessions {
            let session = store.begin(Started { request: text, parent, ..Started::default() }).unwrap();
            parent = Some(session);
            for kind in kinds {
                store.append(session, kind.clone()).unwrap();
                let last = store.events(&EventQuery::of(session)).unwrap().pop().unwrap();
                prop_assert_eq!(last.kind, kind);
            }
        }
        for (text, tags) in records {
            store.remember(Record { tags, ..Record::new(text).unwrap() }).unwrap();
        }
        let lines = exported(&store);
        invariant::holds(lines.as_bytes());
        let elsewhere = Store::in_memory().unwrap();
        elsewhere.import(&mut lines.as_bytes()).unwrap();
        prop_assert_eq!(exported(&elsewhere), lines);
        let all = SessionFilter::default();
        prop_assert_eq!(elsewhere.sessions(&all).unwrap(), store.sessions(&all).unwrap());
    }

    #[test]
    fn a_stranger_s_file_is_taken_whole_or_not_at_all(lines in prop::collection::vec(line(), 0..8)) {
        invariant::holds(lines.join("\n").as_bytes());
    }
}

/// Lines that are nearly right, in any order.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0_u8..3, 0_u8..2).prop_map(|(sessions, records)| format!(r#"{{"metier":"store","version":1,"sessions":{sessions},"records":{records}}}"#)),
        3 => (0_u8..3).prop_map(|events| format!(r#"{{"session":"01hzzzzzzzaaaaaaaaaaaaaaa{events}","events":{events}}}"#)),
        3 => (1_u8..3).prop_map(|seq| format!(r#"{{"seq":{seq},"at":5,"type":"{}","data":{{}}}}"#, if seq == 1 { "started" } else { "odd" })),
        1 => any::<String>(),
    ]
}

#[test]
fn sessions_are_exported_with_their_children_and_nothing_else() {
    let store = Store::in_memory().unwrap();
    let parent = store.begin(request("parent")).unwrap();
    let child = store.begin(Started { parent: Some(parent), ..request("child") }).unwrap();
    store.begin(request("other")).unwrap();
    store.remember(Record::new("memory").unwrap()).unwrap();
    let mut lines = Vec::new();
    let counts = store.export(&Export::Sessions(vec![parent]), &mut lines).unwrap();
    assert_eq!(counts, Exported { sessions: 2, events: 2, records: 0 });
    let text = String::from_utf8(lines).unwrap();
    assert!(text.starts_with("{\"metier\":\"store\",\"version\":1,\"sessions\":2,\"records\":0}\n"));
    assert!(text.contains(&child.to_string()) && !text.contains("other") && !text.contains("memory"));
    let nobody = SessionId::new().unwrap();
    let none = store.export(&Export::Sessions(vec![nobody]), &mut Vec::new());
    assert_eq!(none, Err(StoreError::NoSession(nobody)));
}

#[test]
fn a_session_that_has_more_events_in_the_import_is_named() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("x")).unwrap();
    let before = exported(&store);
    let elsewhere = Store::in_memory().unwrap();
    assert_eq!(elsewhere.import(&mut before.as_bytes()).unwrap().sessions, 1);
    store.append(session, said("more")).unwrap();
    let imported = elsewhere.import(&mut exported(&store).as_bytes()).unwrap();
    assert_eq!((imported.sessions, imported.known, imported.behind), (0, 1, vec![session]));
    assert_eq!(elsewhere.session(session).unwrap().last_seq, 1);
}

#[test]
fn the_line_that_is_wrong_is_named_and_nothing_is_taken() {
    let header = |sessions: usize| {
        json!({"metier": "store", "version": 1, "sessions": sessions, "records": 0}).to_string()
    };
    let session = r#"{"session":"01hzzzzzzzaaaaaaaaaaaaaaa1","events":2}"#.to_owned();
    let first = r#"{"seq":1,"at":5,"type":"started","data":{}}"#.to_owned();
    let event = |text: &str| text.to_owned();
    let deep = format!(r#"{{"seq":2,"at":5,"type":"odd","data":{}1{}}}"#, "[".repeat(100), "]".repeat(100));
    let cases: Vec<(Vec<String>, &str)> = vec![
        (
            vec![],
            "line 1: the file is empty; an export begins with a line about itself; nothing was imported",
        ),
        (vec![event("{}")], "line 1: this is not the first line of an export (missing field `metier`"),
        (
            vec![event(r#"{"metier":"lock","version":1,"sessions":0,"records":0}"#)],
            "line 1: this is no export of a store",
        ),
        (
            vec![event(r#"{"metier":"store","version":9,"sessions":0,"records":0}"#)],
            "line 1: the export has version 9, and this metier knows versions up to 1",
        ),
        (vec![header(1)], "line 2: the file ends where a session should be; it was cut"),
        (
            vec![header(1), session.clone(), first.clone()],
            "line 4: the file ends where an event should be; it was cut",
        ),
        (
            vec![
                header(1),
                session.clone(),
                first.clone(),
                event(r#"{"seq":3,"at":5,"type":"odd","data":{}}"#),
            ],
            "line 4: `seq` is 3, and should be 2",
        ),
        (
            vec![header(1), session.clone(), event(r#"{"seq":1,"at":5,"type":"said","data":{}}"#)],
            "line 3: a session begins with `started`",
        ),
        (
            vec![header(1), session.clone(), first.clone(), first.clone().replace(":1,", ":2,")],
            "line 4: a session begins with `started`",
        ),
        (
            vec![
                header(1),
                session.clone(),
                first.clone(),
                event(r#"{"seq":2,"at":5,"type":"Odd","data":{}}"#),
            ],
            "line 4: `type` is a name of small letters",
        ),
        (
            vec![
                header(1),
                session.clone(),
                first.clone(),
                event(r#"{"seq":2,"at":999999999999999,"type":"odd","data":{}}"#),
            ],
            "line 4: `at` is later than the year 9999",
        ),
        (
            vec![header(1), session.clone(), first.clone(), deep],
            "line 4: the event has values nested deeper than 96",
        ),
        (
            vec![header(1), session.clone(), first.clone(), event("{\"seq\":2")],
            "line 4: this is not an event (EOF",
        ),
        (
            vec![header(1), event(r#"{"session":"../../x","events":1}"#)],
            "line 2: this is not a session (`../../x` is no id",
        ),
        (
            vec![header(1), event(r#"{"session":"01hzzzzzzzaaaaaaaaaaaaaaa1","events":0}"#)],
            "line 2: a session has at least the event",
        ),
        (
            vec![header(2), session.replace('2', "1"), first.clone(), session.clone()],
            "line 4: the session `01hzzzzzzzaaaaaaaaaaaaaaa1` is there twice",
        ),
        (vec![header(0), session.clone()], "line 2: there is more than the first line says"),
        (
            vec![
                header(1),
                event(&format!(r#"{{"session":"01hzzzzzzzaaaaaaaaaaaaaaa1","events":{}}}"#, u64::MAX)),
                first.clone(),
            ],
            "line 4: the file ends where an event should be",
        ),
    ];
    for (lines, expect) in cases {
        let store = Store::in_memory().unwrap();
        let message = store.import(&mut lines.join("\n").as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with(expect), "{message}\n  instead of\n{expect}");
        assert_eq!(store.sessions(&SessionFilter::default()).unwrap(), []);
    }
}

#[test]
fn a_line_without_an_end_is_not_read_for_ever() {
    let store = Store::in_memory().unwrap();
    let endless = std::io::Read::chain("{\"metier\":\"".as_bytes(), std::io::repeat(b'x'));
    let error = store.import(&mut std::io::BufReader::new(endless)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: a line may have 50335744 bytes, and there are more; nothing was imported"
    );
}

#[test]
fn an_export_that_cannot_be_written_says_so() {
    struct Broken;
    impl std::io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let store = Store::in_memory().unwrap();
    let error = store.export(&Export::Everything, &mut Broken).unwrap_err();
    assert_eq!(error.to_string(), "the export cannot be written: broken pipe");
}
