//! One conversation of an agent: the loop.
//!
//! ```text
//! the user's words ─► Asked ─► the model ─► Answered ─► no calls: the end
//!       ▲                                       └► calls ─► Called ─► gate, fence, sandbox ─► Finished ─┐
//!       └───────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```

mod asking;
mod beginning;
mod calling;
mod children;
mod choosing;
mod colleagues;
mod compacting;
mod going_on;
mod handing_over;
mod invoking;
mod naming;
mod recalling;
mod resuming;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use metier_catalog::Unresolved;
use metier_policy::Ruling;
use metier_runtime::{Note, Session};
use metier_store::{
    By, Ended, EventKind, EventQuery, FailedPart, Lease, MissingApproval, NoteTopic, Offer, Outcome,
    SessionId, Started, StoreError, Timestamp, Verdict,
};

use self::asking::NotAnswered;
use self::children::Kin;
use self::choosing::Choice;
pub use self::compacting::Shortened;
use self::recalling::Wanted;
use self::resuming::BrokenOff;
pub use self::resuming::{Begun, Left, Resumed};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::echo::Echo;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::limits::{Limits, Reached, Spent};
use crate::offline::Offline;
use crate::outside::Outside;
use crate::session_log::SessionLog;
use crate::state::SessionState;
use crate::tools::{Ask, GeneralTools, Setting};
use crate::watch::{Further, Watch};
use metier_model::Stop;

/// How much of a call is shown where it is named, in characters: as much as a question shows.
const SHOWN: usize = 200;

/// How a run ends: the outcome, the last words, and why.
type End = (Outcome, String, Option<String>);

/// One conversation.
pub struct Talk {
    agent: Agent,
    session: Mutex<Session>,
    general: GeneralTools,
    /// What servers offer beside.
    outside: Arc<Outside>,
    /// The events, and the state that they make. The state is empty while the session rests.
    log: Arc<SessionLog>,
    frame: Arc<Frame>,
    halt: Halt,
    /// Shows what programs write while they run.
    echo: Arc<Echo>,
    ask: Option<Arc<dyn Ask + Send>>,
    /// The right to work on the session; `None` while it rests.
    lease: Option<Lease>,
    /// What is to be recalled before the model is asked again.
    wanted: Vec<Wanted>,
    /// That it broke off, until it goes on.
    broken_off: Option<BrokenOff>,
    /// Its parent and its children.
    kin: Kin,
    /// Who answers now.
    choice: Choice,
}

/// What came of a message of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended, with the last words and the sums.
    pub ended: Ended,
    /// The approvals that were missing, if that is how it ended.
    pub needs: Vec<MissingApproval>,
}

