//! `exec`: one script of a skill, contained.

mod report;

use self::report::{Kept, media_of};
use crate::args::{Exec, Global};
use crate::declared::may_start;
use crate::exit::Exit;
use crate::gatekeeper::Gatekeeper;
use crate::head_start::HeadStart;
use crate::interrupt;
use crate::needs::Flags;
use crate::output::{Form, Output, clean};
use crate::screen;
use crate::script_output::ScriptOutput;
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Ready, Workplace};
use anyhow::{Context, Result};
use metier_diagnostic::counted;
use metier_policy::Ruling;
use metier_runtime::{LongOutput, NotRun, Ran, ResultFolder, ResultOptions, Words, run_script, why_stopped};
use metier_sandbox::{Copied, Ended, Existing, LeaveOut, Limits, OutputKind, Outputs, Report, Stop, Stream};
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a script may take where nobody says.
const TIME: Duration = Duration::from_mins(2);

pub(crate) fn run(
    args: &Exec,
    global: &Global,
    surroundings: &Surroundings,
    head_start: HeadStart,
    output: &mut Output,
) -> Result<Exit> {
    may_start(surroundings)?;
    let ready = Ready::for_one(head_start);
    let flags = Flags { hosts: &args.hosts, write: &args.write, env: &args.env };
    let mut place = Workplace::of(&args.name, Active::Yes, ready, &flags, surroundings)?;
    let mut keeper = Gatekeeper::new(global, &place.needs.allowed, surroundings)?;
    keeper.report_problems();
    for problem in &place.needs.problems {
        output.aside(&clean(problem))?;
    }
    let time = args.timeout.map(Duration::from_secs).or(place.needs.seconds).unwrap_or(TIME);
    let limits = Limits { time, ..Limits::default() };
    let existing = if args.force { Existing::Replaced } else { Existing::Stay };
    let options = ResultOptions { existing, hidden: args.with_hidden };
    // Before anything runs: results that have nowhere to go would be lost.
    let results = surroundings.result_folder(args.out.as_deref(), options)?;
    let out = args.out.as_deref().zip(results.as_ref());
    let cancel = interrupt::listen()?;
    let finish = |ran: &Ran, output: &mut Output| finish(ran, out, &limits, output);
    // What a run that failed to write came to, while it is asked whether it shall be run again.
    let mut earlier: Option<Ran> = None;
    loop {
        let form = output.form();
        let mut shown = ScriptOutput::new(form);
        let ran = place.with(&keeper, limits.clone(), |bench, using| {
            let words = Words::Split(args.arguments.clone());
            interrupt::during(&cancel, || {
                run_script(bench, using, &args.script, &words, Some(&cancel), &mut |stream, bytes| {
                    shown.show(stream, bytes);
                })
            })
        });
        match (ran, earlier.take()) {
            (Ok(ran), None) if !ran.unwritten.is_empty() && keeper.can_ask() && !cancel.is_cancelled() => {
                output.aside("it could not write to the project; run it again with that?")?;
                ran.unwritten.iter().for_each(|glob| place.needs.wants.write(glob.clone()));
                earlier = Some(ran);
            }
            (Ok(ran), _) => return finish(&ran, output),
            (Err(NotRun::Gate { action, decision }), before) => {
                if keeper.ask(&action, &decision)? {
                    earlier = before;
                    continue;
                }
                if let Some(before) = before {
                    return finish(&before, output);
                }
                return refused(&keeper, &action.sentence(), &decision, output);
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// Says what was refused and what would allow it.
pub(crate) fn refused(
    keeper: &Gatekeeper,
    action: &str,
    decision: &metier_policy::Decision,
    output: &mut Output,
) -> Result<Exit> {
    keeper.remember(action, decision);
    match output.form() {
        Form::Json => output.json(&serde_json::json!({
            "refused": true,
            "action": action,
            "decision": decision.to_string(),
            "allow_with": decision.allow_with.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?,
        Form::Text => {
            for line in [action, &decision.to_string(), "`metier explain --last` says it again"] {
                screen::err_line(screen::harmless(line));
            }
        }
    }
    // What a yes would have allowed is told apart from what nobody can allow here.
    let needs_yes = decision.ruling == Ruling::Ask || decision.question.is_some();
    Ok(if needs_yes { Exit::NeedsYes } else { Exit::Failed })
}

fn finish(
    ran: &Ran,
    out: Option<(&Path, &ResultFolder)>,
    limits: &Limits,
    output: &mut Output,
) -> Result<Exit> {
    let taken = match out {
        Some((folder, results)) => Some(
            take_along(ran, results)
                .map_err(|error| anyhow::anyhow!("{}", ran.redacted(&error.to_string())))
                .with_context(|| format!("results could not be copied to {}", folder.display()))?,
        ),
        None => None,
    };
    let kept = Kept(taken.as_ref().map_or(&[], |taken| &taken.long));
    let copied = taken.as_ref().map(|taken| &taken.copied);
    match output.form() {
        Form::Json => {
            let mut report = serde_json::to_value(report::Json::of(ran, kept, copied))?;
            ran.redact_json(&mut report);
            output.json(&report)?;
        }
        Form::Text => {
            for line in closing_lines(ran, out.map(|(folder, _)| folder), copied, kept, limits) {
                output.aside(&clean(&ran.redacted(&line)))?;
            }
        }
    }
    // What lies there now is not what the script made, so whoever goes on with it has to know.
    let is_stale =
        copied.is_some_and(|copied| copied.left_out.iter().any(|(_, why)| *why == LeaveOut::Exists));
    Ok(if ran.report.succeeded() && !is_stale { Exit::Fine } else { Exit::Failed })
}

/// What was copied to the folder for results.
struct Taken {
    copied: Copied,
    /// The streams that are too long for a report.
    long: Vec<LongOutput>,
}

fn take_along(ran: &Ran, results: &ResultFolder) -> io::Result<Taken> {
    let mut taken = Taken { copied: results.take(&ran.report.outputs)?, long: Vec::new() };
    for long in &ran.long {
        match results.put(&long.name, &long.bytes)? {
            Some(why) => taken.copied.left_out.push(((&long.name).into(), why)),
            None => taken.long.push(long.clone()),
        }
    }
    Ok(taken)
}

/// How many files that a script changed are named; whoever wants all of them asks for the report.
const MOST_CHANGES: usize = 10;

/// How many of the files that are taken along are named.
const MOST_RESULTS: usize = 10;

/// What is to be said after the script's own words.
fn closing_lines(
    ran: &Ran,
    out: Option<&Path>,
    copied: Option<&Copied>,
    kept: Kept<'_>,
    limits: &Limits,
) -> Vec<String> {
    let Report { ended, outputs, stdout, stderr, .. } = &ran.report;
    let mut lines = ran.notes.clone();
    for (name, stream, captured) in
        [("standard output", Stream::Output, stdout), ("standard error", Stream::Error, stderr)]
    {
        let total = captured.total;
        match (out, kept.name(stream)) {
            (Some(folder), Some(file)) => {
                lines.push(format!("{name}: {total} bytes, kept in {}", folder.join(file).display()));
            }
            _ if captured.is_truncated() => lines.push(format!(
                "{name}: {total} bytes, of which the report keeps beginning and end; --out DIR keeps all of it"
            )),
            _ => {}
        }
    }
    let changed = &ran.report.changes;
    for change in changed.entries.iter().take(MOST_CHANGES) {
        lines.push(format!("{}: {}", change.kind.word(), change.path.display()));
    }
    match changed.entries.len().saturating_sub(MOST_CHANGES) {
        0 if changed.is_partial => {
            lines.push("there was too much to look at; more may have changed".to_owned());
        }
        0 => {}
        more => lines.push(format!("and {more} more changed; --json lists all")),
    }
    let files = outputs.entries.len();
    match (out, copied) {
        (Some(folder), Some(copied)) => {
            lines.extend(taken(outputs, copied));
            lines.push(format!(
                "{} copied to {}",
                counted(copied.entries, "result", "results"),
                folder.display()
            ));
            // What the user can do something about comes first.
            let mut left_out: Vec<_> = copied.left_out.iter().collect();
            left_out.sort_by_key(|(_, why)| *why != LeaveOut::Exists);
            for (path, why) in left_out.iter().take(MOST_RESULTS) {
                lines.push(format!("not copied: {}: {why}", path.display()));
            }
            if let more @ 1.. = copied.left_out.len().saturating_sub(MOST_RESULTS) {
                lines.push(format!("not copied: {more} more; --json lists all"));
            }
            if outputs.is_truncated {
                lines.push("there was more, and deeper down, than is copied".to_owned());
            }
        }
        _ if files > 0 => lines.push(format!(
            "the script left {} in its scratch folder; --out DIR takes that along",
            counted(files, "file or folder", "files or folders")
        )),
        _ => {}
    }
    match ended {
        Ended::Exited(0) => {}
        Ended::Exited(status) => lines.push(format!("the script ended with status {status}")),
        Ended::Signaled(signal) => lines.push(format!("a signal ended the script ({signal})")),
        Ended::Stopped(Stop::Time) => lines.push(format!(
            "the script was stopped: it took longer than {} s; allow more with --timeout",
            limits.time.as_secs()
        )),
        Ended::Stopped(_) => {
            let why = why_stopped(&ran.report, limits).unwrap_or_default();
            lines.push(format!("the script was stopped: {why}"));
        }
    }
    lines
}

/// The files that are taken along, each with what it is and how large.
fn taken(outputs: &Outputs, copied: &Copied) -> Vec<String> {
    let is_left_out = |path: &Path| copied.left_out.iter().any(|(left_out, _)| path.starts_with(left_out));
    let is_taken =
        |output: &&metier_sandbox::Output| output.kind == OutputKind::File && !is_left_out(&output.path);
    let files = || outputs.entries.iter().filter(is_taken);
    let line = |output: &metier_sandbox::Output| {
        let metier_sandbox::Output { path, size, .. } = output;
        let media = media_of(outputs, output).unwrap_or("of an unknown type");
        let unit = if *size == 1 { "byte" } else { "bytes" };
        format!("result: {} ({media}, {size} {unit})", path.display())
    };
    let mut lines: Vec<String> = files().take(MOST_RESULTS).map(line).collect();
    match files().count().saturating_sub(MOST_RESULTS) {
        0 => {}
        more => lines.push(format!("and {}; --json lists all", counted(more, "more file", "more files"))),
    }
    lines
}
