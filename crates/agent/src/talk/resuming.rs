//! Going on with a conversation whose process has ended, at whatever moment that was.
//!
//! Everything is a fold over the events ([`Course`]). What cannot be known from them is what became of a call that was announced and
//! has no result. One that only looks is made again; any other may have happened, and is not made again without a yes.

use std::sync::Arc;

use metier_catalog::one_line;
use metier_model::{Stop, ToolCall};
use metier_runtime::ToolResult;
use metier_store::{
    By, Doubt, Effect, Ended, EventKind, EventQuery, Finished, Lease, Made, Outcome, SessionId, Store,
    StoreError, Summary,
};

use super::{Company, End, SHOWN, Talk, TalkError, Unanswered};
use crate::agent::Agent;
use crate::course::{BegunState, Course};
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
        let standing = agent.store.standing(id)?;
        let parent = standing.summary.parent;
        let mut course = Course::of(&agent.store.events(&EventQuery::of(id))?);
        course.forget_cut_texts();
        let session = agent.part.session(&agent.skills, agent.surface).map_err(TalkError::Skills)?;
        let mut session = session.named(&id.to_string());
        let gone = session.restore(course.activated());
        // A stranger's file could say that everything was allowed.
        if standing.made == Made::Here {
            course.allowed.iter().for_each(|given| session.restore_answer(given));
        }
        let general = GeneralTools::new(setting)?;
        let outside = Arc::new(Outside::settle(agent.outside.as_ref()));
        let framed = course.framed.take();
        let frame = match &framed {
            Some(framed) => Frame::from_stored(framed),
            // Its process ended before anything was sent.
            None if course.history.turns() == 0 => {
                agent.part.framed(Frame::new(&agent.instructions, &session, &general, &outside))
            }
            None => return Err(TalkError::NoFrame(id)),
        };
        let journal = Journal::go_on(agent.store.clone(), id, parent, course.seq, Arc::clone(&company.watch));
        let mut talk = Self::new(agent, session, (general, outside), journal, frame, course.history, company);
        talk.lease = Some(lease);
        talk.find_kin();
        talk.spent = course.spent;
        talk.limits =
            course.extended.iter().fold(talk.limits, |limits, which| limits.more_of(*which, &agent.limits));
        talk.kin.family.resume(talk.limits, talk.spent);
        talk.stubbornness = course.stubbornness;
        talk.unanswered = course.unanswered;
        talk.used = course.used;
        talk.begun = course.begun;
        talk.doubted = course.doubted;
        talk.last = course.last;
        talk.recalled = course.recalled;
        let calls = talk.history.as_ref().map(crate::History::unfinished_calls).unwrap_or_default();
        let begun = talk.doubtful(&calls);
        talk.apart = course.apart;
        let is_waiting = talk.history.as_ref().is_some_and(crate::History::is_waiting);
        let left = if course.is_over && !is_waiting { Left::Nothing } else { Left::Work };
        if framed.is_none() {
            talk.write(EventKind::Framed(talk.frame.stored()))?;
        }
        if left == Left::Work {
            let metier = env!("CARGO_PKG_VERSION").to_owned();
            talk.write(EventKind::Resumed { by: By::User, metier })?;
            let words = talk.history.as_ref().and_then(|history| history.words.clone());
            if let Some(words) = words.filter(|_| !course.is_offered && !course.is_over) {
                talk.offer(&words)?;
            }
        }
        Ok(Resumed { talk, left, begun, gone })
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
        let mut again = Vec::new();
        let mut nobody = Vec::new();
        for call in calls {
            let Some(state) = self.begun.get(&*call.id).cloned() else {
                again.push(call);
                continue;
            };
            if let Some(result) = self.known_result(&state)? {
                self.result(&call, result)?;
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
        if let Some(reached) = self.call_all(again)?
            && !self.may_go_on(&reached)?
        {
            return Ok(Some((Outcome::Partial, String::new(), Some(reached.to_string()))));
        }
        self.begun.clear();
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

    /// Children in the background ended with the process that had begun them: what they brought is told, and that they broke off.
    pub(super) fn close_apart(&mut self) -> Result<(), TalkError> {
        for (child, skill) in std::mem::take(&mut self.apart) {
            let Ok(standing) = self.agent.store.standing(child) else { continue };
            let ended = self.end_of(child)?;
            let outcome = ended.as_ref().map_or(Outcome::Cancelled, |ended| ended.outcome);
            let Summary { usage, cost_micros, .. } = standing.summary;
            self.write(EventKind::ChildEnded { child, outcome, usage, cost_micros })?;
            let text = match ended {
                Some(ended) => ended.text,
                None => "It broke off when the process ended, and what it did until then may have happened."
                    .to_owned(),
            };
            let text = format!(
                "The skill '{skill}' that worked in the background as {} is over ({}).\n{text}",
                child.short(),
                outcome.word()
            );
            self.write(EventKind::Noted { text, about: "child".to_owned() })?;
        }
        Ok(())
    }

    /// How a child ended, where it did.
    fn end_of(&self, child: SessionId) -> Result<Option<Ended>, TalkError> {
        let events = self.agent.store.events(&EventQuery::of(child).kind("ended"))?;
        Ok(events.into_iter().rev().find_map(|event| match event.kind {
            EventKind::Ended(ended) => Some(ended),
            _ => None,
        }))
    }

    /// What was begun and may have happened, of these calls.
    fn doubtful(&self, calls: &[ToolCall]) -> Vec<Begun> {
        let states = calls.iter().filter_map(|call| Some((call, self.begun.get(&*call.id)?)));
        states.filter(|(_, state)| !is_known(state)).filter_map(|(call, state)| doubt(call, state)).collect()
    }

    /// Asks whoever is there whether to make a call again, and writes down what was said.
    fn asked_about(&mut self, begun: &Begun) -> Result<Doubt, TalkError> {
        let said = match self.journal.watch().begun(begun) {
            Again::Yes => Doubt::Again,
            Again::No => Doubt::Leave,
            Again::Nobody => self.asked_in_words(begun),
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
        let actions: Vec<&str> = nobody.iter().map(|begun| begun.action.as_str()).collect();
        let why = format!(
            "begun when the process ended, may have happened, and is not done again without a yes: {}",
            actions.join("; ")
        );
        self.unanswered.extend(nobody.iter().map(need));
        (Outcome::NeedsYes, String::new(), Some(why))
    }

    /// The result of a call whose effect is written down, though its end is not.
    fn known_result(&self, state: &BegunState) -> Result<Option<ToolResult>, TalkError> {
        if let Some(skill) = &state.activated {
            let text = format!("Skill '{skill}' activated successfully. Instructions will follow.");
            return Ok(Some(ToolResult::done(text)));
        }
        let Some((child, Some(outcome))) = state.child else { return Ok(None) };
        let ended = self.end_of(child)?;
        Ok(ended.map(|ended| match (outcome, ended.why) {
            (Outcome::Done, _) => ToolResult::done(ended.text),
            (outcome, why) => {
                let why = why.unwrap_or_default();
                ToolResult::refused(format!("[{}: {why}]\n{}", outcome.word(), ended.text).trim().to_owned())
            }
        }))
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

/// Whether what came of it is written down.
fn is_known(state: &BegunState) -> bool {
    state.activated.is_some() || state.child.is_some_and(|(_, outcome)| outcome.is_some())
}

/// What there is to ask about a call that was begun: nothing where it only looks.
fn doubt(call: &ToolCall, state: &BegunState) -> Option<Begun> {
    let effect = state.called.effect;
    let child = state.child.map(|(child, _)| child);
    (effect != Effect::ReadOnly).then(|| begun(call, effect, state.called.skill.clone(), child))
}

fn begun(call: &ToolCall, effect: Effect, skill: Option<String>, child: Option<SessionId>) -> Begun {
    let action = one_line(&format!("{} {}", call.name, call.arguments.raw()), SHOWN);
    Begun { call: call.id.to_string(), tool: call.name.to_string(), skill, action, effect, child }
}

fn need(begun: &Begun) -> Unanswered {
    Unanswered { action: begun.action.clone(), rules: Vec::new() }
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
