//! What a session says about its skills, for those who keep records.

use std::borrow::Cow;
use std::path::PathBuf;

use metier_catalog::{EntryId, RoutingRecord, SHORTLIST_BUDGET, SHORTLIST_LENGTH, Shortlist};
use metier_exec::RunOutput;
use metier_policy::Skill;
use metier_skill::Tool;

use super::SkillSession;
use crate::skills::engine::lock;
use crate::toolset::{SearchHit, search};

/// A skill that was activated in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveSkill {
    /// Who it is, for the gate.
    pub skill: Skill,
    /// Its folder.
    pub folder: PathBuf,
    /// The digest of the text that is in the conversation.
    pub digest: String,
}

/// What a skill says of itself for records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillLabels {
    /// Its version, where it has one.
    pub version: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

impl SkillSession {
    /// The skills that were activated, the last one at the end.
    pub fn active(&self) -> Vec<ActiveSkill> {
        self.active_ids().into_iter().filter_map(|id| self.about(id)).collect()
    }

    /// What is known of a skill that was activated.
    pub fn about(&self, id: EntryId) -> Option<ActiveSkill> {
        let snapshot = self.snapshot();
        let entry = snapshot.entry(id)?;
        let skill = self.skill(id);
        let digest = self.active_skills().conversation.digest(&skill);
        let digest = digest.map_or_else(String::new, |digest| digest.to_string());
        Some(ActiveSkill { folder: snapshot.folder(entry), digest, skill })
    }

    /// What a skill says of itself for records. Its file is read for it.
    pub fn labels(&self, id: EntryId) -> SkillLabels {
        let snapshot = self.snapshot();
        let Some(entry) = snapshot.entry(id) else { return SkillLabels::default() };
        let file = snapshot.read(entry).ok();
        let manifest = file.as_ref().and_then(|file| file.manifest());
        let version = entry.version_text().map(Cow::into_owned);
        SkillLabels { version, tags: manifest.map(|manifest| manifest.more.tags.clone()).unwrap_or_default() }
    }

    /// The same of the skill that was activated last.
    pub fn labels_of_last(&self) -> Option<SkillLabels> {
        self.last_active().map(|id| self.labels(id))
    }

    /// The skills that fit a request, as a record, and the note that tells the model of them. The note is empty where nothing
    /// fits. With a catalogue that has every skill in full it is not needed.
    pub fn shortlist(&self, request: &str) -> (RoutingRecord, String) {
        let snapshot = self.snapshot();
        let mut route = self.engine.finder(snapshot).route(request, SHORTLIST_LENGTH);
        let visible = self.toolset().visible();
        route.skills.retain(|routed| visible.has(routed.entry));
        let note = Shortlist::new(snapshot, &route, SHORTLIST_BUDGET, Tool::SkillSearch.name());
        (RoutingRecord::new(snapshot, &route), note.text)
    }

    /// Keeps what is too long of a run. Returns what precedes the names of the files, such as `/tmp/x/1/`; `None` where there is nothing
    /// to keep or nothing is kept.
    pub(crate) fn keep_output(&self, ran: &RunOutput) -> Result<Option<String>, String> {
        lock(&self.outputs).keep(ran, &self.engine.places.temp)
    }

    /// The skills that fit a query best, best first.
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        search(&self.engine.finder(self.snapshot()), query, limit)
    }
}
