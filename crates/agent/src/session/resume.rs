//! Resumes a session whose process has ended, at whatever moment that was.
//!
//! The state is replayed from the events, and [`Session::run`] continues from it. What the events cannot say is what became of a call
//! that was announced and has no result: see `uncertain`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::state::GivenAnswer;
use metier_store::{
    By, EventKind, EventQuery, Family, Lease, Outcome, SessionFilter, SessionId, Store, StoreError,
};

use super::{NextRun, Parts, RunHooks, Session, SessionError, UncertainCall};
use crate::agent::Agent;
use crate::lock;
use crate::prompt_prefix::PromptPrefix;
use crate::session_log::SessionLog;
use crate::state::SessionState;
use metier_tools::{ExternalTools, GeneralTools, Setting};

/// A session that was loaded from the store.
#[derive(Debug)]
pub struct Resumed {
    /// The session.
    pub session: Session,
    /// Whether it was interrupted, so that [`Session::run`] continues; else the last message is answered.
    pub has_work: bool,
    /// How it ended, if it did and no message came since; `None` if its process ended before.
    pub ended: Option<Outcome>,
    /// Calls that may have run, in their order. [`Observer::uncertain_call`](crate::Observer::uncertain_call) is asked about each when
    /// the work continues.
    pub uncertain: Vec<UncertainCall>,
    /// The skills of the session that do not exist any more. Their texts are still there.
    pub gone: Vec<String>,
}

impl Session {
    /// Loads a session as it was: the same prefix and messages byte for byte, its active skills and their scopes, its approvals, what
    /// was spent. Fails while another process works on it: [`SessionError::Busy`].
    ///
    /// Nothing is done yet: [`Session::run`] continues if there is work left, [`Session::send`] with a new message.
    pub fn resume(
        agent: &Agent,
        setting: Setting,
        id: SessionId,
        hooks: RunHooks,
    ) -> Result<Resumed, SessionError> {
        let lease = lease(&agent.store, id)?;
        let parent = agent.store.session(id)?.parent;
        let state = SessionState::replay(&agent.store.events(&EventQuery::of(id))?);
        let external = Arc::new(ExternalTools::settle(agent.outside.as_ref()));
        let skills = agent.part.session(&agent.skills, agent.surface, &external, None);
        let skills = skills.map_err(SessionError::Skills)?;
        let mut skills = skills.named(&id.to_string());
        let gone = skills.restore(&state.restorable());
        let approvals = StoredApprovals::of_tree(&agent.store, id)?;
        for answer in &approvals.answers {
            skills.restore_answer(&answer.question, answer.answer);
        }
        let general = GeneralTools::new(setting)?;
        let has_prefix = state.prefix.is_some();
        let prefix = match state.prefix.clone() {
            Some(prefix) => prefix,
            // Its process ended before anything was sent.
            None if state.history.turns() == 0 => {
                let prefix = PromptPrefix::new(&agent.instructions, &skills, &general, &external);
                Arc::new(agent.part.framed(prefix, &external))
            }
            None => return Err(SessionError::NoPrefix(id)),
        };
        let ended = state.outcome.filter(|_| state.is_over);
        // The answer of a sub-agent that the user started is an end without a text of the model.
        let is_done = state.is_over && (ended == Some(Outcome::Done) || !state.history.is_waiting());
        // The time since the last event does not count until work continues.
        let worked = state.run.clock.worked_until_latest();
        let RunHooks { observer, cancel, ask } = hooks;
        let log = SessionLog::resume(agent.store.clone(), id, parent, state, observer);
        let agent = agent.clone();
        let mut session =
            Self::new(Parts { agent, skills, general, external, log, prefix, lease, cancel, ask });
        *lock(&session.subagents.budget.providers) = approvals.providers;
        session.find_handoffs();
        session.subagents.budget.resume(session.limits(), session.spent(), worked);
        let uncertain = session.all_uncertain()?;
        if !has_prefix {
            session.write_prefix()?;
        }
        if !is_done {
            session.next = NextRun::Resume;
        }
        Ok(Resumed { session, has_work: !is_done, ended, uncertain, gone })
    }

    /// Writes that the work continues. Not before it does: a session that was only looked at was not resumed.
    pub(super) fn resume_run(&mut self) -> Result<(), SessionError> {
        let unoffered = self.state(|state| {
            let is_offered = state.run.is_offered || state.is_over;
            state.history.words.clone().filter(|_| !is_offered)
        });
        self.write(EventKind::Resumed { by: By::User, metier: env!("CARGO_PKG_VERSION").to_owned() })?;
        unoffered.map_or(Ok(()), |text| self.offer(&text))
    }
}

/// The right to work on a session.
pub(super) fn lease(store: &Store, id: SessionId) -> Result<Lease, SessionError> {
    store.lease(id).map_err(|error| match error {
        StoreError::AtWork(id) => SessionError::Busy(id),
        other => other.into(),
    })
}

/// What the user approved for a whole session before its process ended.
#[derive(Default)]
struct StoredApprovals {
    answers: Vec<GivenAnswer>,
    /// Whether other providers may see the conversation.
    providers: HashMap<String, bool>,
}

impl StoredApprovals {
    /// The approvals of a session, its parents and its sub-agents: one for the session holds for all of them. An imported session could
    /// claim that everything was approved, so it counts for nothing.
    fn of_tree(store: &Store, id: SessionId) -> Result<Self, SessionError> {
        let mut top = id;
        let mut seen = HashSet::from([id]);
        while let Some(parent) = store.session(top).ok().and_then(|summary| summary.parent) {
            if !seen.insert(parent) {
                break;
            }
            top = parent;
        }
        let (mut approvals, mut open, mut seen) = (Self::default(), vec![top], HashSet::from([top]));
        while let Some(id) = open.pop() {
            // A parent may have been forgotten.
            let Ok(is_imported) = store.is_imported(id) else { continue };
            if !is_imported {
                let query = EventQuery::of(id).kind("allowed").kind("approval_answered").kind("agreed");
                let state = SessionState::replay(&store.events(&query)?);
                approvals.answers.extend(state.allowed);
                approvals.providers.extend(state.agreed);
            }
            let filter = SessionFilter { family: Family::ChildOf(id), ..SessionFilter::default() };
            let children = store.sessions(&filter)?.into_iter().map(|summary| summary.id);
            open.extend(children.filter(|child| seen.insert(*child)));
        }
        Ok(approvals)
    }
}
