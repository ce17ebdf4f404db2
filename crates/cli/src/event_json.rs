//! An event as one JSON object, for programs: `{"session", "seq", "at", "type", "data"}`, as an export has it, and `parent` behind
//! the session where that is a child.

use metier_agent::EmittedEvent;
use metier_store::{Event, EventKind, SessionId, Timestamp};
use serde_json::{Value, json};

/// The event as an object; `parent` is the session above that of the event.
pub(crate) fn object(event: &Event, parent: Option<SessionId>) -> Value {
    written((event.session, parent), event.seq, event.at, &event.kind)
}

/// The same while it happens.
pub(crate) fn happening(event: &EmittedEvent) -> Value {
    written((event.session, event.parent), event.seq, event.at, &event.kind)
}

fn written(
    (session, parent): (SessionId, Option<SessionId>),
    seq: u64,
    at: Timestamp,
    kind: &EventKind,
) -> Value {
    let (name, data) = apart(kind);
    match parent {
        None => json!({ "session": session, "seq": seq, "at": at, "type": name, "data": data }),
        Some(parent) => {
            json!({ "session": session, "parent": parent, "seq": seq, "at": at, "type": name, "data": data })
        }
    }
}

/// The name of a kind, as files and filters have it.
pub(crate) fn name(kind: &EventKind) -> String {
    apart(kind).0
}

fn apart(kind: &EventKind) -> (String, Value) {
    if let EventKind::Other { name, data } = kind {
        return (name.clone(), data.clone());
    }
    let mut value = serde_json::to_value(kind).unwrap_or_default();
    let name = value.as_object_mut().and_then(|fields| fields.shift_remove("type"));
    (name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_store::By;

    #[test]
    fn an_event_is_one_object_also_where_it_is_not_known() {
        let session = SessionId::new().unwrap();
        let event = |kind| Event { position: 9, session, seq: 2, at: Timestamp::from_millis(5), kind };
        let said = event(EventKind::Said { text: "hello".to_owned(), by: By::User });
        let expect = format!(
            "{{\"session\":\"{session}\",\"seq\":2,\"at\":5,\"type\":\"said\",\"data\":{{\"text\":\"hello\",\"by\":\"user\"}}}}"
        );
        assert_eq!(object(&said, None).to_string(), expect);
        let parent = SessionId::new().unwrap();
        let of_child = expect.replace(",\"seq\"", &format!(",\"parent\":\"{parent}\",\"seq\""));
        assert_eq!(object(&said, Some(parent)).to_string(), of_child);
        let newer = event(EventKind::Other { name: "levitated".to_owned(), data: json!({"height": 3}) });
        assert_eq!(object(&newer, None)["type"], "levitated");
        assert_eq!(object(&newer, None)["data"]["height"], 3);
        assert_eq!(name(&newer.kind), "levitated");
    }
}
