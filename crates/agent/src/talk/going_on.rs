//! Children that were at work when the process of their parent ended: each goes on from its own last finished step, as its parent
//! does. Only a step of theirs that may have happened takes a yes, not everything that they had done before it.

use std::sync::Arc;

use metier_model::{Message, ToolCall};
use metier_runtime::{ForkAgain, ToolResult};
use metier_store::{By, Ended, EventKind, EventQuery, NoteTopic, Outcome, SessionId};
use serde_json::Value;

use super::beginning::{Begun as Sent, Wanting};
use super::children::Kin;
use super::resuming::{Begun, doubt};
use super::{Answer, Talk, TalkError};
use crate::bridge::lock;
use crate::child::{ChildAnswer, Colleague, Kit, LastWord, Lead, Over, Slot, Start, Worker, result};
use crate::outside::Outside;
use crate::session_log::SessionLog;
use crate::state::{Invoked, SessionState, StartedSubagent};
use crate::watch::Piece;

/// How a child stands that was begun.
pub(super) enum Standing {
    /// It came to its end.
    Over(Ended),
    /// It was at work, or waits for a word about a step of its own.
    AtWork(Box<SessionState>),
    /// There is nothing of it that could be gone on from.
    Lost,
}

impl Talk {
    /// How a child stands, by what it wrote itself: its parent's process may have ended before it took note.
    pub(super) fn child_standing(&self, child: &StartedSubagent) -> Result<Standing, TalkError> {
        let events = self.agent.store.events(&EventQuery::of(child.id))?;
        let state = SessionState::replay(&events);
        let ended = events.into_iter().rev().find_map(|event| match event.kind {
            EventKind::Ended(ended) => Some(ended),
            _ => None,
        });
        let waits = state.outcome == Some(Outcome::NeedsYes) && !state.history.unfinished_calls().is_empty();
        Ok(match ended {
            Some(ended) if state.is_over && !waits => Standing::Over(ended),
            // Somebody of a crew has no skill of their own that would be activated.
            _ if state.frame.is_none()
                || (matches!(child.worker, Worker::Skill(_)) && state.activated().is_empty()) =>
            {
                Standing::Lost
            }
            _ => Standing::AtWork(Box::new(state)),
        })
    }

    /// Whether a child was at work and can go on.
    pub(super) fn goes_on(&self, child: &StartedSubagent) -> Result<bool, TalkError> {
        let Standing::AtWork(state) = self.child_standing(child)? else { return Ok(false) };
        Ok(match &child.worker {
            Worker::Skill(name) => self.fork_again(name, &state).is_some(),
            Worker::Role(name) => self.colleague(name).is_some(),
        })
    }

    /// A skill's session as it was, and what it reaches outside; a skill of somebody else's in the crew has what is theirs.
    fn fork_again(&self, skill: &str, state: &SessionState) -> Option<(ForkAgain, Arc<Outside>)> {
        if let Some(owner) = self.owner_of(skill) {
            let (session, outside) = self.room_of(owner).ok()?;
            return Some((session.fork_again(state.activated())?, outside));
        }
        Some((lock(&self.session).fork_again(state.activated())?, Arc::clone(&self.outside)))
    }

    fn colleague(&self, name: &str) -> Option<&Colleague> {
        self.agent.colleagues.iter().find(|colleague| colleague.name == name)
    }

    /// Lets a child go on that was at work.
    pub(super) fn take_up_child(
        &mut self,
        child: &StartedSubagent,
        wanting: &Wanting,
    ) -> Result<Sent, TalkError> {
        let refused = |why: String| Ok(Sent::Answered(ToolResult::refused(why)));
        let Standing::AtWork(state) = self.child_standing(child)? else {
            return refused("the child is gone".to_owned());
        };
        let mut remarks = Vec::new();
        let kit = match &child.worker {
            Worker::Skill(name) => self.kit_again(child, name, &state, &mut remarks)?,
            Worker::Role(name) => match self.colleague(name) {
                Some(colleague) => self.kit_of(colleague, child.id, &mut remarks),
                None => Err("nobody of that name is in this crew".to_owned()),
            },
        };
        for remark in remarks {
            self.write(remark)?;
        }
        let kit = match kit {
            Ok(kit) => kit,
            Err(why) => return refused(format!("the {} cannot go on: {why}", child.worker)),
        };
        Ok(match self.send(kit, Start::Again(state), wanting.call.clone()) {
            Ok(number) => Sent::Awaited(number),
            Err(why) => Sent::Answered(ToolResult::refused(why)),
        })
    }

