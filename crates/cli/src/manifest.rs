//! A manifest for programs: every key that is there, under its canonical name, in the order of the specification.

use metier_skill::{Description, Manifest, ManifestKey, yaml};
use serde::Serialize;
use serde_json::{Map, Value};

/// The manifest as one JSON object. Keys that are not given are left out.
pub(crate) fn to_json(manifest: &Manifest) -> Value {
    let more = &manifest.more;
    let mut map = Fields(Map::new());
    for key in ManifestKey::ALL {
        map.put(&field_name(key.name), key.value(manifest));
        match key.name {
            "name" => map.put("title", manifest.title.as_deref()),
            "description" => {
                let is_derived = matches!(manifest.description, Description::Derived(_));
                map.put("description_derived", is_derived.then_some(true));
            }
            "compatibility" => {
                // As it is written, where that is more than the one text.
                let is_more = |raw: &&yaml::Value| !matches!(raw.kind, yaml::Kind::Scalar { .. });
                map.put("compatibility_raw", more.compatibility_raw.as_ref().filter(is_more));
            }
            _ => {}
        }
    }
    map.put("needs", more.needs.as_ref());
    let mut extra = Fields(Map::new());
    for (key, value) in &more.extra {
        extra.put(key, Some(value));
    }
    map.put("extra", (!extra.0.is_empty()).then_some(extra.0));
    Value::Object(map.0)
}

/// A key as fields of JSON are written: `max_turns` for `maxTurns`.
fn field_name(key: &str) -> String {
    let mut name = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    name
}

struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, key: &str, value: Option<impl Serialize>) {
        // Only a map with keys that are no text fails to convert, and there is none.
        if let Some(value) = value.and_then(|value| serde_json::to_value(value).ok()) {
            self.0.insert(key.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_a_field_that_has_what_it_says() {
        for key in ManifestKey::ALL {
            let text = format!("---\n{}: {}\n---\nbody\n", key.name, key.example);
            let manifest =
                metier_skill::parse(text.as_bytes(), Some("x")).document.map(|document| document.manifest);
            let shown = manifest.as_ref().map(to_json).unwrap_or_default();
            let shown = &shown[field_name(key.name)];
            let expect = manifest.as_ref().and_then(|manifest| key.value(manifest));
            assert!(!shown.is_null(), "{}", key.name);
            assert_eq!(*shown, serde_json::to_value(expect).unwrap(), "{}", key.name);
        }
    }
}
