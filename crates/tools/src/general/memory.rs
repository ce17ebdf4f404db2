//! What an agent keeps for later, as records of somebody.

use metier_store::RecordKind;

/// Keeps records. The store is behind it; what it gives back is data, whoever wrote it.
pub trait Memory: Send + Sync {
    /// Keeps a record, and gives the name by which it can be forgotten.
    fn save(&self, record: &NewRecord<'_>) -> Result<String, String>;

    /// The records that fit best, best first. What belongs to another skill than the author asked for is left out again by
    /// whoever asks, so a store that does not tell them apart shows nothing that it should not.
    fn search(&self, wanted: &Wanted<'_>) -> Result<Vec<Record>, String>;
}

/// Whose record it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The skill.
    pub skill: String,
    /// Where it comes from.
    pub origin: String,
    /// The digest of its text when the record was made.
    pub digest: String,
}

/// A record to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// What is to be remembered.
    pub text: &'a str,
    /// Words to find it by.
    pub tags: &'a [String],
    /// The skill that was active; without one it is the agent's own.
    pub author: Option<&'a Author>,
    /// What it is about.
    pub kind: RecordKind,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// In words.
    pub query: &'a str,
    /// Tags that a record has to have, all of them.
    pub tags: &'a [String],
    /// For which skill; the agent's own records are for everybody.
    pub author: Option<&'a Author>,
    /// How many at most.
    pub limit: usize,
}

/// A record that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What is remembered.
    pub text: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was kept, as people write it: `2026-11-16`.
    pub when: String,
    /// Whose it is.
    pub author: Option<Author>,
    /// The paths it names at which nothing is any more. Whoever shows a record looks for them.
    pub gone: Vec<String>,
}

impl Author {
    /// Whether both are the same skill, whatever its text was then.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.skill == other.skill && self.origin == other.origin
    }
}

/// The skill that a record belongs to: the one that was activated last.
pub(super) fn author(context: metier_runtime::ToolContext<'_>) -> Option<Author> {
    let active = context.skills.active().pop()?;
    Some(Author { skill: active.skill.name.clone(), origin: active.skill.owner(), digest: active.digest })
}

/// How many tags there may be, and how long one may be in characters.
pub(super) const MOST_TAGS: usize = 16;
pub(super) const MOST_TAG: usize = 64;

/// The tags of an input: trimmed, without repetitions.
pub(super) fn tags(input: &metier_runtime::Input<'_>) -> Result<Vec<String>, super::Refused> {
    let mut tags: Vec<String> = Vec::new();
    for tag in input.texts("tags")?.iter().flat_map(|text| text.split(',')) {
        let tag = tag.trim();
        if !tag.is_empty() && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    if tags.len() > MOST_TAGS || tags.iter().any(|tag| tag.chars().count() > MOST_TAG) {
        let what = format!("`tags` are at most {MOST_TAGS} words of at most {MOST_TAG} characters");
        return Err(input.unusable(what).into());
    }
    Ok(tags)
}
