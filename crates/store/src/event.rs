//! One thing that happened.

mod answer;
mod beginning;
mod call;
mod changes;
mod kind;
mod usage;
mod word;

pub use answer::{Answered, Part, ToolCall};
pub use beginning::{By, Framed, Started};
pub use call::{Called, ContactMade, Decided, Effect, Finished, MissingApproval, ScriptReport};
pub use changes::{RecordedChange, RecordedChanges};
pub use kind::{Activated, Agreement, Ended, EventKind, Offer, Outcome, RetryDecision, Used};
use serde_json::{Map, Value};
pub use usage::Usage;
pub use word::{ApprovalStage, EventSeverity, FailedPart, LimitKind, NoteTopic, SubagentMode, Verdict};

use crate::{SessionId, Timestamp};

/// One thing that happened in a session. Nothing changes it afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place among all events of this file: later ones have higher numbers, and none is given twice.
    pub position: u64,
    /// Whose.
    pub session: SessionId,
    /// Its place in the session: 1, 2, 3 without holes.
    pub seq: u64,
    /// When it was handed in.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
}

/// The key under which a kind says its name when it is written as one JSON object.
pub(crate) const TYPE: &str = "type";

/// The name and the fields of a kind, apart, as they are kept.
pub(crate) fn taken_apart(kind: &EventKind) -> Result<(String, Value), serde_json::Error> {
    if let EventKind::Other { name, data } = kind {
        return Ok((name.clone(), data.clone()));
    }
    let mut value = serde_json::to_value(kind)?;
    let name = match value.as_object_mut().and_then(|map| map.shift_remove(TYPE)) {
        Some(Value::String(name)) => name,
        _ => String::new(),
    };
    Ok((name, value))
}

/// A kind from what was kept. What this program does not know, or not in this form, is [`EventKind::Other`]: a newer program
/// may have written it, and one row must not hide the others.
pub(crate) fn put_together(name: &str, data: Value) -> EventKind {
    let Value::Object(fields) = &data else {
        return EventKind::Other { name: name.to_owned(), data };
    };
    let mut tagged = Map::with_capacity(fields.len() + 1);
    tagged.insert(TYPE.to_owned(), Value::String(name.to_owned()));
    for (key, value) in fields {
        // A field of that name would speak for the kind. Ours have none, and a stranger's must not.
        if key != TYPE {
            tagged.insert(key.clone(), value.clone());
        }
    }
    serde_json::from_value(Value::Object(tagged))
        .unwrap_or_else(|_| EventKind::Other { name: name.to_owned(), data })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_is_kept_as_it_is() {
        for (name, data) in [
            ("levitated", json!({"height": 3})),
            // A known name with fields that this program cannot read.
            ("said", json!({"words": ["a"]})),
            ("said", json!(["no", "object"])),
            ("said", json!({"text": 5, "type": "noted"})),
        ] {
            let kind = put_together(name, data.clone());
            assert_eq!(kind, EventKind::Other { name: name.to_owned(), data: data.clone() });
            assert_eq!(taken_apart(&kind).unwrap(), (name.to_owned(), data));
        }
    }

    #[test]
    fn fields_that_a_newer_program_added_do_not_hide_what_is_known() {
        let kind =
            put_together("said", json!({"text": "hello", "by": "user", "mood": "good", "type": "noted"}));
        assert_eq!(kind, EventKind::Said { text: "hello".to_owned(), by: By::User });
    }
}
