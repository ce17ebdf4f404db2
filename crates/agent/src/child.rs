//! A child: a skill in a conversation of its own, of which its parent gets the result and nothing else.
//!
//! ```text
//! a call, a user, a program ─► Fork ─► Child ─► Queue ─► Talk ─► ChildAnswer ─► the call's result, or a note
//!                              text,   model,   two at   the     status, text,
//!                              scope   limits   once     loop    reason, sums
//! ```
//!
//! - [`Queue`] lets two work at once in a family, whoever's children they are, and the rest in the order in which they came.
//! - [`Family`] is what parent, children and their children share: the queue, what they use up together, which providers the user
//!   agreed to.
//! - [`Route`] is a skill as a tool, for an agent that hands over instead of activating; or somebody else of its crew
//!   ([`Colleague`]), whose child has routes of its own.
//! - `wording` is what a model is told of all this.

mod agents;
mod colleague;
mod family;
mod nursery;
mod queue;
mod route;
mod wording;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use metier_policy::Skill;
use metier_runtime::Session;
use metier_store as store;
use metier_store::{EventKind, MissingApproval, Outcome, SessionId, Started, SubagentMode, Usage};

pub use self::agents::{Agents, ChildAgent};
pub use self::colleague::Colleague;
pub(crate) use self::colleague::ROLE_RULES;
pub(crate) use self::family::Family;
pub(crate) use self::nursery::{Nursery, Over};
pub(crate) use self::queue::{Place, Queue, Slot, Ticket};
pub(crate) use self::route::{
    HAND_BACK, HAND_BACK_RULES, HandedBack, Lead, Route, hand_back, handed_back, routes,
};
pub(crate) use self::wording::{
    beneath_itself, in_background, note, request, result, still_running, too_deep,
};
use crate::agent::Agent;
use crate::frame::Frame;
use crate::outside::Outside;
use crate::session_log::SessionLog;
use crate::state::SessionState;
use crate::talk::{Begun, Company, Talk, TalkError};
use crate::tools::GeneralTools;
use crate::watch::{Again, Happened, Watch};

/// How long a child that is out of time gets to end in good order before it is stopped: what waits for a model sees its time itself,
/// and only a tool that runs on has to be stopped from outside.
const GRACE: Duration = Duration::from_millis(500);

/// How a child stands to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChildMode {
    /// The parent waits for it.
    Fork,
    /// The parent goes on meanwhile.
    Background,
    /// The parent is a router, and this is where it leads.
    Handoff,
}

impl ChildMode {
    /// The stored one; the parent waits for one of a newer program.
    pub(crate) fn of(stored: &SubagentMode) -> Self {
        match stored {
            SubagentMode::Background => Self::Background,
            SubagentMode::Handoff => Self::Handoff,
            SubagentMode::Fork | SubagentMode::Other(_) => Self::Fork,
        }
    }
}

impl From<ChildMode> for SubagentMode {
    fn from(mode: ChildMode) -> Self {
        match mode {
            ChildMode::Fork => Self::Fork,
            ChildMode::Background => Self::Background,
            ChildMode::Handoff => Self::Handoff,
        }
    }
}

/// Who works in a child.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    /// A skill, by its name.
    Skill(String),
    /// Somebody of a crew, by its name.
    Role(String),
}

impl Worker {
    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Skill(name) | Self::Role(name) => name,
        }
    }
}

impl std::fmt::Display for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Skill(name) => write!(f, "skill {name}"),
            Self::Role(name) => write!(f, "agent {name}"),
        }
    }
}

/// What came of a child.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildAnswer {
    /// Which session it was. One that never left the queue has none in the store.
    pub session: SessionId,
    /// Who worked.
    pub worker: Worker,
    /// How it stood to its parent.
    pub mode: ChildMode,
    /// How it ended.
    pub outcome: Outcome,
    /// Its last words.
    pub text: String,
    /// Why it is not done, where it is not.
    pub why: Option<String>,
    /// Tokens, with those of its own children.
    pub usage: Usage,
    /// Money, likewise.
    pub cost_micros: u64,
    /// How often its model was asked.
    pub turns: u64,
    /// What it called, with its own children.
    pub calls: u64,
    /// What would have taken a yes, where that is how it ended.
    pub needs: Vec<MissingApproval>,
}

impl ChildAnswer {
    /// Whether nothing came of it: it failed, needs a yes, or has no word to say.
    pub fn is_failure(&self) -> bool {
        matches!(self.outcome, Outcome::Failed | Outcome::NeedsYes) || self.text.trim().is_empty()
    }
}

/// A child that is ready to begin. It owns all it takes, so that it can wait and work on a thread of its own; until it has a slot
/// nothing of it is in the store.
pub(crate) struct Child {
    pub(crate) kit: Kit,
    pub(crate) start: Start,
    /// Where its parent writes, and which call wanted it.
    pub(crate) parent: Arc<SessionLog>,
    pub(crate) call: Option<String>,
    /// When its parent has no time left.
    pub(crate) deadline: Option<Instant>,
}

