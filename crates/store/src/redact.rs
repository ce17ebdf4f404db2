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

/// Redacts every text in a value: also keys, and numbers, since a PIN in an input is one. Says whether anything was taken out.
pub(crate) fn redact_value(redact: &dyn Redact, value: &mut Value) -> bool {
    match value {
        Value::String(text) => redact_text(redact, text),
        Value::Number(number) => {
            let mut text = number.to_string();
            let is_changed = redact_text(redact, &mut text);
            if is_changed {
                *value = Value::String(text);
            }
            is_changed
        }
        Value::Array(values) => redact_values(redact, values),
        Value::Object(map) => redact_map(redact, map),
        Value::Null | Value::Bool(_) => false,
    }
}

fn redact_values<'v>(redact: &dyn Redact, values: impl IntoIterator<Item = &'v mut Value>) -> bool {
    let mut is_changed = false;
    for value in values {
        is_changed |= redact_value(redact, value);
    }
    is_changed
}

fn redact_map(redact: &dyn Redact, map: &mut Map<String, Value>) -> bool {
    let is_changed = redact_values(redact, map.values_mut());
    if map.keys().all(|key| matches!(redact.redact(key), Cow::Borrowed(_))) {
        return is_changed;
    }
    let before = std::mem::take(map);
    for (key, value) in before {
        let key = redact.redact(&key).into_owned();
        map.insert(key, value);
    }
    true
}

pub(crate) fn redact_text(redact: &dyn Redact, text: &mut String) -> bool {
    match redact.redact(text) {
        Cow::Borrowed(_) => false,
        Cow::Owned(clean) => {
            *text = clean;
            true
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
        assert!(redact_value(&Word("4711"), &mut value));
        assert_eq!(
            value,
            json!({"a": ["x [gone] y", {"k[gone]": "1[gone]", "n": 5}], "b": null, "c": "[gone].5"})
        );
        assert!(!redact_value(&Word("none"), &mut value));
    }
}
