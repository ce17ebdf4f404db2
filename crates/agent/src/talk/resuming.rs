//! Going on with a conversation whose process has ended, at whatever moment that was.
//!
//! The state is replayed from the events ([`SessionState`]). What cannot be known from them is what became of a call that was announced and
//! has no result. One that only looks is made again; any other may have happened, and is not made again without a yes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use metier_catalog::one_line;
use metier_model::{Stop, ToolCall};
use metier_runtime::{GivenAnswer, ToolResult};
use metier_store::{
    By, Doubt, Effect, EventKind, EventQuery, Family, Finished, Lease, Made, NoteTopic, Outcome,
    SessionFilter, SessionId, Store, StoreError,
};

use super::beginning::{Begun as Sent, Wanting};
use super::children::returned;
use super::going_on::Standing;
use super::{Company, End, SHOWN, Talk, TalkError};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::child::note;
use crate::frame::Frame;
use crate::outside::Outside;
use crate::repeat_guard::call_mark;
use crate::session_log::SessionLog;
use crate::state::{SessionState, StartedCall, StartedSubagent};
use crate::tools::{GeneralTools, Reply, Setting};
use crate::watch::Again;

/// What a model gets for a call that may have happened and is not made again.
const LEFT: &str = "This call was begun, and the process ended before its result was known: it may have happened, or a part of it. \
                    It is not made again without a yes of the user. Look at what is there before you go on.";

/// What a model gets for a call that was never begun.
const NOT_MADE: &str =
    "This call was not made: the process ended before it, and the user has said something else since.";

/// A conversation that goes on.
#[derive(Debug)]
pub struct Resumed {
    /// The conversation.
    pub talk: Talk,
    /// Whether there is anything to go on with.
    pub left: Left,
    /// How it ended, where it did and nobody has spoken since; `None` where its process ended before it did.
    pub ended: Option<Outcome>,
    /// What was begun and may have happened, in the order of the calls. [`Watch::begun`](crate::Watch::begun) is asked about each when
    /// the work goes on.
    pub begun: Vec<Begun>,
    /// The skills of the conversation that are not to be had any more. Their texts are there still.
    pub gone: Vec<String>,
}

/// Whether a conversation has something to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It has come to its end: say something.
    Nothing,
    /// It broke off in the middle: [`Talk::work`] goes on.
    Work,
}

/// A conversation that broke off in the middle and has not gone on yet.
#[derive(Debug)]
pub(super) struct BrokenOff {
    /// The user's words, where no skill was looked for yet that fits them.
    unoffered: Option<Arc<str>>,
}

/// A call that was begun when its process ended, and may have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The call's id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// For which skill.
    pub skill: Option<String>,
    /// What it would do, in words.
    pub action: String,
    /// What it can do.
    pub effect: Effect,
    /// The child that it had begun.
    pub child: Option<SessionId>,
}

impl Talk {
    /// Goes on with a conversation that is in the store, as it was: the same frame and messages byte for byte, its active skills and
    /// their scopes, what was allowed in it, what was spent. Refused while somebody works on it: [`TalkError::Busy`].
    ///
    /// Nothing is done yet: [`Talk::work`] goes on where there is [`Left::Work`], [`Talk::say`] with what the user says now.
    pub fn resume(
        agent: &Agent,
        setting: Setting,
        id: SessionId,
        company: Company,
    ) -> Result<Resumed, TalkError> {
        let lease = lease(&agent.store, id)?;
        let parent = agent.store.session(id)?.parent;
        let state = SessionState::replay(&agent.store.events(&EventQuery::of(id))?);
        let outside = Arc::new(Outside::settle(agent.outside.as_ref()));
        let session = agent.part.session(&agent.skills, agent.surface, &outside, None);
        let session = session.map_err(TalkError::Skills)?;
        let mut session = session.named(&id.to_string());
        let gone = session.restore(&state.restorable());
        let given = Given::before(&agent.store, id)?;
        for answer in &given.answers {
            session.restore_answer(answer);
        }
        let general = GeneralTools::new(setting)?;
        let frame = match state.frame.clone() {
            Some(frame) => frame,
            // Its process ended before anything was sent.
            None if state.history.turns() == 0 => {
                let frame = Frame::new(&agent.instructions, &session, &general, &outside);
                Arc::new(agent.part.framed(frame, &outside))
            }
            None => return Err(TalkError::NoFrame(id)),
        };
        let has_frame = state.frame.is_some();
        let (is_over, is_offered) = (state.is_over, state.run.is_offered);
        let ended = state.outcome.filter(|_| is_over);
        // The answer of a child that the user started, or that work was handed over to, is an end without a word of the model.
        let is_waiting = state.history.is_waiting();
        // Until it goes on, the time since the last event does not count.
        let worked = state.run.clock.worked_until_latest();
        let log = SessionLog::resume(agent.store.clone(), id, parent, state, Arc::clone(&company.watch));
        let mut talk = Self::new(agent, session, (general, outside), log, frame, company);
        talk.lease = Some(lease);
        *lock(&talk.kin.family.providers) = given.providers;
        talk.find_kin();
        talk.kin.family.resume(talk.limits(), talk.spent(), worked);
        let begun = talk.all_doubtful()?;
        let is_through = is_over && (ended == Some(Outcome::Done) || !is_waiting);
        let left = if is_through { Left::Nothing } else { Left::Work };
        if !has_frame {
            talk.write_frame()?;
        }
        if left == Left::Work {
            let words = talk.state(|state| state.history.words.clone());
            talk.broken_off = Some(BrokenOff { unoffered: words.filter(|_| !is_offered && !is_over) });
        }
        Ok(Resumed { talk, left, ended, begun, gone })
    }

