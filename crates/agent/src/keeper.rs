//! The memory of an agent is the store's.

use metier_store::{Recall, Record as Stored, RecordKind, Scope, SessionId, Store};

use crate::tools::{Author, Memory, NewRecord, Record, Wanted};

/// Keeps records in the store, for one session.
pub(crate) struct Keeper<'a> {
    pub(crate) store: &'a Store,
    pub(crate) session: SessionId,
    /// The project, by which records are kept apart.
    pub(crate) project: Option<&'a str>,
}

impl Memory for Keeper<'_> {
    fn save(&self, record: &NewRecord<'_>) -> Result<String, String> {
        let mut stored = Stored::new(record.text).map_err(|error| error.to_string())?;
        stored.tags = record.tags.to_vec();
        stored.session = Some(self.session);
        stored.kind = record.kind;
        // How things are in one project is nothing to know in another.
        let is_projects = record.kind == RecordKind::Project;
        stored.project = self.project.filter(|_| is_projects).map(str::to_owned);
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
        // What a skill kept comes first, then what is the agent's own and so for everybody.
        for scope in skills.into_iter().chain([own]) {
            let recall = Recall {
                tags: wanted.tags.to_vec(),
                project: self.project.map(str::to_owned),
                limit: wanted.limit.saturating_sub(found.len()),
                ..Recall::new(wanted.query, scope)
            };
            let records = self.store.recall(&recall).map_err(|error| error.to_string())?;
            found.extend(records.into_iter().map(record));
        }
        Ok(found)
    }
}

/// A record as the tools know it.
pub(crate) fn record(stored: Stored) -> Record {
    let author = stored.skill.map(|skill| Author {
        skill,
        origin: stored.origin.unwrap_or_default(),
        digest: stored.digest.unwrap_or_default(),
    });
    let when: String = stored.at.to_string().chars().take("2026-11-16".len()).collect();
    Record { text: stored.text, tags: stored.tags, when, author, gone: Vec::new() }
}
