//! Calls that were started when a process ended. One that only reads runs again; any other may have run, and does not run again
//! without an approval.

use metier_catalog::one_line;
use metier_model::ToolCall;
use metier_runtime::ToolResult;
use metier_store::{Effect, EventKind, Finished, RetryDecision, SessionId};
use serde_json::Value;

use super::resume_subagent::SubagentStatus;
use super::subagents::subagent_result;
use super::{MAX_SHOWN_CALL, Session, SessionError};
use crate::lock;
use crate::repeat_guard::call_mark;
use crate::state::{SessionState, StartedCall};
use crate::subagent::HandoffTarget;
use metier_tools::Reply;

/// What a model gets for a call that may have run and does not run again.
const NOT_REPEATED: &str = "This call was interrupted before its result was known: it may have run, in whole or in part. It does \
                            not run again without the user's approval. Check what is there before you continue.";

/// What a model gets for a call whose approval did not come before the user's next message.
const NOT_APPROVED: &str = "This call was not made: it needed an approval, and the user has sent another message since without giving it.";

/// What a model gets for a call that never started.
const NOT_STARTED: &str =
    "This call was not made: the process ended before it, and the user has sent another message since.";

/// A call that was started when its process ended, and may have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncertainCall {
    /// The call's id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// For which skill.
    pub skill: Option<String>,
    /// What it would do.
    pub action: String,
    /// What it can do.
    pub effect: Effect,
    /// The sub-agent that it had started.
    pub child: Option<SessionId>,
}

impl Session {
    /// Settles calls that a process before this one had started. Returns those that are to run.
    pub(super) fn settle_started(&mut self, calls: Vec<ToolCall>) -> Result<Vec<ToolCall>, SessionError> {
        let mut run = Vec::new();
        for call in calls {
            let Some(started) = self.started_call(&call.id) else {
                run.push(call);
                continue;
            };
            if let Some(result) = self.known_result(&call, &started)? {
                self.write(finished(&call, result))?;
                continue;
            }
            let may_run = started.has_not_run()
                || match &started.subagent {
                    // A sub-agent that is resumed asks about its own steps.
                    Some(subagent) => self.is_resumable(subagent)?,
                    None => self.only_reads(&call),
                };
            let uncertain = if may_run { None } else { uncertain(&call, &started) };
            match uncertain.map(|uncertain| self.ask_about(&uncertain)).transpose()? {
                None | Some(RetryDecision::Retry) => run.push(call),
                Some(RetryDecision::Skip) => {
                    self.write(finished(&call, ToolResult::refused(NOT_REPEATED.to_owned())))?;
                }
                Some(RetryDecision::Unanswered) => {}
            }
        }
        // Nothing runs while one of them waits for a person: what comes after it may depend on it.
        let is_waiting = self.state(|state| !state.calls.waiting().is_empty());
        Ok(if is_waiting { Vec::new() } else { run })
    }

    /// Gives every call without a result one, since the user has sent another message: providers refuse a conversation that has a
    /// call without a result.
    pub(super) fn leave_unfinished(&mut self) -> Result<(), SessionError> {
        for call in self.state(|state| state.history.unfinished_calls()) {
            let started = self.started_call(&call.id);
            let uncertain = started.as_ref().and_then(|started| uncertain(&call, started));
            let text = match uncertain {
                _ if started.as_ref().is_some_and(StartedCall::has_not_run) => NOT_APPROVED,
                Some(uncertain) => {
                    self.write_doubted(&uncertain, RetryDecision::Skip)?;
                    NOT_REPEATED
                }
                None => NOT_STARTED,
            };
            self.write(finished(&call, ToolResult::refused(text.to_owned())))?;
        }
        self.resume_background()
    }

    /// A call that was started and has no result.
    fn started_call(&self, id: &str) -> Option<StartedCall> {
        self.state(|state| state.calls.started.get(id).cloned())
    }

    /// Why a call does not run that may have run before and was left then.
    pub(super) fn still_uncertain(
        &mut self,
        call: &ToolCall,
        effect: Effect,
    ) -> Result<Option<String>, SessionError> {
        let mark = call_mark(&call.name, call.arguments.raw());
        if effect == Effect::ReadOnly || !self.state(|state| state.calls.doubted.contains(&mark)) {
            return Ok(None);
        }
        Ok(match self.ask_about(&uncertain_call(call, effect, None, None))? {
            RetryDecision::Retry => None,
            RetryDecision::Skip | RetryDecision::Unanswered => Some(NOT_REPEATED.to_owned()),
        })
    }

    /// Asks whether a call may run again, and writes the answer.
    fn ask_about(&mut self, uncertain: &UncertainCall) -> Result<RetryDecision, SessionError> {
        let said = {
            let _one = lock(&self.subagents.budget.question);
            match self.log.observer().uncertain_call(uncertain) {
                RetryDecision::Unanswered => self.ask_in_words(uncertain),
                decided => decided,
            }
        };
        self.write_doubted(uncertain, said)?;
        Ok(said)
    }

    fn ask_in_words(&self, uncertain: &UncertainCall) -> RetryDecision {
        let Some(ask) = &self.ask else { return RetryDecision::Unanswered };
        let question =
            format!("`{}` was interrupted and may already have run. Run it again?", uncertain.action);
        let options = ["run it again", "skip it"].map(str::to_owned);
        match ask.ask(&question, &options) {
            Reply::Said(said) if said.trim() == options[0] => RetryDecision::Retry,
            Reply::Said(_) | Reply::Declined => RetryDecision::Skip,
            Reply::Unanswered => RetryDecision::Unanswered,
        }
    }

