//! The texts of the planner's answers.

use metier_catalog::one_line;
use metier_policy::shell::quote;
use metier_skill::Context;
use serde_json::Value;

use crate::plan::joined;
use crate::router::{SkillCandidate, SkillFacts};
use crate::template::{CommandTemplate, FilledCommand};

/// How many close skills are shown: as many as can be compared at a glance.
const MAX_CLOSE: usize = 3;

/// How much of a description or a request stands in a line.
const MAX_LINE: usize = 120;

/// No skill fits.
pub(crate) fn nothing_fits(request: &str) -> String {
    let request = one_line(request, MAX_LINE);
    format!(
        "No skill fits this request.\n\n`metier list` shows the skills that there are, `metier route {}` how near each of them comes.\n",
        quote(&request)
    )
}

/// Several skills fit about equally well.
pub(crate) fn close(candidates: &[SkillCandidate], request: &str) -> String {
    let mut text = match candidates {
        [_] => "No skill fits clearly; this one comes nearest:\n\n".to_owned(),
        _ => "No skill fits clearly better than the others; these come nearest:\n\n".to_owned(),
    };
    for candidate in candidates.iter().take(MAX_CLOSE) {
        text.push_str(&format!("- `{}`: {}\n", candidate.name, one_line(&candidate.description, MAX_LINE)));
    }
    let first = candidates.first().map_or("NAME", |candidate| candidate.name.as_str());
    let request = one_line(request, MAX_LINE);
    text.push_str(&format!(
        "\n`metier use {}` shows what one of them says, `metier route {}` why they come near.\n",
        quote(first),
        quote(&request)
    ));
    text
}

/// The skill that fits, what it would run, and how to run it.
pub(crate) fn shown(facts: &SkillFacts, filled: &FilledCommand, arguments: &str) -> String {
    let name = quote(&facts.name);
    let mut text = format!("The skill `{}` fits", facts.name);
    let using = if arguments.is_empty() {
        format!("metier use {name}")
    } else {
        format!("metier use {name} -- {}", quote(arguments))
    };
    match &filled.template {
        CommandTemplate::Nothing => {
            text.push_str(", and has no operation that runs without a language model. What it says:\n\n");
            text.push_str(&format!("    {using}\n"));
            return text;
        }
        CommandTemplate::Shown { text: operation } => {
            text.push_str(
                ". Its operation is more than one command, so it is not run without a language model:\n\n",
            );
            text.push_str(&indented(operation));
            text.push_str(&format!("\nWhat it is for:\n\n    {using}\n"));
            return text;
        }
        CommandTemplate::Script { .. } | CommandTemplate::Command { .. } => {}
    }
    text.push_str(&reason(filled, facts));
    let words = filled.words();
    let words = joined(words.iter().map(String::as_str));
    let line = match &filled.template {
        CommandTemplate::Script { script, .. } if words.is_empty() => {
            format!("metier exec {name} {}", quote(script))
        }
        CommandTemplate::Script { script, .. } => format!("metier exec {name} {} -- {words}", quote(script)),
        _ => {
            text.push_str(&format!("    {words}\n\nWhat it is for:\n\n"));
            using
        }
    };
    text.push_str(&indented(&line));
    text
}

/// Why it is not run.
fn reason(filled: &FilledCommand, facts: &SkillFacts) -> String {
    let list =
        |names: Vec<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if let Some(denial) = &filled.denial {
        return format!(
            ", and the request says `{denial}`, so nothing is run. What it would run otherwise:\n\n"
        );
    }
    let missing: Vec<String> = filled.missing().iter().map(|name| format!("<{name}>")).collect();
    if !missing.is_empty() {
        return format!(", and the request does not clearly say {}. It would run:\n\n", list(missing));
    }
    if !filled.overlooked().is_empty() {
        let words = list(filled.overlooked().to_vec());
        return format!(", and it is not clear what to do with {words}. Without it, it would run:\n\n");
    }
    if filled.has_option_by_chance() {
        return ", and a value begins with `-`, which a program may take for an option. It would run:\n\n"
            .to_owned();
    }
    if facts.context == Context::Fork {
        return ", and works in a conversation of its own. It would run:\n\n".to_owned();
    }
    ". It would run:\n\n".to_owned()
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}

/// A step did not work.
pub(crate) fn failed(tool: &str, skill: Option<&str>, said: &str) -> String {
    match skill {
        Some(skill) => format!("`{tool}` did not work for the skill `{skill}`:\n\n{said}\n"),
        None => format!("`{tool}` did not work:\n\n{said}\n"),
    }
}

/// A call has no result.
pub(crate) fn no_result(tool: &str) -> String {
    format!("`{tool}` was called and has no result, so nothing is known about it; ask again to begin anew.\n")
}

/// A skill went away in the middle.
pub(crate) fn gone(name: &str) -> String {
    format!("The skill `{name}` is not there any more; `metier explain {}` says why.\n", quote(name))
}

/// What a command line printed.
pub(crate) fn command_output(result: &str) -> String {
    stream(result, "stdout").unwrap_or_else(|| result.to_owned())
}

/// What a command line that failed said about it: its errors, else all that there is.
pub(crate) fn command_failure(result: &str) -> String {
    let errors = stream(result, "stderr").filter(|text| !text.trim().is_empty());
    errors.unwrap_or_else(|| result.to_owned())
}

/// One stream of a command line's result.
fn stream(result: &str, name: &str) -> Option<String> {
    let value: Value = serde_json::from_str(result).ok()?;
    value.get(name)?.as_str().map(str::to_owned)
}
