//! For whom something runs, and the permission for it.

use std::path::Path;

use metier_files::Survey;
use metier_policy::{Action, Actor, Decision, Gate, Need, Reason, Ruling};
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

/// The permission for a call, and for the hosts and secrets that it asks for. Nothing runs without one.
#[derive(Clone)]
pub(super) struct Allowed {
    pub(super) decision: Decision,
    /// Whether it covers the changes of the project that the skill declares.
    pub(super) with_writes: bool,
}

impl Allowed {
    /// Whether a person's answer, and not a rule, allows it.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self.decision.by, Reason::Answered(_))
    }
}

/// Asks the policy about an action with all that it needs.
pub(super) fn decide(
    gate: &Gate<'_>,
    mut action: Action,
    principal: &Principal<'_>,
) -> Result<Allowed, RunError> {
    action.needs = principal.grants.needs();
    let decision = gate.decide(&action);
    if decision.is_allowed() {
        return Ok(Allowed { decision, with_writes: true });
    }
    // Changes are decided after the run, so a run does not fail for them. If a person can be asked, all needs are one question before it,
    // and what it then changes there is not asked about again.
    let is_write = |need: &Need| matches!(need, Need::WriteBelow(_));
    if decision.ruling != Ruling::Ask && action.needs.iter().any(is_write) {
        let mut without = action.clone();
        without.needs.retain(|need| !is_write(need));
        let decision = gate.decide(&without);
        if decision.is_allowed() {
            return Ok(Allowed { decision, with_writes: false });
        }
    }
    Err(RunError::Gate { action: Box::new(action), decision: Box::new(decision) })
}
