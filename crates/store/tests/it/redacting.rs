use std::borrow::Cow;
use std::sync::Arc;

use metier_store::{
    Activated, Answered, EventKind, EventQuery, Export, LARGE, Part, Recall, Record, Redact, Scope, Started,
    Store, ToolCall,
};
use serde_json::json;

use crate::{is_on_disk, place, said};

const SECRET: &str = "s3cr3t-t0ken-4711";

struct Hide;

impl Redact for Hide {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(SECRET) { Cow::Owned(text.replace(SECRET, "[secret]")) } else { Cow::Borrowed(text) }
    }
}

/// Events that carry the secret in every place that a text can stand in.
fn events() -> Vec<EventKind> {
    let call = ToolCall {
        id: SECRET.to_owned(),
        name: "x".to_owned(),
        input: json!({SECRET: [SECRET, {"k": format!("{SECRET}{}", "x".repeat(LARGE))}]}),
        raw: Some(format!("{{{SECRET}")),
        opaque: json!(SECRET),
    };
    vec![
        said(&format!("token={SECRET}")),
        said(&format!("{}{SECRET}", "y".repeat(2 * LARGE))),
        EventKind::Answered(Answered { parts: vec![Part::Call(call)], ..Answered::default() }),
        EventKind::Activated(Activated { skill: SECRET.to_owned(), ..Activated::default() }),
        EventKind::Other { name: "newer".to_owned(), data: json!([SECRET]) },
    ]
}

#[test]
fn no_secret_is_in_any_byte_of_the_files() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap().redacting(Arc::new(Hide));
    let started = Started {
        request: format!("use {SECRET}"),
        project: Some(format!("/{SECRET}")),
        ..Started::default()
    };
    let session = store.begin(started).unwrap();
    for kind in events() {
        store.append(session, kind).unwrap();
    }
    let record = Record {
        tags: vec![SECRET.to_owned()],
        skill: Some(SECRET.to_owned()),
        ..Record::new(SECRET).unwrap()
    };
    store.remember(record).unwrap();
    assert!(is_on_disk(&file, "[secret]"));
    assert!(!is_on_disk(&file, SECRET), "while it is open, the write-ahead log included");
    assert!(!is_on_disk(&file, "s3cr3t"), "nor as a word of the index");
    let summary = store.session(session).unwrap();
    assert_eq!((summary.title.as_str(), summary.project.as_deref()), ("use [secret]", Some("/[secret]")));
    assert_eq!(summary.skills, ["[secret]"]);
    assert_eq!(store.events(&EventQuery::of(session)).unwrap()[1].kind, said("token=[secret]"));
    drop(store);
    assert!(!is_on_disk(&file, SECRET), "and after it was closed");
}

#[test]
fn what_was_kept_before_a_secret_was_known_does_not_leave_with_an_export_or_come_with_an_import() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(Started::default()).unwrap();
    for kind in events() {
        store.append(session, kind).unwrap();
    }
    store.remember(Record::new(SECRET).unwrap()).unwrap();
    let (mut open, mut hidden) = (Vec::new(), Vec::new());
    store.export(&Export::Everything, &mut open).unwrap();
    store.redacting(Arc::new(Hide)).export(&Export::Everything, &mut hidden).unwrap();
    assert!(String::from_utf8(open.clone()).unwrap().contains(SECRET));
    assert!(!String::from_utf8(hidden).unwrap().contains(SECRET));

    let (_workspace, file) = place();
    let elsewhere = Store::open(&file).unwrap().redacting(Arc::new(Hide));
    elsewhere.import(&mut &open[..]).unwrap();
    assert!(!is_on_disk(&file, SECRET));
    assert_eq!(elsewhere.recall(&Recall::new("", Scope::Everything)).unwrap()[0].text, "[secret]");
}
