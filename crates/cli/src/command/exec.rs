//! `exec`: one script of a skill, contained.

mod report;

use self::report::{Kept, media_of};
use crate::args::{Exec, Global};
use crate::declared::may_start;
use crate::exit::Exit;
use crate::gatekeeper::Gatekeeper;
use crate::head_start::HeadStart;
use crate::needs::Flags;
use crate::output::{Form, Output, clean};
use crate::screen;
use crate::script_output::ScriptOutput;
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Ready, Workplace};
use anyhow::{Context, Result};
use metier_diagnostic::counted;
use metier_policy::Ruling;
use metier_runtime::{NotRun, Ran, Words, run_script, why_stopped};
use metier_sandbox::{Ended, Limits, OutputKind, Outputs, Report, Stop, Stream};
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
    let finish = |ran: &Ran, output: &mut Output| finish(ran, args.out.as_deref(), &limits, output);
    // What a run that failed to write came to, while it is asked whether it shall be run again.
    let mut earlier: Option<Ran> = None;
    loop {
        let form = output.form();
        let mut shown = ScriptOutput::new(form);
        let ran = place.with(&keeper, limits.clone(), |bench, using| {
            let words = Words::Split(args.arguments.clone());
            run_script(bench, using, &args.script, &words, None, &mut |stream, bytes| {
                shown.show(stream, bytes);
            })
        });
        match (ran, earlier.take()) {
            (Ok(ran), None) if !ran.unwritten.is_empty() && keeper.can_ask() => {
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

fn finish(ran: &Ran, out: Option<&Path>, limits: &Limits, output: &mut Output) -> Result<Exit> {
    let left_out = match out {
        Some(folder) => Some(
            take_along(ran, folder)
                .map_err(|error| anyhow::anyhow!("{}", ran.redacted(&error.to_string())))
                .with_context(|| format!("results could not be copied to {}", folder.display()))?,
        ),
        None => None,
    };
    let kept = Kept(if out.is_some() { &ran.long } else { &[] });
    match output.form() {
        Form::Json => {
            let mut report = serde_json::to_value(report::Json::of(ran, kept))?;
            ran.redact_json(&mut report);
            output.json(&report)?;
        }
        Form::Text => {
            for line in closing_lines(ran, out, left_out, kept, limits) {
                output.aside(&clean(&ran.redacted(&line)))?;
            }
        }
    }
    Ok(if ran.report.succeeded() { Exit::Fine } else { Exit::Failed })
}

/// Copies what the script left, and the streams that are too long for a report; gives how many links and special files were
/// left out.
fn take_along(ran: &Ran, folder: &Path) -> io::Result<usize> {
    let left_out = ran.report.outputs.copy_to(folder)?.len();
    for long in &ran.long {
        Outputs::put(folder, &long.name, &long.bytes)?;
    }
    Ok(left_out)
}

/// How many files that a script changed are named; whoever wants all of them asks for the report.
const MOST_CHANGES: usize = 10;

/// How many of the files that are taken along are named.
const MOST_RESULTS: usize = 10;

/// What is to be said after the script's own words.
fn closing_lines(
    ran: &Ran,
    out: Option<&Path>,
    left_out: Option<usize>,
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
    match (out, left_out) {
        (Some(folder), Some(left_out)) => {
            lines.extend(taken(outputs));
            lines.push(format!(
                "{} copied to {}",
                counted(files - left_out, "result", "results"),
                folder.display()
            ));
            if left_out > 0 {
                let left_out = counted(left_out, "link or special file was", "links or special files were");
                lines.push(format!("{left_out} left out"));
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
fn taken(outputs: &Outputs) -> Vec<String> {
    let files = || outputs.entries.iter().filter(|output| output.kind == OutputKind::File);
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
