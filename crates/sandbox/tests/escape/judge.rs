//! From the end of a probe to what it means.

use std::fmt;

use crate::probes::Ending;

/// What an attack came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was stopped.
    Held(String),
    /// It shows nothing here.
    NotApplicable(String),
    /// It got through.
    Through(String),
    /// The probe itself did not do what it should.
    Broken(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(text) => write!(f, "held: {text}"),
            Self::NotApplicable(text) => write!(f, "not applicable: {text}"),
            Self::Through(text) => write!(f, "THROUGH: {text}"),
            Self::Broken(text) => write!(f, "BROKEN: {text}"),
        }
    }
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Signaled(i32),
    /// By the sandbox, for this reason.
    Stopped(String),
}

/// Signals that say that a limit or the filter ended a process: the filter's, the processor's, the file size's, and
/// the one that nobody can ignore.
const BY_LIMIT: &[i32] = &[31, 24, 25, 9];

/// Judges how a probe ended. `said` is the last line of its output.
pub(crate) fn judge(ending: Ending, name: &str, end: &End, said: &str) -> Outcome {
    let words = said.split_once(": ").map_or(said, |(_, words)| words).to_owned();
    match end {
        End::Exited(0) if ending == Ending::Outlives => Outcome::Held(words),
        End::Exited(0) => Outcome::Through(words),
        End::Exited(10) => Outcome::Held(words),
        End::Exited(20) => Outcome::NotApplicable(words),
        End::Exited(status) => Outcome::Broken(format!("exit status {status}: {said}")),
        // The filter may end who calls what it forbids, whatever the call is.
        End::Signaled(31) => Outcome::Held("ended by the filter".to_owned()),
        End::Signaled(signal) if ending != Ending::Says && BY_LIMIT.contains(signal) => {
            Outcome::Held(format!("ended by signal {signal}"))
        }
        End::Signaled(signal) => Outcome::Broken(format!("ended by signal {signal}: {said}")),
        End::Stopped(reason) if ending == Ending::Says => Outcome::Broken(format!("stopped: {reason}")),
        // Only attacks on the clock may be stopped by the clock: elsewhere another limit should have been first.
        End::Stopped(reason) if reason == "time" && !by_clock(name) => {
            Outcome::Through("only the clock stopped it".to_owned())
        }
        End::Stopped(reason) => Outcome::Held(format!("stopped: {reason}")),
    }
}

/// Whether the clock is what should stop this probe.
pub(crate) fn by_clock(name: &str) -> bool {
    name.starts_with("time-") || name.starts_with("outlive-") || name == "signal-init"
}

/// How a probe is judged, its name, how it ended, and what that means.
type Row<'a> = (Ending, &'a str, End, &'a dyn Fn(&Outcome) -> bool);

/// What `judge` gets wrong, of which it should get nothing wrong.
pub(crate) fn problems() -> Vec<String> {
    let held = |outcome: &Outcome| matches!(outcome, Outcome::Held(_));
    let through = |outcome: &Outcome| matches!(outcome, Outcome::Through(_));
    let broken = |outcome: &Outcome| matches!(outcome, Outcome::Broken(_));
    let not_applicable = |outcome: &Outcome| matches!(outcome, Outcome::NotApplicable(_));
    let rows: &[Row<'_>] = &[
        (Ending::Says, "read-absolute", End::Exited(0), &through),
        (Ending::Says, "read-absolute", End::Exited(10), &held),
        (Ending::Says, "read-absolute", End::Exited(20), &not_applicable),
        (Ending::Says, "read-absolute", End::Exited(101), &broken),
        (Ending::Says, "read-absolute", End::Signaled(11), &broken),
        (Ending::Says, "read-absolute", End::Signaled(9), &broken),
        (Ending::Says, "read-absolute", End::Signaled(31), &held),
        (Ending::Says, "read-absolute", End::Stopped("time".to_owned()), &broken),
        (Ending::Stopped, "memory-own", End::Exited(0), &through),
        (Ending::Stopped, "memory-own", End::Stopped("memory".to_owned()), &held),
        (Ending::Stopped, "memory-own", End::Stopped("time".to_owned()), &through),
        (Ending::Stopped, "memory-own", End::Signaled(9), &held),
        (Ending::Stopped, "time-sleep", End::Stopped("time".to_owned()), &held),
        (Ending::Floods, "output-stdout", End::Stopped("output".to_owned()), &held),
        (Ending::Outlives, "outlive-child", End::Exited(0), &held),
    ];
    rows.iter()
        .map(|(ending, name, end, expect)| (judge(*ending, name, end, "said: so"), name, end, expect))
        .filter(|(outcome, _, _, expect)| !expect(outcome))
        .map(|(outcome, name, end, _)| format!("{name} with {end:?} gave {outcome}"))
        .collect()
}
