//! `Bash`: a command line in the project, contained like a script. It starts where the user is, as a script does.

use std::time::Duration;

use metier_exec::{MAX_ASKED_TIME, RunOutput};
use metier_runtime::{Field, FieldKind, Form, Input, Plan, SideEffect, ToolContext, ToolResult, UseError};
use metier_sandbox::DEFAULT_TIMEOUT;
use metier_skill::Tool;

use super::refusal::{Planned, Refused};
use super::{Entry, GeneralTools};

/// How long a line may take where nobody says, and at most, in seconds.
const DEFAULT_SECONDS: u64 = DEFAULT_TIMEOUT.as_secs();
const MAX_SECONDS: u64 = MAX_ASKED_TIME.as_secs();

static FORM: Form = Form {
    name: "Bash",
    description: "Runs a command line by bash in the current folder, contained. What it changes in the project is applied after it \
                  ended, where the user approves; the result says what was applied. $PROJECT_DIR is the project's folder, $TMPDIR is \
                  writable and gone afterwards, and hosts are reached only where the user allows them. Each call is a new shell.",
    fields: &[
        Field::required("command", FieldKind::Text, "The command line.").or(&[
            "commandLine",
            "cmd",
            "script",
        ]),
        Field::optional(
            "timeout",
            FieldKind::Number { least: 1, default: DEFAULT_SECONDS },
            "How many seconds it may take, up to 600.",
        ),
        Field::optional("description", FieldKind::Text, "What it is for, in a few words, for the user.")
            .or(&["reason"]),
    ],
    example: r#"{"command": "git log --oneline -n 5", "description": "Show recent commits"}"#,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::Bash, form: &FORM, effect: SideEffect::Runs, plan };

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let line = input.text("command")?;
    input.optional_text("description")?;
    let (seconds, note) = seconds(input.number("timeout")?);
    let time = Duration::from_secs(seconds);
    let bash = context.skills.bash_plan(line, time).map_err(|error| not_run(&error))?;
    Ok(Plan::new(bash.action().clone(), move |approval| {
        let ran = context.skills.run_bash(bash, time, approval, context.control);
        match ran {
            Ok(mut ran) => {
                let (text, problem) = text(tools, &mut ran);
                let mut result = ToolResult::ran(ran, text);
                result.notes.extend(problem);
                result
            }
            Err(error) => not_run(&error).into_result(),
        }
    })
    .noting(note))
}

/// What a model gives as the time. Other systems count in milliseconds, and nothing waits longer than ten minutes, so a number
/// over 600 can only mean those.
fn seconds(given: u64) -> (u64, Option<String>) {
    if given <= MAX_SECONDS {
        return (given, None);
    }
    let seconds = given.div_ceil(1000).clamp(1, MAX_SECONDS);
    (seconds, Some(format!("`timeout` {given} was taken for milliseconds: {seconds} s")))
}

/// The result, with what is left out of it kept where `Read` can open it.
fn text(tools: &GeneralTools, ran: &mut RunOutput) -> (String, Option<String>) {
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

fn not_run(error: &UseError) -> Refused {
    match error.refused() {
        Some((_, decision)) => Refused::Gate(Box::new(decision.clone())),
        None => Refused::Text(error.to_string()),
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
        let told = FORM.fields.iter().find(|field| field.name == "timeout").unwrap().description;
        assert!(told.contains(&format!("up to {MAX_SECONDS}")), "{told}");
    }
}
