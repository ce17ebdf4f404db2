//! The report of a run as JSON.

use metier_exec::{ChangeReport, ContactReport, LongOutput, RunOutput};
use metier_files::{MEDIA_HEAD, media_type, media_type_by_name};
use metier_proxy::Event;
use metier_sandbox::{Captured, Copied, Ended, LeaveOut, OutputKind, Outputs, Stop};
use serde::Serialize;
use std::io::Read;
use std::path::PathBuf;

/// A report for programs. Fields are only ever added.
#[derive(Serialize)]
pub(crate) struct Json {
    /// The script's status; `null` when a signal or we ended it.
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// Which limit it was stopped for.
    stopped: Option<&'static str>,
    timed_out: bool,
    stdout: Stream,
    stderr: Stream,
    usage: Usage,
    outputs: Vec<Output>,
    outputs_truncated: bool,
    /// Of the outputs, what `--out` did not copy, and why.
    not_copied: Vec<NotCopied>,
    /// What it changed in the project, and what became of that.
    changes: Option<ChangeReport>,
    /// Whom it reached and whom not, in order.
    contacts: Vec<Contact>,
    contacts_left_out: usize,
    denied: Vec<Denied>,
    containment: Containment,
    /// The folder that held too much, where that is why it was stopped.
    overrun: Option<Overrun>,
    notes: Vec<String>,
    decision: String,
}

#[derive(Serialize)]
struct Stream {
    text: String,
    bytes: u64,
    truncated: bool,
    /// The file with more of it, in the folder that was named for results.
    file: Option<String>,
}

impl Stream {
    fn of(captured: &Captured, stream: metier_sandbox::Stream, kept: Kept<'_>) -> Self {
        let file = kept.name(stream);
        let hint = match file {
            Some(name) => format!("; all of it is in {name}"),
            None => "; --out DIR keeps all of it".to_owned(),
        };
        Self {
            text: captured.text_with(&hint),
            bytes: captured.total,
            truncated: captured.is_truncated(),
            file: file.map(str::to_owned),
        }
    }
}

/// The streams that were too long and lie in files beside the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'a>(pub(crate) &'a [LongOutput]);

impl<'a> Kept<'a> {
    /// The name of a stream's file.
    pub(crate) fn name(self, stream: metier_sandbox::Stream) -> Option<&'a str> {
        self.0.iter().find(|long| long.stream == stream).map(|long| long.name.as_str())
    }
}

#[derive(Serialize)]
struct Usage {
    seconds: f64,
    /// How long of it somebody was being asked.
    paused_seconds: f64,
    cpu_seconds: f64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Output {
    path: String,
    kind: &'static str,
    /// Of a file, what it is in the words of MIME; `null` where it cannot be told.
    media_type: Option<&'static str>,
    size: u64,
}

/// What a file that a script left is in the words of MIME: by its name, and where that says nothing, by its first bytes.
pub(crate) fn media_of(outputs: &Outputs, output: &metier_sandbox::Output) -> Option<&'static str> {
    if output.kind != OutputKind::File {
        return None;
    }
    media_type_by_name(&output.path).or_else(|| {
        let mut head = Vec::with_capacity(MEDIA_HEAD);
        outputs.open(output).ok()?.take(MEDIA_HEAD as u64).read_to_end(&mut head).ok()?;
        Some(media_type(&output.path, &head))
    })
}

#[derive(Serialize)]
struct NotCopied {
    path: String,
    reason: String,
}

#[derive(Serialize)]
struct Contact {
    /// `host:port`; of something that was no request, nothing.
    host: Option<String>,
    way: Option<&'static str>,
    outcome: &'static str,
    message: String,
    bytes_up: u64,
    bytes_down: u64,
}

impl From<&(PathBuf, LeaveOut)> for NotCopied {
    fn from((path, reason): &(PathBuf, LeaveOut)) -> Self {
        Self { path: path.display().to_string(), reason: reason.to_string() }
    }
}

impl From<&Event> for Contact {
    fn from(event: &Event) -> Self {
        let ContactReport { host, outcome, up, down } = event.into();
        Self {
            host,
            way: event.contact().map(|contact| contact.way.word()),
            outcome: outcome.word(),
            message: event.to_string(),
            bytes_up: up,
            bytes_down: down,
        }
    }
}

#[derive(Serialize)]
struct Denied {
    call: String,
    what: String,
    times: u32,
}

#[derive(Serialize)]
struct Overrun {
    folder: String,
    /// `bytes` or `files`.
    of: &'static str,
    held: u64,
    most: u64,
}

#[derive(Serialize)]
struct Containment {
    tier: &'static str,
    meter: &'static str,
    masked: Vec<String>,
}

impl Json {
    pub(crate) fn of(ran: &RunOutput, kept: Kept<'_>, copied: Option<&Copied>) -> Self {
        let report = &ran.report;
        let (exit_code, signal, stop) = match report.ended {
            Ended::Exited(code) => (Some(code), None, None),
            Ended::Signaled(signal) => (None, Some(signal), None),
            Ended::Stopped(stop) => (None, None, Some(stop)),
        };
        let outputs = report.outputs.entries.iter().map(|output| Output {
            path: output.path.display().to_string(),
            kind: output.kind.word(),
            media_type: media_of(&report.outputs, output),
            size: output.size,
        });
        let denied = report.denied.iter().map(|denied| Denied {
            call: denied.call.clone(),
            what: denied.what.clone(),
            times: denied.times,
        });
        Self {
            exit_code,
            signal,
            stopped: stop.map(Stop::word),
            timed_out: stop == Some(Stop::Time),
            stdout: Stream::of(&report.stdout, metier_sandbox::Stream::Output, kept),
            stderr: Stream::of(&report.stderr, metier_sandbox::Stream::Error, kept),
            usage: Usage {
                seconds: report.usage.time.as_secs_f64(),
                paused_seconds: report.usage.paused.as_secs_f64(),
                cpu_seconds: report.usage.cpu.as_secs_f64(),
                memory_bytes: report.usage.memory,
            },
            outputs: outputs.collect(),
            outputs_truncated: report.outputs.is_truncated,
            not_copied: copied.into_iter().flat_map(|copied| &copied.left_out).map(NotCopied::from).collect(),
            changes: ran.changes.clone(),
            contacts: ran.contacts.events.iter().map(Contact::from).collect(),
            contacts_left_out: ran.contacts.more,
            denied: denied.collect(),
            containment: Containment {
                tier: report.containment.tier.word(),
                meter: report.containment.meter.word(),
                masked: report.containment.masked.iter().map(|path| path.display().to_string()).collect(),
            },
            overrun: report.overrun.as_ref().map(|overrun| Overrun {
                folder: overrun.folder.display().to_string(),
                of: overrun.of.word(),
                held: overrun.held,
                most: overrun.most,
            }),
            notes: ran.notes.clone(),
            decision: ran.decision.to_string(),
        }
    }
}
