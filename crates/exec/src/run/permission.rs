//! For whom something runs, and the permission for it.

use std::path::Path;

use metier_files::Survey;
use metier_policy::{Action, Actor, Decision, Gate, Need, Ruling};
use metier_sandbox::Limits;

use super::{RunError, SkillContext};
use crate::containment::StartDir;
use crate::requested_grants::RequestedGrants;

/// The skill or agent for which something runs, and what of its containment matters while it does.
pub(super) struct Principal<'a> {
    pub(super) actor: Actor,
    pub(super) project: Option<&'a Survey>,
    pub(super) grants: &'a RequestedGrants,
    /// The folder in the project that the skills of a crew write.
    pub(super) crew: Option<&'a Path>,
    pub(super) limits: &'a Limits,
    /// The session it belongs to.
    pub(super) session: &'a str,
    /// Where it can start where the project cannot be shown.
    pub(super) home: &'a Path,
}

impl<'a> SkillContext<'a> {
    pub(super) fn principal(&self) -> Principal<'a> {
        let containment = self.containment;
        Principal {
            actor: Actor::Skill(self.skill.clone()),
            project: containment.project,
            grants: containment.grants,
            crew: containment.crew_data(),
            limits: &containment.limits,
            session: containment.session,
            home: if containment.start == StartDir::Project {
                containment.start()
            } else {
                containment.skill
            },
        }
    }
}

/// A decision about a run, and about the hosts and secrets that it asks for. Nothing runs without one.
#[derive(Clone, Debug)]
pub struct RunDecision {
    /// The decision.
    pub decision: Decision,
    /// Whether it covers the changes of the project that the skill declares.
    pub with_writes: bool,
}

/// Decides about a run with all that it needs.
///
/// Changes are decided after the run, so a run does not fail for them. If a person can be asked, all needs are one question before it,
/// and what it then changes there is not asked about again.
pub fn decide_run(gate: &Gate<'_>, action: &Action) -> RunDecision {
    let decision = gate.decide(action);
    let is_write = |need: &Need| matches!(need, Need::WriteBelow(_));
    if !decision.is_allowed() && decision.ruling != Ruling::Ask && action.needs.iter().any(is_write) {
        let mut without = action.clone();
        without.needs.retain(|need| !is_write(need));
        let without = gate.decide(&without);
        if without.is_allowed() {
            return RunDecision { decision: without, with_writes: false };
        }
    }
    RunDecision { decision, with_writes: true }
}

/// The decision that lets something run.
pub(super) fn permit(gate: &Gate<'_>, action: &Action) -> Result<RunDecision, RunError> {
    let decided = decide_run(gate, action);
    if decided.decision.is_allowed() {
        return Ok(decided);
    }
    Err(RunError::Gate { action: Box::new(action.clone()), decision: Box::new(decided.decision) })
}
