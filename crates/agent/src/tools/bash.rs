//! `Bash`: a command line in the project, contained like a script.

use std::time::Duration;

use metier_policy::{Action, Actor, Need, Ruling};
use metier_runtime::{Field, FieldKind, Form, Input, NotDone, NotRun, Ran, Sight, ToolResult, run_bash};
use metier_skill::Tool;

use super::refusal::Refused;
use super::{Desk, Effect, Entry, GeneralTools, Running};

/// How long a line may take where nobody says, and at most, in seconds.
const USUAL: u64 = 120;
const MOST: u64 = 600;

/// How often a line runs again with more that it may write: once for each yes, and nobody says yes to this often.
const MOST_RUNS: usize = 3;

static FORM: Form = Form {
    name: "Bash",
    description: "Runs a command line by bash in the project's folder, contained: the project is read-only unless the user opens \
                  places in it, $TMPDIR is writable and gone afterwards, and hosts are reached only where the user allows them. \
                  Each call is a new shell.",
    fields: &[
        Field::required("command", FieldKind::Text, "The command line.").or(&[
            "commandLine",
            "cmd",
            "script",
        ]),
        Field::optional(
            "timeout",
            FieldKind::Number { least: 1, default: USUAL },
            "How many seconds it may take, up to 600.",
        ),
        Field::optional("description", FieldKind::Text, "What it is for, in a few words, for the user.")
            .or(&["reason"]),
    ],
    example: r#"{"command": "git log --oneline -n 5", "description": "Show recent commits"}"#,
};

pub(super) const ENTRY: Entry =
    Entry { tool: Tool::Bash, form: &FORM, sight: Sight::Acts, effect: Effect::Runs, call };

fn call(tools: &GeneralTools, input: &Input<'_>, desk: &Desk<'_>) -> Result<ToolResult, Refused> {
    let line = input.text("command")?;
    input.optional_text("description")?;
    let (seconds, note) = seconds(input.number("timeout")?);
    let mut running = Running { time: Duration::from_secs(seconds), writes: Vec::new() };
    let run = |running: &Running| {
        desk.hands.run(running, &mut |bench, own| {
            run_bash(bench, own, line, desk.cancel, &mut |stream, piece| {
                if let Some(hear) = desk.hear {
                    hear(stream, piece);
                }
            })
        })
    };
    let mut ran = run(&running).map_err(not_done)?;
    // What went well is not done twice, whatever it complained about.
    for _ in 1..MOST_RUNS {
        if ran.report.succeeded() || !widened(&ran, &mut running, desk) {
            break;
        }
        // The question is about the line and all that it wants to write. A no leaves what there is.
        match run(&running) {
            Ok(again) => ran = again,
            Err(NotDone::NotRun(NotRun::Gate { .. })) => break,
            Err(error) => return Err(not_done(error)),
        }
    }
    let (text, problem) = text(tools, &mut ran);
    let mut result = ToolResult::ran(ran, text);
    result.notes.extend(note.into_iter().chain(problem));
    Ok(result)
}

/// What a model gives as the time. Other systems count in milliseconds, and nothing waits longer than ten minutes, so a number
/// over 600 can only mean those.
fn seconds(given: u64) -> (u64, Option<String>) {
    if given <= MOST {
        return (given, None);
    }
    let seconds = given.div_ceil(1000).clamp(1, MOST);
    (seconds, Some(format!("`timeout` {given} was taken for milliseconds: {seconds} s")))
}

/// Adds what a line could not write to what it may write, where that can be had at all: by a rule, or by a yes.
fn widened(ran: &Ran, running: &mut Running, desk: &Desk<'_>) -> bool {
    let before = running.writes.len();
    for glob in &ran.unwritten {
        let action = Action::more(Actor::Agent, Need::WriteBelow(glob.clone()));
        if !running.writes.contains(glob) && desk.hands.judge(&action).ruling != Ruling::Refuse {
            running.writes.push(glob.clone());
        }
    }
    running.writes.len() > before
}

/// The result, with what is left out of it kept where `Read` can open it.
fn text(tools: &GeneralTools, ran: &mut Ran) -> (String, Option<String>) {
    let Some(outputs) = tools.outputs.as_ref().filter(|_| !ran.long.is_empty()) else {
        return (ran.text.clone(), None);
    };
    let files: Vec<_> = ran.long.iter().map(|long| (long.name.as_str(), long.bytes.as_slice())).collect();
    match outputs.keep("bash", &files) {
        Ok(before) => {
            ran.kept_in(&before);
            (ran.text_beside(&before), None)
        }
        Err(error) => (ran.text.clone(), Some(format!("the rest of its output could not be kept: {error}"))),
    }
}

fn not_done(error: NotDone) -> Refused {
    match error {
        NotDone::NotRun(NotRun::Gate { decision, .. }) => Refused::Gate(decision, None),
        error => Refused::text(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_seconds_unless_it_can_only_be_milliseconds() {
        for (given, expect) in
            [(1, 1), (120, 120), (600, 600), (601, 1), (30_000, 30), (120_000, 120), (9_999_999, 600)]
        {
            assert_eq!(seconds(given).0, expect, "{given}");
            assert_eq!(seconds(given).1.is_some(), given > 600);
        }
    }
}
