//! The memory in a session: what is recalled for a message, and what a run leaves.

use metier_policy::{Action, Actor, Reason};
use metier_skill::Tool;
use metier_store::{EventKind, Outcome, RECALLED, Recall, RecordId, Scope};

use super::{Session, SessionError};
use crate::recall::{recalled, run_record};
use crate::state::RecallRequest;

impl Session {
    /// Puts records into the conversation that fit what the user said and the skills that were activated since.
    pub(super) fn bring_records(&mut self) -> Result<(), SessionError> {
        let requests = self.state(|state| state.recalled.requests().to_vec());
        if requests.is_empty() || !self.has_memory(Tool::MemorySearch) {
            return Ok(());
        }
        let words = self.user_text();
        let project = self.general.project_shown();
        for wanted in requests {
            let (words, scope) = match wanted {
                RecallRequest::About(words) => (words, Scope::Agent),
                RecallRequest::OfSkill { name, origin } => {
                    let origin = self.owner(&name, origin);
                    (words.to_string(), Scope::Skill { name, origin })
                }
            };
            let (exclude, already) = self.state(|state| (state.recalled.excluded(), state.recalled.count()));
            let (project, limit) = (project.clone(), RECALLED.saturating_sub(already));
            let wanted = Recall { exclude, project, limit, ..Recall::new(words, scope) };
            let found = recalled(self.log.store(), wanted, &|text| self.general.gone(text))?;
            self.write_all(found)?;
        }
        Ok(())
    }

    /// Keeps what came of each skill's run, before the run ends.
    pub(super) fn remember_runs(&mut self, outcome: Outcome, text: &str) -> Result<(), SessionError> {
        let (used, turn) = self.state(|state| (state.run.used.clone(), state.history.turns()));
        if used.is_empty() || !self.has_memory(Tool::MemorySave) {
            return Ok(());
        }
        let request = self.user_text();
        let project = self.general.project_shown();
        let mut kept = Vec::new();
        for (at, (used, _)) in (0..).zip(&used) {
            let owner = self.owner(&used.skill, used.origin.clone());
            let mut record = run_record(used, owner, &request, outcome, text)?;
            // The same run leaves the same record, however often its end is written.
            record.id = RecordId::within(self.id(), (turn << 8) + at);
            record.session = Some(self.id());
            record.project.clone_from(&project);
            kept.push(record.id);
            self.log.store().remember(record)?;
        }
        kept.into_iter().try_for_each(|record| self.write(EventKind::Remembered { record }))
    }

    /// Whose records those of a skill are: its origin, and its root where the origin names several.
    fn owner(&self, name: &str, origin: String) -> String {
        let active = self.skills.active();
        let mut skills = active.iter().map(|active| &active.skill);
        let known = skills.find(|skill| skill.name == name && skill.origin == origin);
        known.map_or(origin, metier_policy::Skill::owner)
    }

    /// Whether there is a memory, and the gate has nothing against using it unasked.
    fn has_memory(&self, tool: Tool) -> bool {
        let is_offered = self.general.offers(tool);
        let decision = self.skills.judge(&Action::tool(Actor::Agent, tool, None));
        // A skill's list says what the model may call, and this is no call of the model: every run leaves a record.
        let is_fenced = matches!(decision.by, Reason::Fence { .. } | Reason::Disallowed { .. });
        is_offered && (decision.is_allowed() || is_fenced)
    }
}
