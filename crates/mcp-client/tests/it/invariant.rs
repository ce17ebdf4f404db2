//! Invariants for any list of a server and any file that it returns. The fuzz target `listed` checks the same.

use std::collections::HashSet;
use std::path::{Component, Path};

use metier_mcp_client::{
    FrontmatterDifference, MAX_FILES, MAX_SKILL_BYTES, SkillEntry, frontmatter_difference,
};
use serde_json::{Value, json};

/// A key that no input contains.
const OTHER: &str = "a key of the invariant";

/// An entry is rejected with a reason, or accepted with files at distinct paths in its folder. Parsing it again gives the same
/// set.
pub(crate) fn entry_holds(entry: &Value) -> Option<SkillEntry> {
    let read = match SkillEntry::read(entry) {
        Ok(read) => read,
        Err(why) => {
            assert!(!why.to_string().is_empty());
            return None;
        }
    };
    let folder = read.uri.strip_suffix("SKILL.md").unwrap();
    assert!(read.files.len() <= MAX_FILES);
    assert!(read.files.iter().map(|file| file.size).sum::<u64>() <= MAX_SKILL_BYTES);
    assert!(read.files.iter().any(|file| file.uri == read.uri), "its `SKILL.md` is listed");
    let mut seen = HashSet::new();
    for file in &read.files {
        assert!(file.uri.starts_with(folder), "{}", file.uri);
        let path: &Path = file.path.as_path();
        assert!(path.components().all(|part| matches!(part, Component::Normal(_))), "{}", path.display());
        assert!(seen.insert(path.to_string_lossy().to_lowercase()), "{}", path.display());
    }
    let again: Value = serde_json::from_str(&entry.to_string()).unwrap();
    assert_eq!(SkillEntry::read(&again).unwrap().set(), read.set());
    Some(read)
}

/// A file equals the listing, or the first difference is reported. It equals no other listing.
pub(crate) fn comparison_holds(file: &[u8], listed: &serde_json::Map<String, Value>) -> bool {
    if let Some(why) = frontmatter_difference(file, listed) {
        assert!(!why.to_string().is_empty());
        return false;
    }
    let mut more = listed.clone();
    more.insert(OTHER.to_owned(), json!(1));
    assert_eq!(frontmatter_difference(file, &more), Some(FrontmatterDifference::Missing(OTHER.to_owned())));
    for key in listed.keys() {
        let mut less = listed.clone();
        less.remove(key);
        assert!(frontmatter_difference(file, &less).is_some(), "{key} could be left out of the list");
        let mut other = listed.clone();
        other.insert(key.clone(), json!({ OTHER: [] }));
        assert!(frontmatter_difference(file, &other).is_some(), "{key} could be another value in the list");
    }
    true
}
