//! What became of a process, as whoever keeps records of it wants to know.

use std::path::Path;
use std::time::Duration;

use metier_proxy::Event;
use metier_sandbox::{Denied, Ended, Report, Stop, Tier};
use metier_secret::Redactor;

use crate::call_changes::ChangeReport;
use crate::long_output::LongOutput;
use crate::network_access::NetworkContacts;

/// How many names, places and contacts a record lists of each kind. A record is kept for good; whoever needs all of them runs
/// the script by `metier exec --json`.
const MOST_LISTED: usize = 100;

/// What became of a process: how it ended, what it used up, whom it reached. Everything in it may be kept: what nobody may see
/// has been taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    /// How it ended.
    pub ended: Ended,
    /// How long it took, on the wall.
    pub time: Duration,
    /// For how much of it the clock stood still, since somebody was being asked.
    pub paused: Duration,
    /// Processor time of all its processes.
    pub cpu: Duration,
    /// The most memory that they held together, in bytes.
    pub memory: u64,
    /// How many bytes it wrote to its standard output.
    pub stdout: u64,
    /// How many bytes it wrote to its standard error.
    pub stderr: u64,
    /// Whether a part of that did not reach the model at once.
    pub truncated: bool,
    /// Files that hold what the model did not get at once, as it can open them.
    pub outputs: Vec<String>,
    /// What held it.
    pub tier: Tier,
    /// Whom it reached and whom not, in order.
    pub contacts: Vec<ContactReport>,
    /// What it tried and was not given, a sentence each.
    pub denied: Vec<String>,
    /// Files that look like secrets and could not be opened, seen from the project.
    pub masked: Vec<String>,
    /// Paths of the project that it changed and that were applied.
    pub changes: Vec<String>,
    /// How much of these four lists was left out.
    pub left_out: usize,
}

/// One contact of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactReport {
    /// `host:port`; of something that was no request, nothing.
    pub host: Option<String>,
    /// How it ended.
    pub outcome: ContactOutcome,
    /// Bytes from the process to the host.
    pub up: u64,
    /// Bytes from the host to the process.
    pub down: u64,
}

/// How a contact ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactOutcome {
    /// It was made.
    Passed,
    /// It was not allowed, or was cut.
    Refused,
    /// It was allowed and could not be made.
    Failed,
    /// It was no request.
    Malformed,
    /// It is not over.
    Open,
}

impl ContactOutcome {
    /// The word for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Malformed => "malformed",
            Self::Open => "open",
        }
    }
}

impl From<&Event> for ContactReport {
    fn from(event: &Event) -> Self {
        let (outcome, up, down) = match event {
            Event::Refused { .. } => (ContactOutcome::Refused, 0, 0),
            Event::Failed { .. } => (ContactOutcome::Failed, 0, 0),
            Event::Ended { carried, .. } => (ContactOutcome::Passed, carried.up, carried.down),
            Event::Malformed { .. } => (ContactOutcome::Malformed, 0, 0),
            Event::Asking(_) | Event::Answered(_) | Event::Passed { .. } => (ContactOutcome::Open, 0, 0),
        };
        Self { host: event.contact().map(ToString::to_string), outcome, up, down }
    }
}

impl ProcessReport {
    /// What a report and its contacts come to, without what `redactor` knows.
    pub(super) fn of(
        report: &Report,
        contacts: &NetworkContacts,
        long: &[LongOutput],
        project: Option<&Path>,
        redactor: &Redactor,
    ) -> Self {
        let mut left_out = contacts.more;
        let mut contacts: Vec<ContactReport> = contacts.events.iter().map(ContactReport::from).collect();
        for host in contacts.iter_mut().filter_map(|contact| contact.host.as_mut()) {
            *host = redactor.text(host).into_owned();
        }
        let shown = |path: &Path| {
            let path = project.and_then(|project| path.strip_prefix(project).ok()).unwrap_or(path);
            redactor.text(&path.display().to_string()).into_owned()
        };
        let mut denied: Vec<String> =
            report.denied.iter().map(|denied| redactor.text(&sentence(denied)).into_owned()).collect();
        let mut masked: Vec<String> = report.containment.masked.iter().map(|path| shown(path)).collect();
        left_out += shorten(&mut contacts) + shorten(&mut denied) + shorten(&mut masked);
        let usage = report.usage;
        Self {
            ended: report.ended,
            time: usage.time,
            paused: usage.paused,
            cpu: usage.cpu,
            memory: usage.memory,
            stdout: report.stdout.total,
            stderr: report.stderr.total,
            truncated: !long.is_empty(),
            outputs: Vec::new(),
            tier: report.containment.tier,
            contacts,
            denied,
            masked,
            changes: Vec::new(),
            left_out,
        }
    }

    /// Adds what became of its changes of the project.
    pub(crate) fn set_changes(&mut self, report: &ChangeReport) {
        self.changes = report.applied().map(|change| change.path.clone()).collect();
        self.left_out += shorten(&mut self.changes);
    }

    /// Its exit status, where it ended by itself.
    pub fn exit(&self) -> Option<i32> {
        if let Ended::Exited(status) = self.ended { Some(status) } else { None }
    }

    /// The signal that ended it, where one did that we did not send.
    pub fn signal(&self) -> Option<i32> {
        if let Ended::Signaled(signal) = self.ended { Some(signal) } else { None }
    }

    /// Why it was ended from outside, where it was.
    pub fn stop(&self) -> Option<Stop> {
        if let Ended::Stopped(stop) = self.ended { Some(stop) } else { None }
    }
}

/// What was tried and not given, in words.
fn sentence(denied: &Denied) -> String {
    match denied.times {
        0 | 1 => format!("{} ({})", denied.what, denied.call),
        times => format!("{} ({}), {times} times", denied.what, denied.call),
    }
}

/// Cuts a list to what is kept of it; says how much went.
fn shorten<T>(list: &mut Vec<T>) -> usize {
    let more = list.len().saturating_sub(MOST_LISTED);
    list.truncate(MOST_LISTED);
    more
}