/// What a child works with.
pub(crate) struct Kit {
    pub(crate) id: SessionId,
    pub(crate) mode: ChildMode,
    pub(crate) worker: Worker,
    /// The skills above it, its own at the end.
    pub(crate) line: Vec<Skill>,
    /// How many conversations are above it.
    pub(crate) depth: u32,
    pub(crate) agent: Agent,
    pub(crate) session: Session,
    pub(crate) general: GeneralTools,
    pub(crate) outside: Arc<Outside>,
    pub(crate) company: Company,
    pub(crate) family: Arc<Family>,
}

/// Where a child starts.
pub(crate) enum Start {
    /// At its beginning.
    New(Box<Birth>),
    /// Where it was when its process ended.
    Again(Box<SessionState>),
}

/// What a child begins with.
pub(crate) struct Birth {
    pub(crate) frame: Frame,
    pub(crate) started: Started,
    /// Its skill as it began; a role has none.
    pub(crate) activated: Option<store::Activated>,
    /// What is odd about it.
    pub(crate) remarks: Vec<EventKind>,
}

/// What a child is over with, for now.
pub(crate) struct Return {
    pub(crate) answer: ChildAnswer,
    pub(crate) word: LastWord,
}

/// Whether a child has said its last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastWord {
    /// It has.
    Said,
    /// A step of it may have happened before its process ended, and nobody was there to say what becomes of it. The call that wanted
    /// the child has no result until somebody is.
    Owed,
}

impl Child {
    /// Waits for its turn and works.
    pub(crate) fn run(mut self, ticket: Ticket) -> Return {
        let mut answer = ChildAnswer {
            session: self.kit.id,
            worker: self.kit.worker.clone(),
            mode: self.kit.mode,
            outcome: Outcome::Cancelled,
            text: String::new(),
            why: Some("it was stopped while it waited for its turn".to_owned()),
            usage: Usage::default(),
            cost_micros: 0,
            turns: 0,
            calls: 0,
            needs: Vec::new(),
        };
        let (runtime, halt) = (Arc::clone(&self.kit.agent.runtime), self.kit.company.halt.clone());
        let mut word = LastWord::Said;
        let Some(slot) = runtime.block_on(ticket.wait(&halt)) else { return Return { answer, word } };
        let most = self.kit.agent.limits.child_time;
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let time = left.map_or(most, |left| left.min(most));
        self.kit.agent.limits.time = Some(time);
        let is_late = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&is_late);
        let watchdog = runtime.spawn(async move {
            tokio::time::sleep(time.saturating_add(GRACE)).await;
            late.store(true, Ordering::SeqCst);
            halt.halt();
        });
        let worked = self.work(slot);
        watchdog.abort();
        match worked {
            Ok((done, last)) => {
                word = last;
                let ended = done.ended;
                let ChildAnswer { outcome, text, why, usage, cost_micros, turns, calls, needs, .. } =
                    &mut answer;
                (*outcome, *text, *why) = (ended.outcome, ended.text, ended.why);
                (*usage, *cost_micros) = (ended.usage, ended.cost_micros);
                (*turns, *calls, *needs) = (ended.turns, ended.calls, done.needs);
                if *outcome == Outcome::Cancelled && is_late.load(Ordering::SeqCst) {
                    *why = Some(format!("its time of {} seconds was up", time.as_secs()));
                }
            }
            Err(error) => {
                answer.outcome = Outcome::Failed;
                answer.why = Some(error.to_string());
            }
        }
        Return { answer, word }
    }

    fn work(self, slot: Slot) -> Result<(crate::talk::Answer, LastWord), TalkError> {
        let Self { kit, start, parent, call, .. } = self;
        let (id, mode) = (kit.id, kit.mode);
        let mut talk = match start {
            Start::New(birth) => {
                let Birth { frame, started, activated, remarks } = *birth;
                let (skill, agent) = match &kit.worker {
                    Worker::Skill(name) => (Some(name.clone()), None),
                    Worker::Role(name) => (None, Some(name.clone())),
                };
                let mut talk = Talk::of_child(kit, slot, (frame, started, activated))?;
                parent.append(EventKind::ChildBegan { child: id, call, skill, agent, mode: mode.into() })?;
                talk.take_remarks(remarks)?;
                talk
            }
            Start::Again(state) => Talk::of_child_again(kit, slot, parent.session(), *state)?,
        };
        let answer = talk.work()?;
        let metier_store::Ended { outcome, usage, cost_micros, calls, .. } = answer.ended;
        let missing = answer.needs.clone();
        parent.append(EventKind::ChildEnded { child: id, outcome, usage, cost_micros, calls, missing })?;
        Ok((answer, talk.said_all()))
    }
}

/// Looks on for whoever looks on at the parent: what happens is told, pieces of answers are nobody's answer, and a limit is a
/// child's end, since nobody can be asked by several at once.
pub(crate) struct Quiet(pub(crate) Arc<dyn Watch>);

impl Watch for Quiet {
    fn event(&self, event: &Happened) {
        self.0.event(event);
    }

    fn change(&self, change: &metier_runtime::Change) {
        self.0.change(change);
    }

    // A step of its own that may have happened is a question for whoever is there; one at a time: see `Family::word`.
    fn begun(&self, begun: &Begun) -> Again {
        self.0.begun(begun)
    }
}