    /// Writes down that the work goes on, where it had broken off. Not before it does: whoever only looks, or says something else, has
    /// not gone on with it.
    pub(super) fn go_on_from_break(&mut self) -> Result<(), TalkError> {
        let Some(BrokenOff { unoffered }) = self.broken_off.take() else { return Ok(()) };
        let metier = env!("CARGO_PKG_VERSION").to_owned();
        self.write(EventKind::Resumed { by: By::User, metier })?;
        unoffered.map_or(Ok(()), |words| self.offer(&words))
    }

    /// Everything that was begun and may have happened, children's steps included.
    fn all_doubtful(&self) -> Result<Vec<Begun>, TalkError> {
        let depth = self.agent.limits.depth;
        let state = self.state(SessionState::clone);
        let mut doubts = self.doubtful(&state, depth)?;
        let invoked = state.subagents.invoked.iter().map(|invoked| &invoked.child);
        for child in invoked.chain(&state.subagents.background) {
            if let Standing::AtWork(theirs) = self.child_standing(child)? {
                doubts.extend(self.doubts_of(child.id, &theirs, depth)?);
            }
        }
        Ok(doubts)
    }

    /// Settles what was begun when the last process ended, before the model is asked again. Says how the run ends where it cannot
    /// go on.
    pub(super) fn settle_begun(&mut self) -> Result<Option<End>, TalkError> {
        let calls = self.state(|state| state.history.unfinished_calls());
        if calls.is_empty() && !self.orphans().is_empty() {
            self.close_orphans()?;
            return Ok(None);
        }
        if calls.is_empty() {
            // The last word was said, and only the end is missing.
            let last = self.state(|state| state.run.last.clone().filter(|_| !state.history.is_waiting()));
            return Ok(last.map(|last| self.last_word(last.stop.as_deref().map(stop), last.text)));
        }
        let handed_back = self.handed_back(&calls);
        let mut again = Vec::new();
        let mut nobody = Vec::new();
        for call in calls {
            let Some(started) = self.started_call(&call.id) else {
                again.push(call);
                continue;
            };
            if let Some(result) = self.known_result(&call, &started)? {
                self.result(&call, result)?;
                continue;
            }
            if let Some(child) = &started.subagent {
                // A child that goes on asks about its own steps.
                if self.goes_on(child)? {
                    again.push(call);
                    continue;
                }
            } else if self.only_read(&call) {
                again.push(call);
                continue;
            }
            let Some(begun) = doubt(&call, &started) else {
                again.push(call);
                continue;
            };
            match self.asked_about(&begun)? {
                Doubt::Again => again.push(call),
                Doubt::Leave => self.result(&call, ToolResult::refused(LEFT.to_owned()))?,
                Doubt::Unanswered => nobody.push(begun),
            }
        }
        self.close_orphans()?;
        if !nobody.is_empty() {
            let actions: Vec<String> = nobody.into_iter().map(|begun| begun.action).collect();
            return Ok(Some((Outcome::NeedsYes, String::new(), Some(in_doubt(&actions)))));
        }
        let reached = self.call_all(again)?;
        let owed = std::mem::take(&mut self.kin.owed);
        if !owed.is_empty() {
            return Ok(Some((Outcome::NeedsYes, String::new(), Some(in_doubt(&owed)))));
        }
        if let Some(words) = handed_back {
            return Ok(Some((Outcome::Done, self.last_words(words), None)));
        }
        if let Some(reached) = reached
            && !self.may_go_on(&reached)?
        {
            return Ok(Some((Outcome::Partial, String::new(), Some(reached.to_string()))));
        }
        Ok(None)
    }

