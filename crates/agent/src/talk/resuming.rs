//! Going on with a conversation whose process has ended, at whatever moment that was.
//!
//! Everything is a fold over the events ([`Course`]). What cannot be known from them is what became of a call that was announced and
//! has no result. One that only looks is made again; any other may have happened, and is not made again without a yes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use metier_catalog::one_line;
use metier_model::{Stop, ToolCall};
use metier_runtime::{GivenAnswer, ToolResult};
use metier_store::{
    By, Doubt, Effect, EventKind, EventQuery, Family, Finished, Lease, Made, NoteTopic, Outcome,
    SessionFilter, SessionId, Store, StoreError, Summary,
};

use super::beginning::{Begun as Sent, Wanting};
use super::children::returned;
use super::going_on::Standing;
use super::{Company, End, SHOWN, Talk, TalkError, Unanswered};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::child::note;
use crate::course::{BegunChild, BegunState, Course};
use crate::frame::Frame;
use crate::journal::Journal;
use crate::outside::Outside;
use crate::stubbornness::call_mark;
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
        let mut course = Course::of(&agent.store.events(&EventQuery::of(id))?);
        course.forget_cut_texts();
        let outside = Arc::new(Outside::settle(agent.outside.as_ref()));
        let session = agent.part.session(&agent.skills, agent.surface, &outside, None);
        let session = session.map_err(TalkError::Skills)?;
        let mut session = session.named(&id.to_string());
        let gone = session.restore(course.activated());
        let given = Given::before(&agent.store, id)?;
        for answer in &given.answers {
            session.restore_answer(answer);
        }
        let general = GeneralTools::new(setting)?;
        let framed = course.framed.take();
        let frame = match &framed {
            Some(framed) => Frame::from_stored(framed),
            // Its process ended before anything was sent.
            None if course.history.turns() == 0 => {
                let frame = Frame::new(&agent.instructions, &session, &general, &outside);
                agent.part.framed(frame, &outside)
            }
            None => return Err(TalkError::NoFrame(id)),
        };
        let journal = Journal::go_on(agent.store.clone(), id, parent, course.seq, Arc::clone(&company.watch));
        let history = std::mem::take(&mut course.history);
        let mut talk = Self::new(agent, session, (general, outside), journal, frame, history, company);
        talk.lease = Some(lease);
        *lock(&talk.kin.family.providers) = given.providers;
        talk.find_kin();
        let (is_over, is_offered) = (course.is_over, course.is_offered);
        let ended = course.outcome.filter(|_| is_over);
        talk.take_course(course);
        talk.kin.family.resume(talk.limits, talk.spent);
        let begun = talk.all_doubtful()?;
        // The answer of a child that the user started, or that work was handed over to, is an end without a word of the model.
        let is_waiting = talk.history.as_ref().is_some_and(crate::History::is_waiting);
        let is_through = is_over && (ended == Some(Outcome::Done) || !is_waiting);
        let left = if is_through { Left::Nothing } else { Left::Work };
        if framed.is_none() {
            talk.write(EventKind::Framed(talk.frame.stored()))?;
        }
        if left == Left::Work {
            let words = talk.history.as_ref().and_then(|history| history.words.clone());
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

    /// Takes up where the last process ended, but for the messages.
    pub(super) fn take_course(&mut self, course: Course) {
        let Course { spent, extended, stubbornness, unanswered, used, begun, doubted, .. } = course;
        let all = self.agent.limits;
        self.limits = extended.iter().fold(self.limits, |limits, which| limits.more_of(*which, &all));
        (self.spent, self.stubbornness, self.unanswered) = (spent, stubbornness, unanswered);
        (self.used, self.begun, self.doubted) = (used, begun, doubted);
        (self.last, self.recalled) = (course.last, course.recalled);
        (self.apart, self.invoked) = (course.apart, course.invoked);
    }

    /// Everything that was begun and may have happened, children's steps included.
    fn all_doubtful(&self) -> Result<Vec<Begun>, TalkError> {
        let calls = self.history.as_ref().map(crate::History::unfinished_calls).unwrap_or_default();
        let depth = self.agent.limits.depth;
        let mut doubts = self.doubtful(&calls, &|id| self.begun.get(id), depth)?;
        for child in self.invoked.iter().map(|invoked| &invoked.child).chain(&self.apart) {
            if let Standing::AtWork(course) = self.child_standing(child)? {
                doubts.extend(self.doubts_of(child.id, &course, depth)?);
            }
        }
        Ok(doubts)
    }

    /// Settles what was begun when the last process ended, before the model is asked again. Says how the run ends where it cannot
    /// go on.
    pub(super) fn settle_begun(&mut self) -> Result<Option<End>, TalkError> {
        let Some(history) = &self.history else { return Ok(None) };
        let calls = history.unfinished_calls();
        if calls.is_empty() && !self.apart.is_empty() {
            self.last = None;
            self.close_apart()?;
            return Ok(None);
        }
        if calls.is_empty() {
            // The last word was said, and only the end is missing.
            let last = self.last.take().filter(|_| !history.is_waiting());
            return Ok(last.map(|last| self.last_word(last.stop.as_deref().map(stop), last.text)));
        }
        let handed_back = self.handed_back(&calls);
        let mut again = Vec::new();
        let mut nobody = Vec::new();
        for call in calls {
            let Some(state) = self.begun.get(&*call.id).cloned() else {
                again.push(call);
                continue;
            };
            if let Some(result) = self.known_result(&call, &state)? {
                self.result(&call, result)?;
                continue;
            }
            if let Some(child) = &state.child {
                // A child that goes on asks about its own steps.
                if self.goes_on(child)? {
                    again.push(call);
                    continue;
                }
                self.begun.entry(call.id.to_string()).and_modify(|state| state.child = None);
            } else if self.only_read(&call) {
                again.push(call);
                continue;
            }
            let Some(begun) = doubt(&call, &state) else {
                again.push(call);
                continue;
            };
            match self.asked_about(&begun)? {
                Doubt::Again => again.push(call),
                Doubt::Leave => self.result(&call, ToolResult::refused(LEFT.to_owned()))?,
                Doubt::Unanswered => nobody.push(begun),
            }
        }
        self.close_apart()?;
        if !nobody.is_empty() {
            return Ok(Some(self.needs_a_word(&nobody)));
        }
        let reached = self.call_all(again)?;
        let owed = std::mem::take(&mut self.kin.owed);
        if !owed.is_empty() {
            return Ok(Some((Outcome::NeedsYes, String::new(), Some(in_doubt(&owed)))));
        }
        self.begun.clear();
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
        let calls = self.history.as_ref().map(crate::History::unfinished_calls).unwrap_or_default();
        for call in calls {
            let state = self.begun.get(&*call.id).cloned();
            let text = match state.as_ref().and_then(|state| doubt(&call, state)) {
                Some(begun) => {
                    self.write_doubt(&begun, Doubt::Leave)?;
                    LEFT
                }
                None => NOT_MADE,
            };
            self.result(&call, ToolResult::refused(text.to_owned()))?;
        }
        self.last = None;
        self.invoked = None;
        self.close_apart()
    }

    /// Whether the very call that may have happened before, and was left then, may be made now. Says why not.
    pub(super) fn still_doubted(
        &mut self,
        call: &ToolCall,
        effect: Effect,
    ) -> Result<Option<String>, TalkError> {
        let mark = call_mark(&call.name, call.arguments.raw());
        if effect == Effect::ReadOnly || !self.doubted.contains(&mark) {
            return Ok(None);
        }
        let begun = begun(call, effect, None, None);
        match self.asked_about(&begun)? {
            Doubt::Again => return Ok(None),
            Doubt::Leave => {}
            Doubt::Unanswered => self.unanswered.push(need(&begun)),
        }
        Ok(Some(LEFT.to_owned()))
    }

    /// Children in the background go on there; what those brought that were over is told, and of those that cannot go on, that they
    /// broke off.
    pub(super) fn close_apart(&mut self) -> Result<(), TalkError> {
        for child in std::mem::take(&mut self.apart) {
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

    fn broke_off(&mut self, child: &BegunChild, why: &str) -> Result<String, TalkError> {
        let Ok(Summary { usage, cost_micros, .. }) = self.agent.store.session(child.id) else {
            return Ok(format!("The skill '{}' that worked in the background is gone.", child.worker.name()));
        };
        let outcome = Outcome::Cancelled;
        self.write(EventKind::ChildEnded { child: child.id, outcome, usage, cost_micros })?;
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
            match self.journal.watch().begun(begun) {
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
        let calls = self.history.as_ref().map(crate::History::unfinished_calls).unwrap_or_default();
        if let Some(known) = calls.iter().find(|known| *known.id == *call) {
            let mark = call_mark(&known.name, known.arguments.raw());
            self.doubted.retain(|other| *other != mark);
            if said == Doubt::Leave {
                self.doubted.push(mark);
            }
        }
        self.write(EventKind::Doubted { call, tool, action, said })
    }

    fn needs_a_word(&mut self, nobody: &[Begun]) -> End {
        let actions: Vec<String> = nobody.iter().map(|begun| begun.action.clone()).collect();
        self.unanswered.extend(nobody.iter().map(need));
        (Outcome::NeedsYes, String::new(), Some(in_doubt(&actions)))
    }

    /// The result of a call whose effect is written down, though its end is not.
    fn known_result(&mut self, call: &ToolCall, state: &BegunState) -> Result<Option<ToolResult>, TalkError> {
        if let Some(skill) = &state.activated {
            let text = format!("Skill '{skill}' activated successfully. Instructions will follow.");
            return Ok(Some(ToolResult::done(text)));
        }
        let Some(child) = &state.child else { return Ok(None) };
        let Standing::Over(ended) = self.child_standing(child)? else { return Ok(None) };
        let answer = self.over(child, ended)?;
        Ok(Some(returned(&answer, &call.name)))
    }

    /// Writes the result of a call that is not carried out by this process.
    fn result(&mut self, call: &ToolCall, result: ToolResult) -> Result<(), TalkError> {
        self.begun.remove(&*call.id);
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
                let mut course = Course::of(&store.events(&query)?);
                given.answers.append(&mut course.allowed);
                given.providers.extend(course.agreed);
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
pub(super) fn doubt(call: &ToolCall, state: &BegunState) -> Option<Begun> {
    let effect = state.called.effect;
    let child = state.child.as_ref().map(|child| child.id);
    (effect != Effect::ReadOnly).then(|| begun(call, effect, state.called.skill.clone(), child))
}

fn begun(call: &ToolCall, effect: Effect, skill: Option<String>, child: Option<SessionId>) -> Begun {
    let action = one_line(&format!("{} {}", call.name, call.arguments.raw()), SHOWN);
    Begun { call: call.id.to_string(), tool: call.name.to_string(), skill, action, effect, child }
}

fn need(begun: &Begun) -> Unanswered {
    Unanswered { action: begun.action.clone(), rules: Vec::new(), changes: None }
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
