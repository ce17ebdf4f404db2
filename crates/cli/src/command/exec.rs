//! `exec`: one script of a skill, contained.

mod report;

use self::report::{Kept, media_of};
use crate::agency;
use crate::args::Exec;
use crate::declared::may_start;
use crate::exit::Exit;
use crate::head_start::HeadStart;
use crate::interrupt;
use crate::output::{Output, clean};
use crate::screen;
use crate::script_output::ScriptOutput;
use crate::surroundings::Surroundings;
use crate::typed_path::glob_in_project;
use anyhow::{Context, Result};
use metier_diagnostic::counted;
use metier_exec::{
    ChangeReport, ChangeState, DeclaredNeeds, LongOutput, ResultFolder, ResultOptions, RunOutput,
    SkillArguments, why_stopped,
};
use metier_runtime::{ScriptCall, UseError};
use metier_sandbox::{Copied, Ended, Existing, LeaveOut, OutputKind, Outputs, Report, Stop, Stream};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) fn run(
    args: &Exec,
    surroundings: &Surroundings,
    head_start: HeadStart,
    output: &mut Output,
) -> Result<Exit> {
    may_start(surroundings)?;
    let existing = if args.force { Existing::Replaced } else { Existing::Stay };
    let options = ResultOptions { existing, hidden: args.with_hidden };
    // Before anything runs: results that have nowhere to go would be lost.
    let results = surroundings.result_folder(args.out.as_deref(), options)?;
    let out = args.out.as_deref().zip(results.as_ref());
    let skills = agency::one_call(surroundings)?.sandbox(head_start.sandbox()).open();
    let mut session = agency::session(&skills);
    let cancel = interrupt::listen()?;
    session.cancel_with(cancel.clone());
    let shown = Mutex::new(ScriptOutput::new(!output.is_json()));
    session.listen_with(Arc::new(move |stream, bytes| {
        shown.lock().unwrap_or_else(PoisonError::into_inner).show(stream, bytes);
    }));
    let (current, project) = (&surroundings.places.current, surroundings.project());
    let write: Vec<String> = args.write.iter().map(|glob| glob_in_project(glob, current, project)).collect();
    let call = ScriptCall {
        skill: &args.name,
        script: &args.script,
        arguments: SkillArguments::List(args.arguments.clone()),
        given: DeclaredNeeds { hosts: &args.hosts, write: &write, env: &args.env },
        time: args.timeout.map(Duration::from_secs),
        start: args.start,
    };
    let ran = interrupt::during(&cancel, || session.run_script(&call));
    match ran {
        Ok(ran) => finish(&ran, out, output),
        Err(error) => refused(&error, output),
    }
}

