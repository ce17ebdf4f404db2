use serde::{Deserialize, Serialize};

use super::call::is_zero;

/// What became of everything that a call changed in the project. Fields are only ever added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedChanges {
    /// The id by which `metier changes` knows them.
    pub id: String,
    /// The changed paths, in their order.
    pub entries: Vec<RecordedChange>,
    /// How many paths are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// How many paths wait for an approval, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting: u64,
    /// Rules that would allow exactly what was not approved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_with: Vec<String>,
    /// Why nothing was applied though it was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One changed path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedChange {
    /// Where, seen from the project.
    pub path: String,
    /// `created`, `modified`, `deleted`, `attributes` or `times`.
    pub kind: String,
    /// `file`, `folder` or `link`; absent for what was deleted.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Its size in bytes; of folders and of what was deleted, zero.
    pub size: u64,
    /// Its permissions, as in `644`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// `file`, `folder` or `link`: what was there before, where it was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_before: Option<String>,
    /// Its permissions before, where the same kind of entry had others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_before: Option<String>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether there is a file that can be executed where there was no file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// The digest of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The deleted path with the same content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// `applied`, `not-approved`, `refused`, `ignored`, `failed` or `never`.
    pub state: String,
    /// Whether it runs or is obeyed later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// Why it was not applied, or what is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl RecordedChanges {
    /// The paths in a state, as it is written.
    pub fn in_state(&self, state: &str) -> impl Iterator<Item = &RecordedChange> {
        self.entries.iter().filter(move |entry| entry.state == state)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Finished;

    #[test]
    fn an_event_from_before_there_were_change_sets_is_read_and_a_newer_field_does_not_hide_the_others() {
        let old: Finished = serde_json::from_value(json!({ "id": "1", "changes": ["a"] })).unwrap();
        assert_eq!((old.change_set, old.changes.len()), (None, 1));
        let newer = json!({ "id": "1", "change_set": { "id": "7", "mood": 1, "entries": [
            { "path": "a", "kind": "created", "type": "file", "state": "levitating", "height": 3 }
        ] } });
        let newer: Finished = serde_json::from_value(newer).unwrap();
        let set = newer.change_set.unwrap();
        assert_eq!((&*set.id, set.in_state("levitating").count()), ("7", 1));
    }
}
