//! The words that the planner says.

use metier_catalog::one_line;
use metier_policy::shell::quote;
use metier_skill::Context;
use serde_json::Value;

use super::guide::{Candidate, Study};
use super::plan::joined;
use super::recipe::{Recipe, Serving};

/// How many close skills are shown: as many as can be compared at a glance.
const MOST_CLOSE: usize = 3;

/// How much of a description or a request stands in a line.
const LINE: usize = 120;

/// No skill fits.
pub(super) fn nothing_fits(request: &str) -> String {
    let request = one_line(request, LINE);
    format!(
        "No skill fits this request.\n\n`metier list` shows the skills that there are, `metier route {}` how near each of them comes.\n",
        quote(&request)
    )
}

/// Several skills fit about equally well.
pub(super) fn close(candidates: &[Candidate], request: &str) -> String {
    let mut text = match candidates {
        [_] => "No skill fits clearly; this one comes nearest:\n\n".to_owned(),
        _ => "No skill fits clearly better than the others; these come nearest:\n\n".to_owned(),
    };
    for candidate in candidates.iter().take(MOST_CLOSE) {
        text.push_str(&format!("- `{}`: {}\n", candidate.name, one_line(&candidate.description, LINE)));
    }
    let first = candidates.first().map_or("NAME", |candidate| candidate.name.as_str());
    let request = one_line(request, LINE);
    text.push_str(&format!(
        "\n`metier use {}` shows what one of them says, `metier route {}` why they come near.\n",
        quote(first),
        quote(&request)
    ));
    text
}

/// The skill that fits, what it would run, and how to run it.
pub(super) fn shown(study: &Study, serving: &Serving, arguments: &str) -> String {
    let name = quote(&study.name);
    let mut text = format!("The skill `{}` fits", study.name);
    let using = if arguments.is_empty() {
        format!("metier use {name}")
    } else {
        format!("metier use {name} -- {}", quote(arguments))
    };
    match &serving.recipe {
        Recipe::Nothing => {
            text.push_str(", and has no operation that runs without a language model. What it says:\n\n");
            text.push_str(&format!("    {using}\n"));
            return text;
        }
        Recipe::Shown { text: operation } => {
            text.push_str(
                ". Its operation is more than one command, so it is not run without a language model:\n\n",
            );
            text.push_str(&indented(operation));
            text.push_str(&format!("\nWhat it is for:\n\n    {using}\n"));
            return text;
        }
        Recipe::Script { .. } | Recipe::Command { .. } => {}
    }
    text.push_str(&reason(serving, study));
    let words = serving.words();
    let words = joined(words.iter().map(String::as_str));
    let line = match &serving.recipe {
        Recipe::Script { script, .. } if words.is_empty() => format!("metier exec {name} {}", quote(script)),
        Recipe::Script { script, .. } => format!("metier exec {name} {} -- {words}", quote(script)),
        _ => {
            text.push_str(&format!("    {words}\n\nWhat it is for:\n\n"));
            using
        }
    };
    text.push_str(&indented(&line));
    text
}

/// Why it is not run.
fn reason(serving: &Serving, study: &Study) -> String {
    let list =
        |names: Vec<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if let Some(denial) = &serving.denial {
        return format!(
            ", and the request says `{denial}`, so nothing is run. What it would run otherwise:\n\n"
        );
    }
    let missing: Vec<String> = serving.missing().iter().map(|name| format!("<{name}>")).collect();
    if !missing.is_empty() {
        return format!(", and the request does not clearly say {}. It would run:\n\n", list(missing));
    }
    if !serving.overlooked().is_empty() {
        let words = list(serving.overlooked().to_vec());
        return format!(", and it is not clear what to do with {words}. Without it, it would run:\n\n");
    }
    if serving.has_option_by_chance() {
        return ", and a value begins with `-`, which a program may take for an option. It would run:\n\n"
            .to_owned();
    }
    if study.context == Context::Fork {
        return ", and works in a conversation of its own. It would run:\n\n".to_owned();
    }
    ". It would run:\n\n".to_owned()
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}

/// A step did not work.
pub(super) fn failed(tool: &str, skill: Option<&str>, said: &str) -> String {
    match skill {
        Some(skill) => format!("`{tool}` did not work for the skill `{skill}`:\n\n{said}\n"),
        None => format!("`{tool}` did not work:\n\n{said}\n"),
    }
}

/// A call has no result.
pub(super) fn no_result(tool: &str) -> String {
    format!("`{tool}` was called and has no result, so nothing is known about it; ask again to begin anew.\n")
}

/// A skill went away in the middle.
pub(super) fn gone(name: &str) -> String {
    format!("The skill `{name}` is not there any more; `metier explain {}` says why.\n", quote(name))
}

/// What a command line printed.
pub(super) fn command_output(result: &str) -> String {
    stream(result, "stdout").unwrap_or_else(|| result.to_owned())
}

/// What a command line that failed said about it: its errors, else all that there is.
pub(super) fn command_failure(result: &str) -> String {
    let errors = stream(result, "stderr").filter(|text| !text.trim().is_empty());
    errors.unwrap_or_else(|| result.to_owned())
}

/// One stream of a command line's result.
fn stream(result: &str, name: &str) -> Option<String> {
    let value: Value = serde_json::from_str(result).ok()?;
    value.get(name)?.as_str().map(str::to_owned)
}
