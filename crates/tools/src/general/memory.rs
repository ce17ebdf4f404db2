//! What an agent keeps for later, as records in the store.

use metier_runtime::ActiveSkill;
use metier_store::{Recall, Record, RecordId, RecordKind, Scope, SessionId, Store, StoreError};

/// The memory of one session.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Where records are kept.
    pub store: Store,
    /// The session that they are kept in.
    pub session: SessionId,
    /// The project that records belong to.
    pub project: Option<String>,
}

impl Memory {
    /// Keeps a record, and gives the id by which it can be forgotten. Without an author it is the agent's own.
    pub(super) fn save(
        &self,
        text: &str,
        tags: &[String],
        kind: RecordKind,
        author: Option<&ActiveSkill>,
    ) -> Result<RecordId, StoreError> {
        let mut record = Record::new(text)?;
        let id = record.id;
        record.tags = tags.to_vec();
        record.kind = kind;
        record.session = Some(self.session);
        // Facts about one project do not hold in another.
        record.project = self.project.clone().filter(|_| kind == RecordKind::Project);
        if let Some(author) = author {
            record.skill = Some(author.skill.name.clone());
            record.origin = Some(author.skill.owner());
            record.digest = Some(author.digest.clone());
        }
        self.store.remember(record)?;
        Ok(id)
    }

    /// The records that fit best: those of the skill that asks come first, then the agent's, which are for everybody.
    pub(super) fn search(
        &self,
        query: &str,
        tags: &[String],
        author: Option<&ActiveSkill>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let skill = |author: &ActiveSkill| Scope::Skill {
            name: author.skill.name.clone(),
            origin: author.skill.owner(),
        };
        let mut found = Vec::new();
        for scope in author.map(skill).into_iter().chain([Scope::Agent]) {
            let recall = Recall {
                tags: tags.to_vec(),
                project: self.project.clone(),
                limit: limit.saturating_sub(found.len()),
                ..Recall::new(query, scope)
            };
            found.extend(self.store.recall(&recall)?);
        }
        Ok(found)
    }
}

/// The skill that a record belongs to: the one that was activated last.
pub(super) fn author(context: metier_runtime::ToolContext<'_>) -> Option<ActiveSkill> {
    context.skills.active().pop()
}

/// How many tags there may be, and how long one may be in characters.
pub(super) const MAX_TAGS: usize = 16;
pub(super) const MAX_TAG: usize = 64;

/// The tags of an input: trimmed, without repetitions.
pub(super) fn tags(input: &metier_runtime::Input<'_>) -> Result<Vec<String>, super::Refused> {
    let mut tags: Vec<String> = Vec::new();
    for tag in input.texts("tags")?.iter().flat_map(|text| text.split(',')) {
        let tag = tag.trim();
        if !tag.is_empty() && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    if tags.len() > MAX_TAGS || tags.iter().any(|tag| tag.chars().count() > MAX_TAG) {
        let what = format!("`tags` are at most {MAX_TAGS} words of at most {MAX_TAG} characters");
        return Err(input.problem(what).into());
    }
    Ok(tags)
}