/// Why a conversation cannot be begun or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TalkError {
    /// Nothing can be written down, and what is not written down is not done.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The project cannot be opened.
    #[error("the project cannot be opened: {0}")]
    Project(#[from] metier_files::Error),
    /// The skill that somebody wants cannot be had.
    #[error(transparent)]
    Skill(#[from] metier_runtime::NotUsed),
    /// Somebody works on the session: another process, or another conversation of this one.
    #[error("session {} is busy with the last message: wait until that is done, or stop it", .0.short())]
    Busy(SessionId),
    /// Skills of the agent's own list cannot be had: all of them, at once.
    #[error("the agent's skills cannot be had: {}", one_by_one(.0))]
    Skills(Vec<Unresolved>),
    /// The session has no beginning that could be gone on from.
    #[error("session {0} has nothing to go on from")]
    NoFrame(SessionId),
}

fn one_by_one(problems: &[Unresolved]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Who is there while an agent works.
pub struct Company {
    /// Who looks on.
    pub watch: Arc<dyn Watch>,
    /// Who stops it.
    pub halt: Halt,
    /// Who answers the model's questions.
    pub ask: Option<Arc<dyn Ask + Send>>,
}

impl Talk {
    /// Begins a conversation with what the user wants. Nothing is asked yet: see [`Talk::work`].
    pub fn begin(
        agent: &Agent,
        setting: Setting,
        request: &str,
        company: Company,
    ) -> Result<Self, TalkError> {
        let mut talk = Self::open(agent, setting, request, company)?;
        talk.offer(request)?;
        Ok(talk)
    }

    /// Begins one without offering skills.
    fn open(agent: &Agent, setting: Setting, request: &str, company: Company) -> Result<Self, TalkError> {
        let outside = Arc::new(Outside::settle(agent.outside.as_ref()));
        let session = agent.part.session(&agent.skills, agent.surface, &outside, None);
        let session = session.map_err(TalkError::Skills)?;
        let snapshot = agent.skills.snapshot();
        let project = setting.project.as_ref().map(|project| project.display().to_string());
        let general = GeneralTools::new(setting)?;
        let frame = Frame::new(&agent.instructions, &session, &general, &outside);
        let frame = agent.part.framed(frame, &outside);
        let started = Started {
            request: request.to_owned(),
            by: By::User,
            project,
            model: Some(agent.model.id().to_string()),
            agent: agent.part.name().map(str::to_owned),
            surface: Some(agent.surface.to_string()),
            metier: env!("CARGO_PKG_VERSION").to_owned(),
            loaded: snapshot.loaded() as u64,
            failed: snapshot.failures().len() as u64,
            ..Started::default()
        };
        let id = SessionId::new()?;
        let log = SessionLog::start(id, agent.store.clone(), started, Arc::clone(&company.watch))?;
        let session = session.named(&id.to_string());
        let lease = resuming::lease(&agent.store, id)?;
        let mut talk = Self::new(agent, session, (general, outside), log, frame, company);
        talk.lease = Some(lease);
        talk.touch(metier_catalog::files_named(request));
        let remark = talk.hand_over();
        talk.write_frame()?;
        talk.take_remarks(problems(&talk.outside))?;
        remark.map(|remark| talk.write(remark)).transpose()?;
        Ok(talk)
    }

    fn new(
        agent: &Agent,
        mut session: Session,
        (general, outside): (GeneralTools, Arc<Outside>),
        log: SessionLog,
        frame: impl Into<Arc<Frame>>,
        company: Company,
    ) -> Self {
        let Company { halt, ask, .. } = company;
        session.cancel_with(halt.cancel().clone());
        let echo = Arc::new(Echo::new(Arc::clone(log.watch())));
        let heard = Arc::clone(&echo);
        session.listen_with(Arc::new(move |stream, piece: &[u8]| heard.hear(stream, piece)));
        session.tools_from_outside(outside.known().clone());
        Self {
            agent: agent.clone(),
            session: Mutex::new(session),
            general,
            outside,
            log: Arc::new(log),
            frame: frame.into(),
            kin: Kin::alone(agent.limits),
            choice: Choice::new(agent),
            halt,
            echo,
            ask,
            lease: None,
            wanted: Vec::new(),
            broken_off: None,
        }
    }

    /// Takes up a conversation that is in the store: the same frame and the same messages, byte for byte.
    pub fn take_up(
        agent: &Agent,
        setting: Setting,
        id: SessionId,
        company: Company,
    ) -> Result<Self, TalkError> {
        Self::resume(agent, setting, id, company).map(|resumed| resumed.talk)
    }

    /// Which session it is.
    pub fn id(&self) -> SessionId {
        self.log.session()
    }

    /// Reads the state. The log is locked meanwhile, so `read` must not write.
    fn state<R>(&self, read: impl FnOnce(&SessionState) -> R) -> R {
        self.log.state(read)
    }

    /// What may be used up for this message, with everything that was extended.
    fn limits(&self) -> Limits {
        self.state(|state| state.run.limits(&self.agent.limits))
    }

    /// What was used up since the message.
    fn spent(&self) -> Spent {
        self.state(|state| state.run.spent)
    }

    /// How long this message was worked on.
    fn worked(&self) -> Duration {
        self.state(|state| state.run.clock.worked(Timestamp::now()))
    }

    /// How much of the run's time is left, if it is limited.
    fn time_left(&self) -> Option<Duration> {
        self.limits().time.map(|time| time.saturating_sub(self.worked()))
    }

    /// What the user said last.
    fn user_text(&self) -> Arc<str> {
        self.state(|state| state.history.words.clone()).unwrap_or_default()
    }

    /// Lets go of the messages until they are needed again: they are in the store. Meanwhile others may go on with the session.
    pub fn rest(&mut self) {
        if self.log.settle().is_ok() {
            self.log.set_state(SessionState::default());
            self.lease = None;
        }
    }

    /// The user says something more. What has become of the skills meanwhile is told with it.
    pub fn say(&mut self, text: &str) -> Result<Answer, TalkError> {
        self.take_words(text, By::User)?;
        self.offer(text)?;
        self.work()
    }

    /// Takes what somebody says: everything that holds for one message begins anew.
    fn take_words(&mut self, text: &str, by: By) -> Result<(), TalkError> {
        self.recall()?;
        self.broken_off = None;
        self.leave_begun()?;
        let note = lock(&self.session).user_message();
        self.kin.family.begin(self.agent.limits);
        self.touch(metier_catalog::files_named(text));
        self.write(EventKind::Said { text: text.to_owned(), by })?;
        if let Some(note) = note.as_ref().and_then(Note::text) {
            self.write(EventKind::Noted { text: note, about: NoteTopic::Skills })?;
        }
        self.take_notes()
    }

    /// Works on what the user said until it is done, or cannot go on.
    pub fn work(&mut self) -> Result<Answer, TalkError> {
        self.recall()?;
        self.go_on_from_break()?;
        if let Some(invoked) = self.state(|state| state.subagents.invoked.clone()) {
            return self.go_on_with(&invoked);
        }
        self.work_on()
    }

    /// Works with the model until it is done, or cannot go on.
    fn work_on(&mut self) -> Result<Answer, TalkError> {
        let end = self.settle_begun()?;
        let (mut outcome, mut text, mut why) = end.map_or_else(|| self.turns(), Ok)?;
        // What children in the background bring is worth another word, and nothing that was said is lost.
        while self.await_children(outcome)? {
            let said;
            (outcome, said, why) = self.turns()?;
            text = if said.is_empty() { text } else { said };
        }
        self.end(outcome, text, why)
    }

    /// Brings the messages back from the store.
    fn recall(&mut self) -> Result<(), TalkError> {
        if self.lease.is_none() {
            let lease = resuming::lease(&self.agent.store, self.id())?;
            // Another process may have continued the session meanwhile.
            let events = self.agent.store.events(&EventQuery::of(self.id()))?;
            self.log.set_state(SessionState::replay(&events));
            self.lease = Some(lease);
        }
        Ok(())
    }

    /// Appends an event to the log.
    fn write(&self, kind: EventKind) -> Result<(), TalkError> {
        Ok(self.log.append(kind)?)
    }

    /// Writes what precedes the messages, and takes it from the state: what is sent is what is stored.
    fn write_frame(&mut self) -> Result<(), TalkError> {
        self.write(EventKind::Framed(self.frame.stored()))?;
        if let Some(frame) = self.state(|state| state.frame.clone()) {
            self.frame = frame;
        }
        Ok(())
    }

    /// Writes down which skills fit, and tells the model of them where its catalogue is not whole.
    fn offer(&mut self, request: &str) -> Result<(), TalkError> {
        self.wanted.push(Wanted::About(request.to_owned()));
        let (record, note) = {
            let session = lock(&self.session);
            if session.toolset().definitions().is_empty() {
                return Ok(());
            }
            session.shortlist(request)
        };
        let shortlist = record.offered.iter().zip(1..).map(|(offered, rank)| Offer {
            name: offered.name.clone(),
            rank,
            score: offered.score.into(),
        });
        let shortlist = shortlist.collect();
        let abstained = record.abstain.is_some();
        self.write(EventKind::Offered { query: request.to_owned(), shortlist, abstained })?;
        let is_partial = self.frame.tools.iter().any(|tool| &*tool.name == "skill_search");
        if is_partial && !note.is_empty() {
            self.write(EventKind::Noted { text: note, about: NoteTopic::Shortlist })?;
        }
        Ok(())
    }

    fn turns(&mut self) -> Result<End, TalkError> {
        let mut said = String::new();
        let mut is_shortened = false;
        loop {
            if self.halt.is_said() {
                return self.interrupted(said);
            }
            self.take_notes()?;
            if let Some(reached) = self.before_a_turn()
                && !self.may_go_on(&reached)?
            {
                return Ok((Outcome::Partial, said, Some(reached.to_string())));
            }
            self.make_room()?;
            self.bring_records()?;
            match self.ask_model() {
                Ok(answer) => {
                    let text = answer.message.text();
                    if !text.is_empty() {
                        said = text;
                    }
                    is_shortened = false;
                    if answer.calls.is_empty() {
                        return Ok(self.last_word(answer.stop, said));
                    }
                    let handed_back = self.handed_back(&answer.calls);
                    let reached = self.call_all(answer.calls)?;
                    if let Some(words) = handed_back {
                        return Ok((Outcome::Done, self.last_words(words), None));
                    }
                    if let Some(reached) = reached
                        && !self.may_go_on(&reached)?
                    {
                        return Ok((Outcome::Partial, said, Some(reached.to_string())));
                    }
                }
                Err(NotAnswered::Talk(error)) => return Err(error),
                Err(NotAnswered::Halted { partial }) => {
                    let text = if partial.is_empty() { said } else { partial };
                    return self.interrupted(text);
                }
                Err(NotAnswered::OutOfTime { partial }) => {
                    let text = if partial.is_empty() { said } else { partial };
                    let why = self.before_a_turn().map(|reached| reached.to_string());
                    return Ok((Outcome::Partial, text, why));
                }
                // Nobody may know how much the model takes; it does. Once is enough: the next refusal has another reason.
                Err(NotAnswered::Model { error, .. })
                    if !is_shortened && compacting::is_too_long(&error) && self.make_more_room()? =>
                {
                    is_shortened = true;
                }
                Err(NotAnswered::Model { error, partial }) => {
                    let message = error.to_string();
                    self.write(EventKind::Failed { at: FailedPart::Model, message: message.clone() })?;
                    let text = if partial.is_empty() { said } else { partial };
                    return Ok((Outcome::Failed, text, Some(message)));
                }
            }
        }
    }

    /// How a run ends whose model has said its last word.
    pub(super) fn last_word(&self, stop: Option<Stop>, said: String) -> End {
        // The planner's words say it all; a provider's are a word of its protocol.
        let is_planner = self.choice.mind.model.id().as_str() == Offline::ID;
        match stop {
            Some(Stop::Length) => {
                let why = "the model's answer was cut at the limit of its output".to_owned();
                (Outcome::Partial, said, Some(why))
            }
            Some(Stop::Refused(why)) if is_planner => (Outcome::Failed, said, Some(why)),
            Some(Stop::Refused(why)) => {
                (Outcome::Failed, said, Some(format!("the model declined to answer ({why})")))
            }
            Some(Stop::Other(why)) if why == "failed" => (Outcome::Failed, said, None),
            Some(Stop::Other(word)) if is_fault(&word) => {
                (Outcome::Failed, said, Some(format!("the model broke its answer off ({word})")))
            }
            // Behind work that was done there may be nothing left to say; a child's silence is told to its parent.
            _ if said.is_empty() && self.spent().calls == 0 && !self.kin.is_child() && !is_planner => {
                (Outcome::Failed, said, Some("the model's answer is empty".to_owned()))
            }
            _ => (Outcome::Done, said, None),
        }
    }

    fn interrupted(&mut self, text: String) -> Result<End, TalkError> {
        let who = if self.kin.is_child() { "whoever started it" } else { "the user" };
        self.write(EventKind::Interrupted { why: who.to_owned() })?;
        Ok((Outcome::Cancelled, text, Some("it was stopped".to_owned())))
    }

    /// The first limit that does not let the model be asked once more: its own, the family's, or that of an active skill.
    fn before_a_turn(&mut self) -> Option<Reached> {
        let own = self.limits().before_a_turn(&self.spent(), self.worked());
        own.or_else(|| self.kin.family.before_a_turn()).or_else(|| self.skill_is_through())
    }

    /// Whether another call may be made.
    fn before_a_call(&self) -> Option<Reached> {
        self.limits().before_a_call(&self.spent()).or_else(|| self.kin.family.before_a_call())
    }

    /// A limit was reached: it is written down, and whoever is there may say to go on.
    fn may_go_on(&mut self, reached: &Reached) -> Result<bool, TalkError> {
        let Reached { which, limit, used } = *reached;
        self.write(EventKind::Limited { which: which.into(), limit, used })?;
        if self.log.watch().reached(reached) == Further::Stop {
            return Ok(false);
        }
        self.write(EventKind::LimitExtended { which: which.into() })?;
        self.kin.family.allow(self.limits());
        self.choice.go_on();
        Ok(true)
    }

    fn end(&mut self, outcome: Outcome, text: String, why: Option<String>) -> Result<Answer, TalkError> {
        let needs = self.state(|state| state.run.missing.clone());
        let (outcome, why) = match outcome {
            Outcome::Done if !needs.is_empty() => {
                let actions: Vec<&str> = needs.iter().map(|need| need.action.as_str()).collect();
                let are_changes = needs.iter().all(|need| need.changes.is_some());
                let why = if are_changes { "approval is missing" } else { "nobody could be asked" };
                (Outcome::NeedsYes, Some(format!("{why}: {}", actions.join("; "))))
            }
            other => (other, why),
        };
        self.write_allowed()?;
        self.remember_runs(outcome, &text)?;
        let spent = self.spent();
        for (mut used, then) in self.state(|state| state.run.used.clone()) {
            used.usage = since(&spent, &then);
            used.cost_micros = spent.cost_micros.saturating_sub(then.cost_micros);
            used.outcome = outcome;
            self.write(EventKind::Used(used))?;
        }
        let ended = Ended {
            outcome,
            text,
            why,
            usage: spent.usage,
            cost_micros: spent.cost_micros,
            turns: spent.turns,
            calls: spent.calls,
        };
        self.write(EventKind::Ended(ended.clone()))?;
        self.log.settle()?;
        Ok(Answer { ended, needs })
    }
}

/// What servers that should be there do not offer, as it is written down.
fn problems(outside: &Outside) -> Vec<EventKind> {
    let problems = outside.problems().iter().cloned();
    problems.map(|(at, message)| EventKind::Failed { at, message }).collect()
}

/// A ruling of the gate, as it is stored.
fn verdict(ruling: Ruling) -> Verdict {
    match ruling {
        Ruling::Allow => Verdict::Allow,
        Ruling::Ask => Verdict::Ask,
        Ruling::Refuse => Verdict::Refuse,
    }
}

/// What was spent between two moments.
fn since(now: &Spent, then: &Spent) -> metier_store::Usage {
    metier_store::Usage {
        input: now.usage.input.saturating_sub(then.usage.input),
        output: now.usage.output.saturating_sub(then.usage.output),
        cached: now.usage.cached.saturating_sub(then.usage.cached),
        cache_written: now.usage.cache_written.saturating_sub(then.usage.cache_written),
    }
}

/// Whether a model's own word for its end means that it wanted to go on and could not. Other words that are not known end a turn
/// like any other: servers have many.
fn is_fault(word: &str) -> bool {
    let word = word.split(':').next().unwrap_or(word);
    word.starts_with("MALFORMED")
        || matches!(
            word,
            "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "error" | "insufficient_system_resource"
        )
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Talk").field("session", &self.log.session()).finish_non_exhaustive()
    }
}
