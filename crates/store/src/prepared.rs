//! An event on its way to the file: measured, and with its large texts taken out.
//!
//! All of it happens in the thread that hands the event in. The writer, of which there is one, only writes.

use metier_files::FileDigest;
use serde_json::Value;

use crate::event::{self, EventKind};
use crate::place::Assurance;
use crate::{StoreError, Timestamp};

/// What one event may hold. The largest things in one are a tool's report (two streams of 256 KiB) and what a model is sent;
/// what is larger is a mistake, and would be kept in memory by everybody who reads the session.
pub const MAX_EVENT: usize = 8 << 20;

/// How deep values may be nested. The JSON reader gives up at 128; what could not be read again is not written.
pub const MAX_DEPTH: usize = 96;

/// A text of this size is kept by its digest, once for all events that hold it. It is a page of the file, so smaller texts
/// would gain nothing; skills, system prompts and tool lists, which sessions share, are mostly larger.
pub const LARGE: usize = 4 << 10;

/// How much of an event's words is searchable. It bounds the index, which keeps a copy.
const MAX_WORDS: usize = 4 << 10;

/// The longest name of a kind. Ours have at most 12 letters; what is longer is no name.
pub(crate) const MAX_NAME: usize = 64;

/// An event that only has to be written.
pub(crate) struct Prepared {
    pub(crate) at: Timestamp,
    pub(crate) name: String,
    /// JSON, with `""` where a large text was.
    pub(crate) data: String,
    pub(crate) large: Vec<LargeText>,
    pub(crate) words: Option<String>,
    /// What it is, for the summary.
    pub(crate) kind: EventKind,
}

/// A text that is kept by its digest.
pub(crate) struct LargeText {
    /// Where in the data it stands, as a JSON pointer.
    pub(crate) pointer: String,
    pub(crate) digest: FileDigest,
    pub(crate) text: String,
}

impl Prepared {
    /// An event of this program.
    pub(crate) fn new(at: Timestamp, kind: EventKind) -> Result<Self, StoreError> {
        let (name, data) = event::taken_apart(&kind).map_err(|error| StoreError::Json(error.to_string()))?;
        Self::assemble(at, name, data, kind)
    }

    /// An event from another file: of any kind, as it is.
    pub(crate) fn foreign(at: Timestamp, name: String, data: Value) -> Result<Self, StoreError> {
        let kind = event::put_together(&name, data.clone());
        Self::assemble(at, name, data, kind)
    }

    fn assemble(at: Timestamp, name: String, mut data: Value, kind: EventKind) -> Result<Self, StoreError> {
        if name.len() > MAX_NAME {
            return Err(StoreError::TooLarge {
                what: "the name of the event",
                limit: MAX_NAME,
                actual: name.len(),
            });
        }
        let mut large = Vec::new();
        take_large(&mut data, &mut String::new(), 1, &mut large)?;
        let data = data.to_string();
        let actual = data.len() + large.iter().map(|large| large.text.len()).sum::<usize>();
        if actual > MAX_EVENT {
            return Err(StoreError::TooLarge { what: "the event", limit: MAX_EVENT, actual });
        }
        let words = kind.words().map(|mut words| {
            words.truncate(words.floor_char_boundary(MAX_WORDS));
            words
        });
        Ok(Self { at, name, data, large, words, kind })
    }

    /// What it must outlive before anybody is told that it is written.
    pub(crate) fn assurance(&self) -> Assurance {
        if self.kind.outlives_power_cuts() { Assurance::PowerCut } else { Assurance::Kill }
    }

    /// How much it adds to a batch.
    pub(crate) fn size(&self) -> usize {
        self.data.len() + self.large.iter().map(|large| large.text.len()).sum::<usize>()
    }
}

fn take_large(
    value: &mut Value,
    pointer: &mut String,
    depth: usize,
    large: &mut Vec<LargeText>,
) -> Result<(), StoreError> {
    if depth > MAX_DEPTH {
        return Err(StoreError::TooDeep(MAX_DEPTH));
    }
    let before = pointer.len();
    match value {
        Value::String(text) if text.len() >= LARGE => {
            let text = std::mem::take(text);
            let digest = FileDigest::of(text.as_bytes());
            large.push(LargeText { pointer: pointer.clone(), digest, text });
        }
        Value::Array(values) => {
            for (place, value) in values.iter_mut().enumerate() {
                pointer.push_str(&format!("/{place}"));
                take_large(value, pointer, depth + 1, large)?;
                pointer.truncate(before);
            }
        }
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                pointer.push('/');
                // The two characters that a JSON pointer writes otherwise (RFC 6901).
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                take_large(value, pointer, depth + 1, large)?;
                pointer.truncate(before);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Puts a large text back where it was. A pointer that leads nowhere is left alone: the rest can still be read.
pub(crate) fn put_large(data: &mut Value, pointer: &str, text: String) {
    if let Some(place) = data.pointer_mut(pointer) {
        *place = Value::String(text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prepared(data: &Value) -> Result<Prepared, StoreError> {
        Prepared::foreign(Timestamp::default(), "odd".to_owned(), data.clone())
    }

    #[test]
    fn large_texts_are_taken_out_and_put_back_wherever_they_stand() {
        let long = "x".repeat(LARGE);
        let data = json!({
            "a/b": {"~": [1, long.clone(), "short"]}, "": long.clone(), "same": "y".repeat(LARGE - 1),
        });
        let prepared = prepared(&data).unwrap();
        let pointers: Vec<_> = prepared.large.iter().map(|large| large.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a~1b/~0/1", "/"]);
        assert_eq!(prepared.large[0].digest, prepared.large[1].digest);
        let mut back: Value = serde_json::from_str(&prepared.data).unwrap();
        for large in prepared.large {
            put_large(&mut back, &large.pointer, large.text);
        }
        assert_eq!(back, data);
    }

    #[test]
    fn a_value_that_is_one_large_text_comes_back() {
        let prepared = prepared(&json!("z".repeat(LARGE))).unwrap();
        let mut back: Value = serde_json::from_str(&prepared.data).unwrap();
        put_large(&mut back, &prepared.large[0].pointer, "z".to_owned());
        assert_eq!(back, json!("z"));
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let nested = |depth: usize| (0..depth).fold(json!(1), |value, _| json!([value]));
        assert!(prepared(&nested(MAX_DEPTH - 1)).is_ok());
        assert!(matches!(prepared(&nested(MAX_DEPTH)), Err(StoreError::TooDeep(MAX_DEPTH))));
        assert!(matches!(prepared(&json!("x".repeat(MAX_EVENT + 1))), Err(StoreError::TooLarge { .. })));
    }
}
