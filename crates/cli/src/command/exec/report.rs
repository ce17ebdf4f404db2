//! The report of a run as JSON.

use metier_runtime::Ran;
use metier_sandbox::{Captured, Ended, Stop};
use serde::Serialize;

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
    denied: Vec<Denied>,
    containment: Containment,
    notes: Vec<String>,
    decision: String,
}

#[derive(Serialize)]
struct Stream {
    text: String,
    bytes: u64,
    truncated: bool,
}

impl From<&Captured> for Stream {
    fn from(captured: &Captured) -> Self {
        Self { text: captured.text(), bytes: captured.total, truncated: captured.is_truncated() }
    }
}

#[derive(Serialize)]
struct Usage {
    seconds: f64,
    cpu_seconds: f64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Output {
    path: String,
    kind: &'static str,
    size: u64,
}

#[derive(Serialize)]
struct Denied {
    call: String,
    what: String,
    times: u32,
}

#[derive(Serialize)]
struct Containment {
    tier: &'static str,
    meter: &'static str,
    masked: Vec<String>,
}

impl Json {
    pub(crate) fn of(ran: &Ran) -> Self {
        let report = &ran.report;
        let (exit_code, signal, stop) = match report.ended {
            Ended::Exited(code) => (Some(code), None, None),
            Ended::Signaled(signal) => (None, Some(signal), None),
            Ended::Stopped(stop) => (None, None, Some(stop)),
        };
        let outputs = report.outputs.entries.iter().map(|output| Output {
            path: output.path.display().to_string(),
            kind: output.kind.word(),
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
            stdout: (&report.stdout).into(),
            stderr: (&report.stderr).into(),
            usage: Usage {
                seconds: report.usage.time.as_secs_f64(),
                cpu_seconds: report.usage.cpu.as_secs_f64(),
                memory_bytes: report.usage.memory,
            },
            outputs: outputs.collect(),
            outputs_truncated: report.outputs.is_truncated,
            denied: denied.collect(),
            containment: Containment {
                tier: report.containment.tier.word(),
                meter: report.containment.meter.word(),
                masked: report.containment.masked.iter().map(|path| path.display().to_string()).collect(),
            },
            notes: ran.notes.clone(),
            decision: ran.decision.to_string(),
        }
    }
}
