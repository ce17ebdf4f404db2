//! Where the process of the agent is, what it tells of that, and when it kills itself.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the process of the agent is told: its folder, the session to go on with, what somebody says about what may have happened, and
/// when it is to kill itself.
pub(super) const CHILD: [&str; 4] =
    ["METIER_CRASH_PLACE", "METIER_CRASH_SESSION", "METIER_CRASH_SAYS", "METIER_CRASH_AIM"];

/// For how long after an event was handed in it counts as being written, where nobody has acknowledged it before.
const WRITING: Duration = Duration::from_millis(2);

/// What a process can be doing when it is killed, how often a whole run does it, and how long after its beginning a kill is aimed at
/// most, in microseconds.
pub(super) const PHASES: [(Phase, u64, u64); 5] = [
    (Phase::Model, 9, 4_000),
    (Phase::Tool, 20, 15_000),
    (Phase::Fork, 1, 40_000),
    (Phase::Compaction, 1, 12_000),
    (Phase::Write, 80, 600),
];

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Model,
    Tool,
    Fork,
    Compaction,
    Write,
    Between,
}

impl Phase {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Fork => "fork",
            Self::Compaction => "compaction",
            Self::Write => "write",
            Self::Between => "between",
        }
    }

    pub(super) fn named(word: &str) -> Self {
        let all = PHASES.iter().map(|(phase, ..)| *phase);
        all.into_iter().find(|phase| phase.word() == word).unwrap_or(Self::Between)
    }
}

/// Where this process is, and when it is to kill itself.
static STAND: Mutex<Stand> =
    Mutex::new(Stand { doing: Phase::Between, has_child: false, handed_in: None, aim: None });

pub(super) struct Stand {
    pub(super) doing: Phase,
    pub(super) has_child: bool,
    /// When the latest event was handed in that nobody has acknowledged.
    pub(super) handed_in: Option<Instant>,
    pub(super) aim: Option<Aim>,
}

/// A kill so long after a phase was entered for the n-th time.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    pub(super) phase: Phase,
    pub(super) times: u64,
    pub(super) later: Duration,
}

impl Aim {
    pub(super) fn text(self) -> String {
        format!("{} {} {}", self.phase.word(), self.times, self.later.as_micros())
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let phase = Phase::named(words.next()?);
        let times = words.next()?.parse().ok()?;
        Some(Self { phase, times, later: Duration::from_micros(words.next()?.parse().ok()?) })
    }
}

impl Stand {
    pub(super) fn phase(&self) -> Phase {
        match self.handed_in {
            Some(at) if at.elapsed() < WRITING => Phase::Write,
            _ if self.has_child => Phase::Fork,
            _ => self.doing,
        }
    }

    /// An event was handed in, and nobody has acknowledged it yet.
    pub(super) fn hand_in(&mut self) {
        if self.handed_in.replace(Instant::now()).is_none() {
            self.enter(Phase::Write);
        }
    }

    /// A phase is entered. Where that is what was aimed at, the process has only a moment left.
    pub(super) fn enter(&mut self, phase: Phase) {
        let Some(aim) = self.aim.as_mut().filter(|aim| aim.phase == phase) else { return };
        aim.times = aim.times.saturating_sub(1);
        if aim.times > 0 {
            return;
        }
        let later = aim.later;
        self.aim = None;
        std::thread::spawn(move || {
            std::thread::sleep(later);
            // Nothing is entered or left between the word and the deed.
            let stand = stand();
            tell(&format!("dies {}", stand.phase().word()));
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        });
    }
}

pub(super) fn stand() -> std::sync::MutexGuard<'static, Stand> {
    STAND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Only a process of its own has somebody who hears it.
pub(super) fn tell(text: &str) {
    if std::env::var_os(CHILD[0]).is_some() {
        say(text);
    }
}

pub(super) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // The test runner may have begun a line. One write: a kill leaves whole lines, and at most one that is cut.
    let _ = out.write_all(format!("\ncrash {text}\n").as_bytes());
    let _ = out.flush();
}
