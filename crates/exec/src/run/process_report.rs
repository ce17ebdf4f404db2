//! What became of a process, as whoever keeps records of it wants to know.

use std::path::Path;
use std::time::Duration;

use metier_proxy::Event;
use metier_sandbox::{Denied, Ended, Report, Stop};
use metier_secret::Redactor;
use serde::Serialize;

use crate::call_changes::ChangeReport;
use crate::long_output::LongOutput;
use crate::network_access::NetworkContacts;

/// How many names, places and contacts a record lists of each kind. A record is kept for good; whoever needs all of them runs
/// the script by `metier exec --json`.
const MAX_LISTED: usize = 100;

/// What became of a process: how it ended, what it used up, whom it reached, in the words that records have. Everything in it
/// may be kept: what nobody may see has been taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessReport {
    /// How it ended.
    #[serde(flatten)]
    pub end: ProcessEnd,
    /// How long it took, on the wall.
    pub ms: u64,
    /// For how much of it the clock stood still, since somebody was being asked.
    pub paused_ms: u64,
    /// Processor time of all its processes.
    pub cpu_ms: u64,
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
    pub tier: &'static str,
    /// Whom it reached and whom not, in order.
    pub contacts: Vec<ContactReport>,
    /// What it tried and was not given, a sentence each.
    pub denied: Vec<String>,
    /// Files that look like secrets and could not be opened, seen from the project.
    pub masked: Vec<String>,
    /// Paths of the project that it changed and that were applied. Records have them elsewhere.
    #[serde(skip)]
    pub changes: Vec<String>,
    /// How much of these four lists was left out.
    pub left_out: usize,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessEnd {
    /// Its exit status, where it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it, where one did that we did not send.
    pub signal: Option<i32>,
    /// Why it was ended from outside, where it was.
    pub stopped: Option<&'static str>,
    /// Whether its time was up.
    pub timed_out: bool,
}

impl From<Ended> for ProcessEnd {
    fn from(ended: Ended) -> Self {
        let (exit, signal, stop) = match ended {
            Ended::Exited(status) => (Some(status), None, None),
            Ended::Signaled(signal) => (None, Some(signal), None),
            Ended::Stopped(stop) => (None, None, Some(stop)),
        };
        Self { exit, signal, stopped: stop.map(Stop::word), timed_out: stop == Some(Stop::Time) }
    }
}

/// One contact of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContactReport {
    /// `host:port`; of something that was no request, nothing.
    pub host: Option<String>,
    /// `passed`, `refused`, `failed`, `malformed`, or `open` while it is not over.
    pub outcome: &'static str,
    /// Bytes from the process to the host.
    pub up: u64,
    /// Bytes from the host to the process.
    pub down: u64,
}

impl From<&Event> for ContactReport {
    fn from(event: &Event) -> Self {
        let (outcome, up, down) = match event {
            Event::Refused { .. } => ("refused", 0, 0),
            Event::Failed { .. } => ("failed", 0, 0),
            Event::Ended { carried, .. } => ("passed", carried.up, carried.down),
            Event::Malformed { .. } => ("malformed", 0, 0),
            Event::Asking(_) | Event::Answered(_) | Event::Passed { .. } => ("open", 0, 0),
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
            end: report.ended.into(),
            ms: milliseconds(usage.time),
            paused_ms: milliseconds(usage.paused),
            cpu_ms: milliseconds(usage.cpu),
            memory: usage.memory,
            stdout: report.stdout.total,
            stderr: report.stderr.total,
            truncated: !long.is_empty(),
            outputs: Vec::new(),
            tier: report.containment.tier.word(),
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
}

/// A time as records have it.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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
    let more = list.len().saturating_sub(MAX_LISTED);
    list.truncate(MAX_LISTED);
    more
}
