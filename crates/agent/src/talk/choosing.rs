//! Which model is asked, how much it thinks and how long it goes on: what active skills ask for, until their scopes end.

use metier_runtime::{End, ScopeId, SkillScope};
use metier_store::EventSeverity;

use super::{Talk, TalkError};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::limits::{Limit, Reached};
use crate::models::{Choosing, Mind, Wish, remark};

/// Who answers now, and since when which skill counts its turns.
pub(super) struct Choice {
    wish: Wish,
    pub(super) mind: Mind,
    /// Open scopes with a limit of their own, and how many turns there had been when they opened.
    marks: Vec<(ScopeId, u64)>,
}

impl Choice {
    pub(super) fn new(agent: &Agent) -> Self {
        Self { wish: Wish::default(), mind: usual(agent), marks: Vec::new() }
    }

    /// Somebody said to go on: turns of skills are counted anew.
    pub(super) fn go_on(&mut self) {
        self.marks.clear();
    }
}

fn usual(agent: &Agent) -> Mind {
    let Agent { model, prices, effort, .. } = agent;
    Mind { model: model.clone(), prices: *prices, effort: *effort }
}

/// Whether a scope asks for something in this conversation. A child was made with what its own skill asks for.
fn is_inline(scope: &SkillScope) -> bool {
    scope.end == End::NextUserMessage
}

impl Talk {
    /// Takes up what the active skills ask for. A change is written down.
    pub(super) fn choose(&mut self) -> Result<Mind, TalkError> {
        let wish = self.wish();
        if wish == self.choice.wish {
            return Ok(self.choice.mind.clone());
        }
        let now = usual(&self.agent);
        let choosing = Choosing {
            models: self.agent.models.as_deref(),
            family: &self.kin.family,
            ask: self.ask.as_deref(),
            now: &now,
        };
        let (mind, mut remarks) = choosing.mind(&wish);
        let before = &self.choice.mind;
        if mind.model.id() != before.model.id() || mind.effort != before.effort {
            let why = match wish.skill.as_str() {
                "" => "the skill that asked for another one is over".to_owned(),
                skill => format!("the skill `{skill}` asks for it"),
            };
            let thinks = mind.effort.map(|effort| format!(", effort {effort:?}")).unwrap_or_default();
            let text = format!("`{}`{thinks} answers from now on: {why}", mind.model.id());
            remarks.push(remark("model-changed", EventSeverity::Info, text));
        }
        for remark in remarks {
            self.write(remark)?;
        }
        (self.choice.wish, self.choice.mind) = (wish, mind.clone());
        Ok(mind)
    }

    /// What the skills in this conversation ask for, the last one first.
    fn wish(&self) -> Wish {
        let scopes = lock(&self.session).scopes();
        let asked = |what: fn(&SkillScope) -> Option<String>| {
            scopes.asked(|scope| {
                what(scope).filter(|_| is_inline(scope)).map(|wish| (scope.skill.name.clone(), wish))
            })
        };
        let (model, effort) = (asked(|scope| scope.model.clone()), asked(|scope| scope.effort.clone()));
        let skill = model.as_ref().or(effort.as_ref()).map(|(skill, _)| skill.clone());
        let text = |asked: Option<(String, String)>| asked.map(|(_, text)| text);
        Wish { skill: skill.unwrap_or_default(), model: text(model), effort: text(effort) }
    }

    /// The limit of turns of an active skill, where it is reached.
    pub(super) fn skill_is_through(&mut self) -> Option<Reached> {
        let turns = self.spent().turns;
        let limited: Vec<(ScopeId, u64)> = lock(&self.session)
            .scopes()
            .iter()
            .filter(|(_, scope)| is_inline(scope))
            .filter_map(|(id, scope)| Some((id, u64::from(scope.max_turns?.get()))))
            .collect();
        let marks = &mut self.choice.marks;
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
                reached = Some(Reached { which: Limit::Turns, limit, used });
            }
        }
        reached
    }
}
