//! A skill's frontmatter as JSON, as the ADK surface returns it.

use metier_skill::{Manifest, ManifestKey};
use serde_json::{Map, Value, json};

/// The whole frontmatter under the names of the open standard, unknown keys included as they were written. What is not
/// given is left out.
///
/// The ADK drops what it does not know; its documents say that it is passed on, so it is.
pub fn frontmatter(manifest: &Manifest) -> Map<String, Value> {
    let mut map = Map::new();
    for key in ManifestKey::ALL {
        if let Some(value) = key.value(manifest) {
            map.insert(key.name.to_owned(), json!(value));
        }
        if let Some(title) = manifest.title.as_ref().filter(|_| key.name == "name") {
            map.insert("title".to_owned(), json!(title));
        }
    }
    map.extend(manifest.more.extra.iter().map(|(key, value)| (key.clone(), json!(value))));
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_passed_on() {
        let lines = ManifestKey::ALL.iter().map(|key| format!("{}: {}\n", key.name, key.example));
        let text = format!("---\n{}---\nBody.\n", lines.collect::<String>());
        let map = frontmatter(&metier_skill::parse_whole(text.as_bytes(), None).document.unwrap().manifest);
        let names: Vec<&str> = ManifestKey::ALL.iter().map(|key| key.name).collect();
        assert_eq!(map.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }

    #[test]
    fn unknown_keys_come_along_as_they_are_written() {
        let text = "---\nname: x\ndescription: d\nallowed-tools: Read, Bash(git:*)\nmetadata:\n  a: 1\nowner: [ops, 2]\nshell: sh\nbackground: yes\narguments: [pr]\n---\nBody.\n";
        let parsed = metier_skill::parse_whole(text.as_bytes(), Some("x"));
        let found = Value::Object(frontmatter(&parsed.document.unwrap().manifest)).to_string();
        let start = r#"{"name":"x","description":"d","metadata":{"a":"#;
        assert!(found.starts_with(start), "{found}");
        assert!(found.contains(r#""allowed-tools":["Read","Bash(git:*)"]"#), "{found}");
        assert!(found.contains(r#""owner":["ops","#), "{found}");
        assert!(found.contains(r#""shell":"sh""#) && found.contains(r#""background":true"#), "{found}");
        assert!(found.contains(r#""arguments":[{"name":"pr","#), "{found}");
    }
}
