//! The report of a run as JSON.

use metier_exec::{ContactReport, LongOutput, RunOutput};
use metier_files::{MEDIA_HEAD, media_type, media_type_by_name};
use metier_proxy::Event;
use metier_sandbox::{Captured, Copied, Ended, Output, OutputKind, Outputs, Stop, Stream};
use serde_json::{Value, json};
use std::io::Read;

/// The streams that were too long and lie in files beside the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'a>(pub(crate) &'a [LongOutput]);

impl<'a> Kept<'a> {
    /// The name of a stream's file.
    pub(crate) fn name(self, stream: Stream) -> Option<&'a str> {
        self.0.iter().find(|long| long.stream == stream).map(|long| long.name.as_str())
    }
}

/// What a file that a script left is in the words of MIME: by its name, and where that says nothing, by its first bytes.
pub(crate) fn media_of(outputs: &Outputs, output: &Output) -> Option<&'static str> {
    if output.kind != OutputKind::File {
        return None;
    }
    media_type_by_name(&output.path).or_else(|| {
        let mut head = Vec::with_capacity(MEDIA_HEAD);
        outputs.open(output).ok()?.take(MEDIA_HEAD as u64).read_to_end(&mut head).ok()?;
        Some(media_type(&output.path, &head))
    })
}

/// A report for programs. Keys are only ever added.
pub(crate) fn json(ran: &RunOutput, kept: Kept<'_>, copied: Option<&Copied>) -> Value {
    let report = &ran.report;
    let (exit_code, signal, stop) = match report.ended {
        Ended::Exited(code) => (Some(code), None, None),
        Ended::Signaled(signal) => (None, Some(signal), None),
        Ended::Stopped(stop) => (None, None, Some(stop)),
    };
    let outputs = report.outputs.entries.iter().map(|output| {
        json!({
            "path": output.path.display().to_string(),
            "kind": output.kind.word(),
            // `null` where it cannot be told.
            "media_type": media_of(&report.outputs, output),
            "size": output.size,
        })
    });
    let left_out = copied.into_iter().flat_map(|copied| &copied.left_out);
    let not_copied =
        left_out.map(|(path, why)| json!({ "path": path.display().to_string(), "reason": why.to_string() }));
    let denied = report
        .denied
        .iter()
        .map(|denied| json!({ "call": denied.call, "what": denied.what, "times": denied.times }));
    let masked = report.containment.masked.iter().map(|path| path.display().to_string());
    json!({
        // `null` when a signal or we ended it.
        "exit_code": exit_code,
        "signal": signal,
        // Which limit it was stopped for.
        "stopped": stop.map(Stop::word),
        "timed_out": stop == Some(Stop::Time),
        "stdout": stream(&report.stdout, Stream::Output, kept),
        "stderr": stream(&report.stderr, Stream::Error, kept),
        "usage": {
            "seconds": report.usage.time.as_secs_f64(),
            // How long of it somebody was being asked.
            "paused_seconds": report.usage.paused.as_secs_f64(),
            "cpu_seconds": report.usage.cpu.as_secs_f64(),
            "memory_bytes": report.usage.memory,
        },
        "outputs": outputs.collect::<Vec<_>>(),
        "outputs_truncated": report.outputs.is_truncated,
        // Of the outputs, what `--out` did not copy, and why.
        "not_copied": not_copied.collect::<Vec<_>>(),
        // What it changed in the project, and what became of that.
        "changes": ran.changes,
        // Whom it reached and whom not, in order.
        "contacts": ran.contacts.events.iter().map(contact).collect::<Vec<_>>(),
        "contacts_left_out": ran.contacts.more,
        "denied": denied.collect::<Vec<_>>(),
        "containment": {
            "tier": report.containment.tier.word(),
            "meter": report.containment.meter.word(),
            "masked": masked.collect::<Vec<_>>(),
        },
        // The folder that held too much, where that is why it was stopped: `bytes` or `files`.
        "overrun": report.overrun.as_ref().map(|overrun| json!({
            "folder": overrun.folder.display().to_string(),
            "of": overrun.of.word(),
            "held": overrun.held,
            "most": overrun.most,
        })),
        "notes": ran.notes,
        "decision": ran.decision.to_string(),
    })
}

fn stream(captured: &Captured, stream: Stream, kept: Kept<'_>) -> Value {
    let file = kept.name(stream);
    let hint = match file {
        Some(name) => format!("; all of it is in {name}"),
        None => "; --out DIR keeps all of it".to_owned(),
    };
    json!({
        "text": captured.text_with(&hint),
        "bytes": captured.total,
        "truncated": captured.is_truncated(),
        // The file with more of it, in the folder that was named for results.
        "file": file,
    })
}

fn contact(event: &Event) -> Value {
    let ContactReport { host, outcome, up, down } = event.into();
    json!({
        // `host:port`; of something that was no request, nothing.
        "host": host,
        "way": event.contact().map(|contact| contact.way.word()),
        "outcome": outcome,
        "message": event.to_string(),
        "bytes_up": up,
        "bytes_down": down,
    })
}