    fn write_doubted(&mut self, uncertain: &UncertainCall, said: RetryDecision) -> Result<(), SessionError> {
        let UncertainCall { call, tool, action, .. } = uncertain.clone();
        self.write(EventKind::Doubted { call, tool, action, said })
    }

    /// The result of a call whose effect is stored, though its end is not.
    fn known_result(
        &mut self,
        call: &ToolCall,
        started: &StartedCall,
    ) -> Result<Option<ToolResult>, SessionError> {
        if let Some(skill) = &started.activated {
            let text = format!("Skill '{skill}' activated successfully. Instructions will follow.");
            return Ok(Some(ToolResult::done(text)));
        }
        let Some(subagent) = &started.subagent else { return Ok(None) };
        let SubagentStatus::Ended(ended) = SubagentStatus::read(&self.agent.store, subagent)? else {
            return Ok(None);
        };
        let answer = self.write_subagent_ended(subagent, ended)?;
        Ok(Some(subagent_result(&answer, &call.name)))
    }

    /// Every call that may have run, those of sub-agents included.
    pub(super) fn all_uncertain(&self) -> Result<Vec<UncertainCall>, SessionError> {
        let depth = self.agent.limits.depth;
        let state = self.state(SessionState::clone);
        let mut calls = self.uncertain_calls(&state, depth)?;
        let invoked = state.subagents.invoked.iter().map(|invoked| &invoked.child);
        for subagent in invoked.chain(&state.subagents.background) {
            if let SubagentStatus::AtWork(theirs) = SubagentStatus::read(&self.agent.store, subagent)? {
                calls.extend(self.uncertain_calls_of(subagent.id, &theirs, depth)?);
            }
        }
        Ok(calls)
    }

    fn uncertain_calls(&self, state: &SessionState, depth: u32) -> Result<Vec<UncertainCall>, SessionError> {
        let mut calls = Vec::new();
        for call in &state.history.unfinished_calls() {
            let Some(started) = state.calls.started.get(&*call.id) else { continue };
            // One that waits for an approval has not run.
            if started.activated.is_some() || started.has_not_run() {
                continue;
            }
            match &started.subagent {
                Some(subagent) => match SubagentStatus::read(&self.agent.store, subagent)? {
                    SubagentStatus::Ended(_) => {}
                    SubagentStatus::AtWork(theirs) => {
                        calls.extend(self.uncertain_calls_of(subagent.id, &theirs, depth)?);
                    }
                    SubagentStatus::Lost => calls.extend(uncertain(call, started)),
                },
                None if self.only_reads(call) => {}
                None => calls.extend(uncertain(call, started)),
            }
        }
        Ok(calls)
    }

    fn uncertain_calls_of(
        &self,
        subagent: SessionId,
        state: &SessionState,
        depth: u32,
    ) -> Result<Vec<UncertainCall>, SessionError> {
        // An imported file could say that two sessions are each other's sub-agents.
        let Some(depth) = depth.checked_sub(1) else { return Ok(Vec::new()) };
        let mut calls = self.uncertain_calls(state, depth)?;
        for call in &mut calls {
            call.child = call.child.or(Some(subagent));
        }
        Ok(calls)
    }

    /// Whether a call that has started no sub-agent and put nothing into the conversation has done nothing: it would have activated a
    /// skill whose text runs no command.
    fn only_reads(&self, call: &ToolCall) -> bool {
        let Some(fields) = call.arguments.fields() else { return false };
        let skills = &self.skills;
        let wanted = match self.handoff(&call.name).map(|handoff| &handoff.target) {
            Some(HandoffTarget::Skill(skill)) => skills.handoff_request(skill, &self.user_text()),
            // A handoff does nothing itself, and no sub-agent has started.
            Some(HandoffTarget::CrewMember(_)) => return true,
            None => skills.activation_request(&call.name, &Value::Object(fields.clone())),
        };
        wanted.is_some_and(|wanted| skills.only_reads(&wanted))
    }
}

/// The result of a call that this process does not run.
fn finished(call: &ToolCall, result: ToolResult) -> EventKind {
    let is_error = result.is_error();
    EventKind::Finished(Finished {
        id: call.id.to_string(),
        is_error,
        text: result.text,
        ..Finished::default()
    })
}

/// What there is to ask about a call that was started: nothing if it only reads.
fn uncertain(call: &ToolCall, started: &StartedCall) -> Option<UncertainCall> {
    let effect = started.called.effect;
    let child = started.subagent.as_ref().map(|subagent| subagent.id);
    (effect != Effect::ReadOnly).then(|| uncertain_call(call, effect, started.called.skill.clone(), child))
}

fn uncertain_call(
    call: &ToolCall,
    effect: Effect,
    skill: Option<String>,
    child: Option<SessionId>,
) -> UncertainCall {
    let action = one_line(&format!("{} {}", call.name, call.arguments.raw()), MAX_SHOWN_CALL);
    UncertainCall { call: call.id.to_string(), tool: call.name.to_string(), skill, action, effect, child }
}