    /// Gives every call without a result one, since the user has said something else: a conversation with a call and no result is
    /// one that providers refuse.
    pub(super) fn leave_begun(&mut self) -> Result<(), TalkError> {
        for call in self.state(|state| state.history.unfinished_calls()) {
            let started = self.started_call(&call.id);
            let text = match started.as_ref().and_then(|started| doubt(&call, started)) {
                Some(begun) => {
                    self.write_doubt(&begun, Doubt::Leave)?;
                    LEFT
                }
                None => NOT_MADE,
            };
            self.result(&call, ToolResult::refused(text.to_owned()))?;
        }
        self.close_orphans()
    }

    /// A call that was started and has no result.
    fn started_call(&self, id: &str) -> Option<StartedCall> {
        self.state(|state| state.calls.started.get(id).cloned())
    }

    /// The children in the background that were at work when the last process ended.
    fn orphans(&self) -> Vec<StartedSubagent> {
        let mut children = self.state(|state| state.subagents.background.clone());
        children.retain(|child| !self.kin.nursery.has(child.id));
        children
    }

    /// Whether the very call that may have happened before, and was left then, may be made now. Says why not.
    pub(super) fn still_doubted(
        &mut self,
        call: &ToolCall,
        effect: Effect,
    ) -> Result<Option<String>, TalkError> {
        let mark = call_mark(&call.name, call.arguments.raw());
        if effect == Effect::ReadOnly || !self.state(|state| state.calls.doubted.contains(&mark)) {
            return Ok(None);
        }
        let begun = begun(call, effect, None, None);
        match self.asked_about(&begun)? {
            Doubt::Again => return Ok(None),
            Doubt::Leave | Doubt::Unanswered => {}
        }
        Ok(Some(LEFT.to_owned()))
    }

    /// Children in the background go on there; what those brought that were over is told, and of those that cannot go on, that they
    /// broke off.
    pub(super) fn close_orphans(&mut self) -> Result<(), TalkError> {
        for child in self.orphans() {
            let text = match self.child_standing(&child)? {
                Standing::AtWork(_) if self.goes_on(&child)? => {
                    match self.take_up_child(&child, &Wanting { by: By::Agent, call: None })? {
                        Sent::Awaited(_) => continue,
                        Sent::Answered(result) => self.broke_off(&child, &result.text)?,
                    }
                }
                Standing::Over(ended) => note(&self.over(&child, ended)?),
                Standing::AtWork(_) | Standing::Lost => self.broke_off(&child, "its skill is gone")?,
            };
            self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
        }
        Ok(())
    }

    fn broke_off(&mut self, child: &StartedSubagent, why: &str) -> Result<String, TalkError> {
        let summary = self.agent.store.session(child.id).ok();
        let (usage, cost_micros) =
            summary.as_ref().map(|summary| (summary.usage, summary.cost_micros)).unwrap_or_default();
        let (child_id, outcome, missing) = (child.id, Outcome::Cancelled, Vec::new());
        let ended = EventKind::ChildEnded { child: child_id, outcome, usage, cost_micros, calls: 0, missing };
        self.write(ended)?;
        if summary.is_none() {
            return Ok(format!("The skill '{}' that worked in the background is gone.", child.worker.name()));
        }
        Ok(format!(
            "The skill '{}' that worked in the background as {} broke off when the process ended and cannot go on: {why}. What it \
             did until then may have happened.",
            child.worker.name(),
            child.id.short()
        ))
    }

    /// Asks whoever is there whether to make a call again, and writes down what was said.
    fn asked_about(&mut self, begun: &Begun) -> Result<Doubt, TalkError> {
        let said = {
            let _one = lock(&self.kin.family.word);
            match self.log.watch().begun(begun) {
                Again::Yes => Doubt::Again,
                Again::No => Doubt::Leave,
                Again::Nobody => self.asked_in_words(begun),
            }
        };
        self.write_doubt(begun, said)?;
        Ok(said)
    }

    fn asked_in_words(&self, begun: &Begun) -> Doubt {
        let Some(ask) = &self.ask else { return Doubt::Unanswered };
        let question = format!(
            "`{}` was begun when the process ended and may have happened. Do it again?",
            begun.action
        );
        let options = ["do it again", "leave it"].map(str::to_owned);
        match ask.ask(&question, &options) {
            Reply::Said(said) if said.trim() == options[0] => Doubt::Again,
            Reply::Said(_) | Reply::Declined => Doubt::Leave,
            Reply::Nobody => Doubt::Unanswered,
        }
    }