    /// What the child of a skill works with when it goes on.
    fn kit_again(
        &self,
        child: &StartedSubagent,
        skill: &str,
        state: &SessionState,
        remarks: &mut Vec<EventKind>,
    ) -> Result<Result<Kit, String>, TalkError> {
        let Some((ForkAgain { scope, mut session, .. }, outside)) = self.fork_again(skill, state) else {
            return Ok(Err("it is not there any more".to_owned()));
        };
        let named = self.agent.store.session(child.id)?.agent;
        let runner = self.runner(named.as_deref(), &scope.skill, remarks);
        if let Some(rules) = &runner.scope {
            session = session.held_by(rules.clone());
        }
        let agent = self.childs_agent(&scope, &runner, remarks);
        let company = match self.company_of_child() {
            Ok(company) => company,
            Err(why) => return Ok(Err(why)),
        };
        Ok(Ok(Kit {
            id: child.id,
            mode: child.mode,
            worker: child.worker.clone(),
            line: self.kin.line.iter().cloned().chain([scope.skill]).collect(),
            depth: self.kin.depth + 1,
            agent,
            session,
            general: self.general.of_child(),
            outside,
            company,
            family: Arc::clone(&self.kin.family),
        }))
    }

    /// The conversation of a child that goes on.
    pub(crate) fn of_child_again(
        kit: Kit,
        slot: Slot,
        parent: SessionId,
        state: SessionState,
    ) -> Result<Self, TalkError> {
        let Kit { id, mode, worker, line, depth, agent, session, general, outside, company, family } = kit;
        let Some(frame) = state.frame.clone() else { return Err(TalkError::NoFrame(id)) };
        let lease = super::resuming::lease(&agent.store, id)?;
        let last_result = last_result(state.history.messages());
        // What it had used up is nobody's yet: its parent counts it when it has ended.
        let spent = state.run.spent;
        family.charge(spent.usage, spent.cost_micros);
        (0..spent.calls).for_each(|_| family.call());
        let watch = Arc::clone(&company.watch);
        let log = SessionLog::resume(agent.store.clone(), id, Some(parent), state, watch);
        let mut talk = Self::new(&agent, session, (general, outside), log, frame, company);
        talk.lease = Some(lease);
        talk.kin = Kin {
            family,
            line,
            depth,
            worker: Some(worker),
            mode: Some(mode),
            slot: Some(slot),
            last_result,
            ..Kin::alone(agent.limits)
        };
        talk.find_routes();
        talk.write(EventKind::Resumed { by: By::Parent, metier: env!("CARGO_PKG_VERSION").to_owned() })?;
        Ok(talk)
    }

    /// Whether a child has said its last word: none of its calls waits for somebody's yes.
    pub(crate) fn said_all(&self) -> LastWord {
        let unfinished = self.state(|state| state.history.unfinished().next().is_some());
        if unfinished { LastWord::Owed } else { LastWord::Said }
    }

    /// Takes the end of a child whose parent's process ended before it took note.
    pub(super) fn over(&mut self, child: &StartedSubagent, ended: Ended) -> Result<ChildAnswer, TalkError> {
        let answer = answer(child, ended);
        if child.outcome.is_none() {
            let ChildAnswer { outcome, usage, cost_micros, calls, .. } = answer;
            let (child, missing) = (child.id, Vec::new());
            self.write(EventKind::ChildEnded { child, outcome, usage, cost_micros, calls, missing })?;
        }
        Ok(answer)
    }

