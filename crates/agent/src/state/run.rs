use std::time::Duration;

use metier_store::{LimitKind, MissingApproval, Timestamp, Usage, Used};

use crate::limits::{LimitHit, Limits, Spent};
use crate::repeat_guard::RepeatGuard;

/// What counts for one message of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunState {
    /// What was used up since the message, or since the last end.
    pub(crate) spent: Spent,
    pub(crate) clock: Clock,
    /// The limits that were extended, each as often as it happened.
    pub(crate) extended: Vec<LimitKind>,
    /// The limit that was reached and not extended.
    pub(crate) limit_hit: Option<LimitHit>,
    pub(crate) repeats: RepeatGuard,
    /// Approvals that are missing: no one could be asked, or the answer was no.
    pub(crate) missing: Vec<MissingApproval>,
    /// The skills that were activated and have no activity entry yet, with what had been spent before.
    pub(crate) used: Vec<(Used, Spent)>,
    /// The last text of the model that was not empty: what a run ends with that breaks off.
    pub(crate) said: String,
    /// The model's last answer, if it called nothing and nothing was put into the conversation since.
    pub(crate) last: Option<LastAnswer>,
    /// Why the model could not be asked.
    pub(crate) failure: Option<String>,
    /// Whether skills were looked for.
    pub(crate) is_offered: bool,
}

/// An answer without calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LastAnswer {
    /// Why it ended, in the stored word.
    pub(crate) stop: Option<String>,
}

/// How long a run was worked on. The time between two processes does not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    /// When work began in this process.
    began: Option<Timestamp>,
    /// The time of the last event.
    pub(super) latest: Timestamp,
    /// The time in processes before this one.
    before: Duration,
}

impl Clock {
    /// Work begins, or continues in another process.
    pub(super) fn resume(&mut self, at: Timestamp) {
        self.before = self.worked(self.latest);
        self.began = Some(at);
    }

    /// How long it was worked on until the last event.
    pub(crate) fn worked_until_latest(&self) -> Duration {
        self.worked(self.latest)
    }

    /// How long it was worked on until then.
    pub(crate) fn worked(&self, until: Timestamp) -> Duration {
        let began = self.began.unwrap_or(until);
        self.before.saturating_add(Duration::from_millis(until.millis().saturating_sub(began.millis())))
    }
}

impl RunState {
    /// These limits with everything that was extended.
    pub(crate) fn limits(&self, usual: &Limits) -> Limits {
        self.extended.iter().fold(*usual, |limits, which| limits.more_of(which, usual))
    }

    pub(super) fn asked(&mut self) {
        self.last = None;
        self.spent.turns = self.spent.turns.saturating_add(1);
        // Sessions from before `limit_extended`: a limit that was followed by another turn was extended.
        if let Some(hit) = self.limit_hit.take() {
            self.extend(hit.which);
        }
    }

    pub(super) fn extend(&mut self, which: LimitKind) {
        self.limit_hit = None;
        self.extended.push(which);
        self.repeats = RepeatGuard::default();
    }

    pub(super) fn say(&mut self, text: String) {
        if !text.is_empty() {
            self.said = text;
        }
    }

    pub(super) fn pay(&mut self, usage: Usage, cost_micros: u64) {
        self.spent.usage += usage;
        self.spent.cost_micros = self.spent.cost_micros.saturating_add(cost_micros);
    }

    /// The activity entry of a skill was written.
    pub(super) fn use_recorded(&mut self, used: &Used) {
        let is_this = |(known, _): &(Used, Spent)| {
            (&known.skill, &known.origin, &known.digest) == (&used.skill, &used.origin, &used.digest)
        };
        if let Some(at) = self.used.iter().position(is_this) {
            self.used.remove(at);
        }
    }
}