    fn write_doubt(&mut self, begun: &Begun, said: Doubt) -> Result<(), TalkError> {
        let Begun { call, tool, action, .. } = begun.clone();
        self.write(EventKind::Doubted { call, tool, action, said })
    }

    /// The result of a call whose effect is written down, though its end is not.
    fn known_result(
        &mut self,
        call: &ToolCall,
        started: &StartedCall,
    ) -> Result<Option<ToolResult>, TalkError> {
        if let Some(skill) = &started.activated {
            let text = format!("Skill '{skill}' activated successfully. Instructions will follow.");
            return Ok(Some(ToolResult::done(text)));
        }
        let Some(child) = &started.subagent else { return Ok(None) };
        let Standing::Over(ended) = self.child_standing(child)? else { return Ok(None) };
        let answer = self.over(child, ended)?;
        Ok(Some(returned(&answer, &call.name)))
    }

    /// Writes the result of a call that is not carried out by this process.
    fn result(&mut self, call: &ToolCall, result: ToolResult) -> Result<(), TalkError> {
        self.write(EventKind::Finished(Finished {
            id: call.id.to_string(),
            is_error: result.is_error(),
            text: result.text,
            ..Finished::default()
        }))
    }
}

/// The right to work on a session.
pub(super) fn lease(store: &Store, id: SessionId) -> Result<Lease, TalkError> {
    store.lease(id).map_err(|error| match error {
        StoreError::AtWork { id } => TalkError::Busy(id),
        other => other.into(),
    })
}

/// What the user has said for the whole of a session, before its process ended.
#[derive(Default)]
struct Given {
    /// To questions of the gate.
    answers: Vec<GivenAnswer>,
    /// About other providers: whether they may see what is said.
    providers: HashMap<String, bool>,
}

impl Given {
    /// What was said in this session and in all that hang together with it: a yes for the session is for the whole of it, whoever
    /// asked. A stranger's file could say that everything was allowed, so what came from elsewhere says nothing.
    fn before(store: &Store, id: SessionId) -> Result<Self, TalkError> {
        let mut top = id;
        let mut seen = HashSet::from([id]);
        while let Some(parent) = store.session(top).ok().and_then(|summary| summary.parent) {
            if !seen.insert(parent) {
                break;
            }
            top = parent;
        }
        let (mut given, mut open, mut seen) = (Self::default(), vec![top], HashSet::from([top]));
        while let Some(id) = open.pop() {
            // A parent may have been forgotten.
            let Ok(standing) = store.standing(id) else { continue };
            if standing.made == Made::Here {
                let query = EventQuery::of(id).kind("allowed").kind("agreed");
                let state = SessionState::replay(&store.events(&query)?);
                given.answers.extend(state.allowed);
                given.providers.extend(state.agreed);
            }
            let filter = SessionFilter { family: Family::ChildOf(id), ..SessionFilter::default() };
            let children = store.sessions(&filter)?.into_iter().map(|summary| summary.id);
            open.extend(children.filter(|child| seen.insert(*child)));
        }
        Ok(given)
    }
}

/// Why a run cannot go on that has begun what may have happened.
fn in_doubt(actions: &[String]) -> String {
    format!(
        "begun when the process ended, may have happened, and is not done again without a yes: {}",
        actions.join("; ")
    )
}

/// What there is to ask about a call that was begun: nothing where it only looks.
pub(super) fn doubt(call: &ToolCall, started: &StartedCall) -> Option<Begun> {
    let effect = started.called.effect;
    let child = started.subagent.as_ref().map(|child| child.id);
    (effect != Effect::ReadOnly).then(|| begun(call, effect, started.called.skill.clone(), child))
}

fn begun(call: &ToolCall, effect: Effect, skill: Option<String>, child: Option<SessionId>) -> Begun {
    let action = one_line(&format!("{} {}", call.name, call.arguments.raw()), SHOWN);
    Begun { call: call.id.to_string(), tool: call.name.to_string(), skill, action, effect, child }
}

/// Why the last answer ended, from the word that is stored.
fn stop(word: &str) -> Stop {
    match word {
        "end_of_turn" => Stop::EndOfTurn,
        "tool_calls" => Stop::ToolCalls,
        "length" => Stop::Length,
        other => match other.strip_prefix("refused: ") {
            Some(why) => Stop::Refused(why.to_owned()),
            None => Stop::Other(other.to_owned()),
        },
    }
}