    /// Goes on with a child that is the answer to what the user said: a skill that they started themselves.
    pub(super) fn go_on_with(&mut self, invoked: &Invoked) -> Result<Answer, TalkError> {
        let child = &invoked.child;
        let answer = match self.child_standing(child)? {
            // What was to be done is in the user's words.
            Standing::Lost => return self.work_on(),
            Standing::Over(ended) => self.over(child, ended)?,
            Standing::AtWork(_) => {
                let sent = self.take_up_child(child, &Wanting { by: By::User, call: None })?;
                let number = match sent {
                    Sent::Awaited(number) => number,
                    Sent::Answered(result) => {
                        return self.end(Outcome::Failed, String::new(), Some(result.text));
                    }
                };
                let Some(Over { answer, word, .. }) = self.await_child(number)? else {
                    return self.end(Outcome::Failed, String::new(), Some("the child is gone".to_owned()));
                };
                if word == LastWord::Owed {
                    return self.end(Outcome::NeedsYes, String::new(), answer.why);
                }
                answer
            }
        };
        if !invoked.is_told {
            self.write(EventKind::Noted { text: result(&answer), about: NoteTopic::Subagent })?;
        }
        self.log.watch().piece(Piece::Text(&answer.text));
        self.end(answer.outcome, answer.text, answer.why)
    }

    /// What was begun and may have happened, of these calls: their own steps, or those of the children that they had begun.
    pub(super) fn doubtful(&self, state: &SessionState, depth: u32) -> Result<Vec<Begun>, TalkError> {
        let mut doubts = Vec::new();
        for call in &state.history.unfinished_calls() {
            let Some(started) = state.calls.started.get(&*call.id) else { continue };
            if started.activated.is_some() {
                continue;
            }
            match &started.subagent {
                Some(child) => match self.child_standing(child)? {
                    Standing::Over(_) => {}
                    Standing::AtWork(theirs) => doubts.extend(self.doubts_of(child.id, &theirs, depth)?),
                    Standing::Lost => doubts.extend(doubt(call, started)),
                },
                None if self.only_read(call) => {}
                None => doubts.extend(doubt(call, started)),
            }
        }
        Ok(doubts)
    }

    /// Whether a call that has begun no child and put nothing into the conversation has done nothing: it would have activated a skill
    /// whose text runs no command.
    pub(super) fn only_read(&self, call: &ToolCall) -> bool {
        let Some(fields) = call.arguments.fields() else { return false };
        let session = lock(&self.session);
        let route = self.kin.routes.iter().find(|route| *route.tool == *call.name);
        let wanted = match route.map(|route| &route.lead) {
            Some(Lead::Skill(skill)) => session.handoff_wanted(skill, &self.user_text()),
            // Whoever hands work over does nothing else, and nobody has begun with it.
            Some(Lead::Colleague(_)) => return true,
            None => session.activation_wanted(&call.name, &Value::Object(fields.clone())),
        };
        wanted.is_some_and(|wanted| session.only_reads(&wanted))
    }

    /// The same of a child.
    pub(super) fn doubts_of(
        &self,
        child: SessionId,
        state: &SessionState,
        depth: u32,
    ) -> Result<Vec<Begun>, TalkError> {
        // A stranger's file could say that two sessions are each other's children.
        let Some(depth) = depth.checked_sub(1) else { return Ok(Vec::new()) };
        let mut doubts = self.doubtful(state, depth)?;
        for doubt in &mut doubts {
            doubt.child = doubt.child.or(Some(child));
        }
        Ok(doubts)
    }
}

/// What a child ended with, as its parent knows it.
fn answer(child: &StartedSubagent, ended: Ended) -> ChildAnswer {
    let Ended { outcome, text, why, usage, cost_micros, turns, calls } = ended;
    ChildAnswer {
        session: child.id,
        worker: child.worker.clone(),
        mode: child.mode,
        outcome,
        text,
        why,
        usage,
        cost_micros,
        turns,
        calls,
        needs: Vec::new(),
    }
}

/// What the last call of a conversation gave.
fn last_result(messages: &[Arc<Message>]) -> String {
    let last = messages.iter().rev().find_map(|message| match &**message {
        Message::Results(outcomes) => outcomes.last(),
        _ => None,
    });
    last.map(|outcome| outcome.text.to_string()).unwrap_or_default()
}