/// Says what was refused and what would allow it. What failed for another reason is an error.
pub(crate) fn refused(error: &UseError, output: &mut Output) -> Result<Exit> {
    let Some((action, decision)) = error.refused() else { return Err(agency::not_used(error)) };
    let sentence = action.sentence();
    if output.is_json() {
        output.json(&serde_json::json!({
            "refused": true,
            "action": sentence,
            "decision": decision.to_string(),
            "allow_with": decision.allow_with.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else {
        for line in [&sentence, &decision.to_string(), "`metier explain --last` says it again"] {
            screen::err_line(screen::harmless(line));
        }
    }
    // What an approval would have allowed is told apart from what is refused on purpose.
    Ok(if decision.lacks_approval() { Exit::NeedsYes } else { Exit::Failed })
}

fn finish(ran: &RunOutput, out: Option<(&Path, &ResultFolder)>, output: &mut Output) -> Result<Exit> {
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
    if output.is_json() {
        let mut report = report::json(ran, kept, copied);
        ran.redact_json(&mut report);
        output.json(&report)?;
    } else {
        for line in closing_lines(ran, out.map(|(folder, _)| folder), copied, kept) {
            output.aside(&clean(&ran.redacted(&line)))?;
        }
    }
    // What lies there now is not what the script made, so whoever goes on with it has to know.
    let is_stale =
        copied.is_some_and(|copied| copied.left_out.iter().any(|(_, why)| *why == LeaveOut::Exists));
    let changes = ran.changes.as_ref();
    Ok(if !ran.report.succeeded() || is_stale || changes.is_some_and(|changes| changes.problem.is_some()) {
        Exit::Failed
    } else if changes.is_some_and(ChangeReport::needs_approval) {
        Exit::NeedsYes
    } else {
        Exit::Fine
    })
}

/// A text as one word for a shell, whatever is in it: people paste what is printed.
pub(crate) fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// How many rules are printed: more than anybody pastes. The JSON form has all of them.
const MAX_RULES: usize = 40;

/// What became of the changes of the project.
fn change_lines(report: &ChangeReport) -> Vec<String> {
    let shown = [
        ChangeState::Applied,
        ChangeState::NotApproved,
        ChangeState::Refused,
        ChangeState::Failed,
        ChangeState::Never,
    ];
    let mut lines = Vec::new();
    for state in shown {
        let mut entries = report.entries.iter().filter(|entry| entry.state == state);
        for entry in entries.by_ref().take(MAX_CHANGES) {
            let protected = entry.protected_because.filter(|_| state != ChangeState::Applied);
            let protected = protected.map(|reason| format!("protected: {reason}"));
            let (path, facts) = entry.described();
            let notes: Vec<String> = facts.into_iter().chain(protected).chain(entry.note.clone()).collect();
            let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
            // Of what is never applied the note says what it is.
            let kind = if state == ChangeState::Never { None } else { Some(entry.kind.word()) };
            let kind = kind.map_or_else(String::new, |kind| format!("{kind} "));
            lines.push(format!("{}: {kind}{path}{notes}", state.word()));
        }
        match entries.count() {
            0 => {}
            more => lines.push(format!(
                "{}: {more} more; `metier changes show {}` lists all",
                state.word(),
                report.id
            )),
        }
    }
    let ignored = report.count(ChangeState::Ignored);
    if ignored > 0 {
        lines.push(format!(
            "{} of caches or ignored by git stayed out of the project",
            counted(ignored, "path", "paths")
        ));
    }
    lines.extend(report.problem.clone());
    if report.needs_approval() {
        let (rules, id) = (&report.allow_with, &report.id);
        let or = if rules.is_empty() { "" } else { ", or allow such changes:" };
        lines.push(format!("apply them with `metier changes apply {id}`{or}"));
        lines.extend(rules.iter().take(MAX_RULES).map(|rule| format!("  --allow {}", shell_word(rule))));
        if rules.len() > MAX_RULES {
            let more = counted(rules.len() - MAX_RULES, "more rule is", "more rules are");
            lines.push(format!(
                "  {more} not printed and would be needed, too; `metier changes apply {id}` applies exactly this set"
            ));
        }
        if !rules.is_empty() && report.uncovered > 0 {
            let more = counted(report.uncovered, "path is", "paths are");
            lines.push(format!(
                "  {more} not covered by these rules; `metier changes apply {id}` applies exactly this set"
            ));
        }
    }
    lines
}

/// What was copied to the folder for results.
struct Taken {
    copied: Copied,
    /// The streams that are too long for a report.
    long: Vec<LongOutput>,
}

fn take_along(ran: &RunOutput, results: &ResultFolder) -> io::Result<Taken> {
    let mut taken = Taken { copied: results.take(&ran.report.outputs)?, long: Vec::new() };
    for long in &ran.long {
        match results.put(&long.name, &long.bytes)? {
            Some(why) => taken.copied.left_out.push(((&long.name).into(), why)),
            None => taken.long.push(long.clone()),
        }
    }
    Ok(taken)
}

/// How many changed paths of each kind are named; `metier changes show` names all.
const MAX_CHANGES: usize = 10;

/// How many of the files that are taken along are named.
const MAX_RESULTS: usize = 10;

/// What is to be said after the script's own words.
fn closing_lines(
    ran: &RunOutput,
    out: Option<&Path>,
    copied: Option<&Copied>,
    kept: Kept<'_>,
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
    lines.extend(ran.changes.iter().flat_map(change_lines));
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
            for (path, why) in left_out.iter().take(MAX_RESULTS) {
                lines.push(format!("not copied: {}: {why}", path.display()));
            }
            if let more @ 1.. = copied.left_out.len().saturating_sub(MAX_RESULTS) {
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
            ran.limits().time.as_secs()
        )),
        Ended::Stopped(_) => {
            let why = why_stopped(&ran.report, ran.limits()).unwrap_or_default();
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
    let mut lines: Vec<String> = files().take(MAX_RESULTS).map(line).collect();
    match files().count().saturating_sub(MAX_RESULTS) {
        0 => {}
        more => lines.push(format!("and {}; --json lists all", counted(more, "more file", "more files"))),
    }
    lines
}
