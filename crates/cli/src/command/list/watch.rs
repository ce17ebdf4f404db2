//! `list --watch`: the listing, then a line for each change as it happens. What the lines of `--json` mean is documented in
//! `docs/watching.md`.

use super::text::NAME_COLUMN;
use super::write;
use crate::args::List;
use crate::output::{Output, Tone, clean};
use crate::signals;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Catalog, Change, ChangeKind, Include, State, WatchOptions, Watcher, Watching};
use metier_diagnostic::{Diagnostic, JsonDiagnostic, Severity};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often it is looked for changes where the system does not tell of them. People do not wait longer for a line on
/// their terminal, and a look at 10,000 skills is a fiftieth of it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Whoever takes the watcher out and drops it ends the watching.
type Handle = Arc<Mutex<Option<Watcher>>>;

pub(super) fn run(
    args: &List,
    include: Include,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    let catalog = Catalog::load(surroundings.places.clone(), surroundings.layout.choice.clone(), include);
    let catalog = Arc::new(catalog);
    let watcher = catalog.watch(WatchOptions::default());
    let (news, mut watching) = (watcher.subscribe(), watcher.watching());
    let snapshot = watcher.snapshot();
    let handle: Handle = Arc::new(Mutex::new(Some(watcher)));
    let ended = Arc::clone(&handle);
    // Before anything is written, so that Ctrl-C ends it well from the first line on.
    signals::hear(&[SIGINT, SIGTERM], move |_| drop(lock(&ended).take()))?;

    write(args, surroundings, &snapshot, output)?;
    say_how(watching, output)?;
    let mut said: Vec<Diagnostic> = snapshot.diagnostics().to_vec();
    drop(snapshot);
    loop {
        let told = match watching {
            Watching::Events { .. } => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Watching::OnUse { .. } => news.recv_timeout(LOOK_EVERY),
        };
        match told {
            Ok(news) => {
                for change in &*news.changes {
                    write_change(change, surroundings, output)?;
                }
                let now = catalog.snapshot();
                write_new(&said, now.diagnostics(), surroundings, output)?;
                said = now.diagnostics().to_vec();
                if matches!((watching, news.watching), (Watching::Events { .. }, Watching::OnUse { .. })) {
                    say_how(news.watching, output)?;
                }
                watching = news.watching;
                output.flush()?;
            }
            // To ask is to look, and what is found is told.
            Err(RecvTimeoutError::Timeout) => drop(lock(&handle).as_ref().map(Watcher::snapshot)),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn lock(handle: &Handle) -> MutexGuard<'_, Option<Watcher>> {
    handle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says how changes are noticed. That is no result, so people are told beside it.
fn say_how(watching: Watching, output: &mut Output) -> Result<()> {
    if output.is_json() {
        output.json(&match watching {
            Watching::Events { folders } => json!({ "watching": "events", "folders": folders }),
            Watching::OnUse { why } => json!({ "watching": "on-use", "why": why.to_string() }),
        })?;
        return output.flush();
    }
    output.flush()?;
    let how = match watching {
        Watching::Events { .. } => watching.to_string(),
        Watching::OnUse { why } => format!("checking every {} s, since {why}", LOOK_EVERY.as_secs()),
    };
    output.aside(&format!("{how}; Ctrl-C ends it"))
}

fn write_change(change: &Change, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({
            "change": change.kind,
            "name": change.name,
            "path": change.path.display().to_string(),
            "state": change.state,
            "reason": change.reason.as_ref().map(JsonDiagnostic::from),
        }));
    }
    let tone = match change.kind {
        ChangeKind::Added | ChangeKind::Mended => Tone::Good,
        ChangeKind::Changed => Tone::Strong,
        ChangeKind::Removed => Tone::Dim,
        ChangeKind::Broken => Tone::Bad,
    };
    let word = output.tinted(tone, &format!("{:<8}", change.kind.word()));
    let name = clean(&change.name);
    let mut place = clean(&surroundings.shown(&change.path));
    let line = match &change.reason {
        Some(reason) => {
            if let (Some(line), Some(column)) = (reason.line(), reason.column()) {
                place.push_str(&format!(":{line}:{column}"));
            }
            format!("{place}: {}", clean(&reason.message))
        }
        None => match change.state.filter(|state| *state != State::Ready) {
            Some(state) => format!("{place} ({state})"),
            None => place,
        },
    };
    output.line(format!("{word} {name:<NAME_COLUMN$} {line}"))
}

/// What is said of the whole now and was not before, such as of a configuration that does not parse any more.
fn write_new(
    before: &[Diagnostic],
    now: &[Diagnostic],
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    for diagnostic in now.iter().filter(|now| now.severity() >= Severity::Warning && !before.contains(now)) {
        if output.is_json() {
            output.json(&json!({ "diagnostic": JsonDiagnostic::from(diagnostic) }))?;
        } else {
            output.diagnostic(&surroundings.relative(diagnostic), None)?;
        }
    }
    Ok(())
}
