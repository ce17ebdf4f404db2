//! An agent's memory, kept in the store.

use metier_store::{Recall, Record as Stored, RecordKind, Scope, SessionId, Store};

use metier_tools::{Author, Memory, NewRecord, Record, Wanted};

/// Keeps records in the store, for one session.
pub(crate) struct MemoryStore {
    pub(crate) store: Store,
    pub(crate) session: SessionId,
    /// The project that records belong to.
    pub(crate) project: Option<String>,
}

impl Memory for MemoryStore {
    fn save(&self, record: &NewRecord<'_>) -> Result<String, String> {
        let mut stored = Stored::new(record.text).map_err(|error| error.to_string())?;
        stored.tags = record.tags.to_vec();
        stored.session = Some(self.session);
        stored.kind = record.kind;
        // Facts about one project do not hold in another.
        let is_projects = record.kind == RecordKind::Project;
        stored.project = self.project.clone().filter(|_| is_projects);
        if let Some(author) = record.author {
            stored.skill = Some(author.skill.clone());
            stored.origin = Some(author.origin.clone());
            stored.digest = Some(author.digest.clone());
        }
        let id = stored.id.to_string();
        self.store.remember(stored).map_err(|error| error.to_string())?;
        Ok(id)
    }

    fn search(&self, wanted: &Wanted<'_>) -> Result<Vec<Record>, String> {
        let own = Scope::Agent;
        let skills = wanted
            .author
            .map(|author| Scope::Skill { name: author.skill.clone(), origin: author.origin.clone() });
        let mut found = Vec::new();
        // A skill's own records come first, then the agent's.
        for scope in skills.into_iter().chain([own]) {
            let recall = Recall {
                tags: wanted.tags.to_vec(),
                project: self.project.clone(),
                limit: wanted.limit.saturating_sub(found.len()),
                ..Recall::new(wanted.query, scope)
            };
            let records = self.store.recall(&recall).map_err(|error| error.to_string())?;
            found.extend(records.into_iter().map(record));
        }
        Ok(found)
    }
}

/// A record as the tools return it.
pub(crate) fn record(stored: Stored) -> Record {
    let author = stored.skill.map(|skill| Author {
        skill,
        origin: stored.origin.unwrap_or_default(),
        digest: stored.digest.unwrap_or_default(),
    });
    let when: String = stored.at.to_string().chars().take("2026-11-16".len()).collect();
    Record { text: stored.text, tags: stored.tags, when, author, gone: Vec::new() }
}
