//! Requests for approval are events: a session that waits for a person holds no thread, no lock and no process, and any host can give
//! the answer later.
//!
//! A host that cannot ask at once replies [`ApprovalReply::Later`](metier_runtime::ApprovalReply): the call has no result, the run
//! ends, and nothing is left but rows in the store. [`answer_approval`] writes the answer, and [`Session::run`](super::Session::run) makes the call.

use std::sync::Arc;

use metier_policy::Answer;
use metier_runtime::{ApprovalEvent, ApprovalRequest, ApprovalStage as Stage, SkillSession};
use metier_store::{ApprovalStage, EventKind, EventQuery, SessionId, Store};

use super::{SessionError, resume};
use crate::session_log::SessionLog;
use crate::state::SessionState;

/// An approval that a session waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApproval {
    /// The session: the one that was asked about, or one of its sub-agents.
    pub session: SessionId,
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What would happen, in words.
    pub action: String,
}

/// The approvals that a session and its sub-agents wait for.
pub fn open_approvals(store: &Store, id: SessionId) -> Result<Vec<OpenApproval>, SessionError> {
    let (mut found, mut open) = (Vec::new(), vec![id]);
    let mut seen = std::collections::HashSet::from([id]);
    while let Some(session) = open.pop() {
        let state = SessionState::replay(&store.events(&EventQuery::of(session))?);
        for (call, started) in &state.calls.started {
            if let Some(approval) = &started.approval {
                let (call, tool) = (call.clone(), started.called.tool.clone());
                found.push(OpenApproval { session, call, tool, action: approval.action.clone() });
            }
        }
        let called = state.calls.started.values().filter_map(|started| started.subagent.as_ref());
        let invoked = state.subagents.invoked.as_ref().map(|invoked| &invoked.child);
        let subagents = called.chain(invoked).chain(&state.subagents.background);
        open.extend(subagents.map(|subagent| subagent.id).filter(|id| seen.insert(*id)));
    }
    found.sort_by(|one, other| (one.session, &one.call).cmp(&(other.session, &other.call)));
    Ok(found)
}

/// Writes the answer to a request for approval of a session that no process works on. Fails with [`SessionError::Busy`] while one
/// does, and with [`SessionError::NotAsked`] if the call does not wait for an approval.
pub fn answer_approval(
    store: &Store,
    session: SessionId,
    call: &str,
    answer: Answer,
) -> Result<(), SessionError> {
    let _lease = resume::lease(store, session)?;
    let state = SessionState::replay(&store.events(&EventQuery::of(session))?);
    let started = state.calls.started.get(call);
    let approval = started.and_then(|started| started.approval.as_ref());
    let approval = approval.ok_or_else(|| SessionError::NotAsked(call.to_owned()))?;
    let event = answered(&approval.question, answer, Some(call));
    store.submit(session, event)?.wait()?;
    Ok(())
}

/// Writes requests for approval and their answers to the log of the session.
pub(super) fn record(skills: &mut SkillSession, log: &Arc<SessionLog>) {
    let log = Arc::clone(log);
    skills.record_approvals(move |event| {
        let kind = match event {
            ApprovalEvent::Requested(request) => requested(request),
            ApprovalEvent::Answered { question, answer, call } => answered(question, answer, call),
        };
        // A store that fails makes the next event of the call fail, and with it the run.
        let _ = log.append(kind);
    });
}

fn requested(request: &ApprovalRequest<'_>) -> EventKind {
    EventKind::ApprovalRequested {
        call: request.call.map(str::to_owned),
        question: serde_json::to_value(&request.decision.question).unwrap_or_default(),
        action: request.action.sentence(),
        stage: match request.stage {
            Stage::Before => ApprovalStage::Before,
            Stage::During => ApprovalStage::During,
            Stage::Changes => ApprovalStage::Changes,
        },
    }
}

fn answered(question: &metier_policy::Question, answer: Answer, call: Option<&str>) -> EventKind {
    let answer = serde_json::to_value(answer).unwrap_or_default();
    EventKind::ApprovalAnswered {
        call: call.map(str::to_owned),
        question: serde_json::to_value(question).unwrap_or_default(),
        answer: answer.as_str().unwrap_or_default().to_owned(),
    }
}
