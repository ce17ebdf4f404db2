//! Answers that were given, and to which questions they are answers.

use crate::action::{Action, Deed};
use crate::approval_key::{ActKey, ActorKey, ApprovalKey, NeedKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a person says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this time.
    Once,
    /// Yes, to this very question until the session ends.
    SessionExact,
    /// Yes, to this tool until the session ends.
    SessionTool,
    /// Yes, to this question in this project from now on; kept in the user's configuration, never in a project's.
    Always,
    /// No. Until [`Answers::forget_refusals`] the same question is answered with it.
    No,
}

impl Answer {
    /// The words users see.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Once => "yes, this time",
            Self::SessionExact => "yes, for this session",
            Self::SessionTool => "yes, to this tool for this session",
            Self::Always => "yes, always in this project",
            Self::No => "no",
        }
    }
}

/// A question, known by everything that was shown and by the bytes that would run.
///
/// An answer holds for the skill, its folder's digest and the script's digest that it was given for. Where no digest is
/// known, a yes to a script cannot be bound to its bytes and holds once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    key: ApprovalKey,
    /// Whether a yes can hold for longer than once.
    is_bound: bool,
}

impl Question {
    /// The question about an action that stands outside of some fences.
    pub(crate) fn new(action: &Action, outside: BTreeSet<String>) -> Self {
        let has_tree = action.skill().is_some_and(|skill| skill.tree.is_some());
        let is_bound = match &action.deed {
            Deed::Script { digest, .. } => has_tree || digest.is_some(),
            _ => true,
        };
        Self { key: ApprovalKey { outside, ..action.approval_key() }, is_bound }
    }

    /// Everything that was shown, with the digests it is bound to.
    pub fn key(&self) -> &ApprovalKey {
        &self.key
    }

    fn tool(&self) -> ActKey {
        let has_tree = matches!(&self.key.actor, ActorKey::Skill { tree: Some(_), .. });
        self.key.act.clone().tool(has_tree)
    }

    fn kept(&self) -> ApprovalKey {
        ApprovalKey { act: self.key.act.clone().always(), ..self.key.clone() }
    }
}

/// The answers of a session, and those that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    exact: Vec<Question>,
    tools: Vec<Question>,
    refused: Vec<Question>,
    kept: BTreeSet<ApprovalKey>,
}

impl Answers {
    /// The answers of a new session, with those that were kept for its project.
    pub fn new(kept: impl IntoIterator<Item = ApprovalKey>) -> Self {
        Self { kept: kept.into_iter().collect(), ..Self::default() }
    }

    /// Takes an answer down. What comes back is approved for good, in the project in which it was given: whoever keeps it in the user's
    /// configuration keeps the project, too, and gives it only to sessions of that project.
    pub fn give(&mut self, question: &Question, answer: Answer) -> Option<ApprovalKey> {
        match answer {
            Answer::Once => {}
            Answer::No => self.refused.push(question.clone()),
            _ if !question.is_bound => {}
            Answer::SessionExact => self.exact.push(question.clone()),
            Answer::SessionTool => self.tools.push(question.clone()),
            Answer::Always => {
                let kept = question.kept();
                self.kept.insert(kept.clone());
                return Some(kept);
            }
        }
        None
    }

    /// Takes every no back, such as when the user speaks again.
    pub fn forget_refusals(&mut self) {
        self.refused.clear();
    }

    /// The answer that was given to this very question.
    pub fn to(&self, question: &Question) -> Option<Answer> {
        if !question.is_bound {
            return None;
        }
        if self.refused.contains(question) {
            return Some(Answer::No);
        }
        // A yes was given knowing what was shown; more needs, or another fence in the way, is another question.
        let asked = &question.key;
        let is_within = |given: &ApprovalKey| {
            given.actor == asked.actor
                && asked.needs.is_subset(&given.needs)
                && asked.outside.is_subset(&given.outside)
        };
        if self.exact.iter().any(|given| given.key.act == asked.act && is_within(&given.key)) {
            return Some(Answer::SessionExact);
        }
        let tool = question.tool();
        let is_tool = |given: &Question| {
            let writes = given.key.needs.iter().any(NeedKey::is_project);
            let is_known = |need: &NeedKey| given.key.needs.contains(need) || (writes && need.is_project());
            given.key.actor == asked.actor
                && given.tool() == tool
                && asked.needs.iter().all(is_known)
                && asked.outside.is_subset(&given.key.outside)
        };
        if self.tools.iter().any(is_tool) {
            return Some(Answer::SessionTool);
        }
        let always = asked.act.clone().always();
        let is_kept = |kept: &ApprovalKey| kept.act == always && is_within(kept);
        self.kept.iter().any(is_kept).then_some(Answer::Always)
    }
}
