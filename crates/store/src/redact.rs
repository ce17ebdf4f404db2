//! What must not be kept is taken out before it is written.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Takes out of a text what nobody may see. Whoever holds the secrets implements it and hands it to
/// [`Store::redacting`](crate::Store::redacting).
pub trait Redact: Send + Sync {
    /// The text without what must not be kept; the same text, not copied, where there is nothing.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// Takes nothing out: for a store whose caller has no secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingSecret;

impl Redact for NothingSecret {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }
}

/// Whether anything was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redaction {
    Untouched,
    Changed,
}

impl Redaction {
    fn or(self, other: Self) -> Self {
        if self == Self::Changed { self } else { other }
    }
}

/// Redacts every text in a value: also keys, and numbers, since a PIN in an input is one.
pub(crate) fn redact_value(redact: &dyn Redact, value: &mut Value) -> Redaction {
    match value {
        Value::String(text) => redact_text(redact, text),
        Value::Number(number) => {
            let mut text = number.to_string();
            let redaction = redact_text(redact, &mut text);
            if redaction == Redaction::Changed {
                *value = Value::String(text);
            }
            redaction
        }
        Value::Array(values) => values
            .iter_mut()
            .fold(Redaction::Untouched, |redaction, value| redaction.or(redact_value(redact, value))),
        Value::Object(map) => redact_map(redact, map),
        Value::Null | Value::Bool(_) => Redaction::Untouched,
    }
}

fn redact_map(redact: &dyn Redact, map: &mut Map<String, Value>) -> Redaction {
    let values = map
        .values_mut()
        .fold(Redaction::Untouched, |redaction, value| redaction.or(redact_value(redact, value)));
    if map.keys().all(|key| matches!(redact.redact(key), Cow::Borrowed(_))) {
        return values;
    }
    let before = std::mem::take(map);
    for (key, value) in before {
        let key = redact.redact(&key).into_owned();
        map.insert(key, value);
    }
    Redaction::Changed
}

pub(crate) fn redact_text(redact: &dyn Redact, text: &mut String) -> Redaction {
    match redact.redact(text) {
        Cow::Borrowed(_) => Redaction::Untouched,
        Cow::Owned(clean) => {
            *text = clean;
            Redaction::Changed
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Word(&'static str);

    impl Redact for Word {
        fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
            if text.contains(self.0) {
                Cow::Owned(text.replace(self.0, "[gone]"))
            } else {
                Cow::Borrowed(text)
            }
        }
    }

    #[test]
    fn texts_keys_and_numbers_are_redacted_at_every_depth() {
        let mut value = json!({"a": ["x 4711 y", {"k4711": 14_711, "n": 5}], "b": null, "c": 4711.5});
        assert_eq!(redact_value(&Word("4711"), &mut value), Redaction::Changed);
        assert_eq!(
            value,
            json!({"a": ["x [gone] y", {"k[gone]": "1[gone]", "n": 5}], "b": null, "c": "[gone].5"})
        );
        assert_eq!(redact_value(&Word("none"), &mut value), Redaction::Untouched);
    }
}
