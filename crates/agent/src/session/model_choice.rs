//! The model, effort and turn limit that active skills ask for, until their scopes end.

use metier_activation::{ScopeEnd, ScopeId, SkillScope};
use metier_runtime::SkillSession;
use metier_store::{EventSeverity, LimitKind};

use super::{Session, SessionError};
use crate::agent::Agent;
use crate::limits::LimitHit;
use crate::models::{ModelPreference, ModelResolver, ModelSelection, remark};

/// The model that is asked, and since when skills with a limit of turns count them.
pub(super) struct ModelChoice {
    preference: ModelPreference,
    pub(super) selection: ModelSelection,
    /// Open scopes with a limit of their own, and how many turns there had been when they opened.
    marks: Vec<(ScopeId, u64)>,
}

impl ModelChoice {
    pub(super) fn new(agent: &Agent) -> Self {
        Self { preference: ModelPreference::default(), selection: agent.selection.clone(), marks: Vec::new() }
    }

    /// A limit was extended: the turns of skills are counted again.
    pub(super) fn limit_extended(&mut self) {
        self.marks.clear();
    }

    /// The limit of turns of an active skill, where it is reached.
    pub(super) fn turns_hit(&mut self, skills: &SkillSession, turns: u64) -> Option<LimitHit> {
        let limited: Vec<(ScopeId, u64)> = skills
            .scopes()
            .iter()
            .filter(|(_, scope)| is_inline(scope))
            .filter_map(|(id, scope)| Some((id, u64::from(scope.max_turns?.get()))))
            .collect();
        let marks = &mut self.marks;
        marks.retain(|(id, _)| limited.iter().any(|(open, _)| open == id));
        let mut reached = None;
        for (id, limit) in limited {
            let since = marks.iter().find(|(known, _)| *known == id).map(|(_, since)| *since);
            let since = since.unwrap_or_else(|| {
                marks.push((id, turns));
                turns
            });
            let used = turns.saturating_sub(since);
            if used >= limit && reached.is_none() {
                reached = Some(LimitHit { which: LimitKind::Turns, limit, used });
            }
        }
        reached
    }
}

/// What the skills in this conversation ask for, the last one first.
fn preference(skills: &SkillSession) -> ModelPreference {
    let scopes = skills.scopes();
    let asked = |what: fn(&SkillScope) -> Option<String>| {
        scopes.asked(|scope| {
            what(scope).filter(|_| is_inline(scope)).map(|wish| (scope.skill.name.clone(), wish))
        })
    };
    let (model, effort) = (asked(|scope| scope.model.clone()), asked(|scope| scope.effort.clone()));
    let skill = model.as_ref().or(effort.as_ref()).map(|(skill, _)| skill.clone());
    let text = |asked: Option<(String, String)>| asked.map(|(_, text)| text);
    ModelPreference { skill: skill.unwrap_or_default(), model: text(model), effort: text(effort) }
}

/// Whether a scope chooses the model of this session. A sub-agent was made with what its own skill asks for.
fn is_inline(scope: &SkillScope) -> bool {
    scope.end == ScopeEnd::NextUserMessage
}

impl Session {
    /// Selects the model that the active skills ask for. A change is written.
    pub(super) fn select_model(&mut self) -> Result<ModelSelection, SessionError> {
        let preference = preference(&self.skills);
        if preference == self.model.preference {
            return Ok(self.model.selection.clone());
        }
        let resolver = ModelResolver {
            models: self.agent.models.as_deref(),
            budget: &self.subagents.budget,
            ask: self.ask.as_deref(),
            current: &self.agent.selection,
        };
        let (selection, mut remarks) = resolver.select(&preference);
        let before = &self.model.selection;
        if selection.model.id() != before.model.id() || selection.effort != before.effort {
            let why = match preference.skill.as_str() {
                "" => "the skill that asked for another one is over".to_owned(),
                skill => format!("the skill `{skill}` asks for it"),
            };
            let thinks = selection.effort.map(|effort| format!(", effort {effort:?}")).unwrap_or_default();
            let text = format!("`{}`{thinks} answers from now on: {why}", selection.model.id());
            remarks.push(remark("model-changed", EventSeverity::Info, text));
        }
        self.write_all(remarks)?;
        (self.model.preference, self.model.selection) = (preference, selection.clone());
        Ok(selection)
    }
}
