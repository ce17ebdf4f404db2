//! The next step: a call, or words.

use metier_model::{OutcomeStatus, Stop, ToolCall, ToolOutcome};
use metier_policy::shell::quote;
use metier_skill::Context;
use serde_json::{Value, json};

use super::fill::Wish;
use super::guide::{Guide, Study, Way};
use super::progress::Progress;
use super::recipe::{Recipe, Said, Serving};
use super::remainder::{Matched, remainder};
use super::token::{MAX_REQUEST, tokens};
use super::wording;

/// The tools that the planner calls.
const USE: &str = "skill_use";
const RUN: &str = "skill_run_script";
const COMMAND: &str = "run_command_line";

/// What happens next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A tool is called.
    Call { tool: &'static str, arguments: Value },
    /// Something is said, and the turn is over.
    Say { text: String, stop: Stop },
}

impl Step {
    fn say(text: String) -> Self {
        Self::Say { text, stop: Stop::EndOfTurn }
    }

    fn failed(text: String) -> Self {
        Self::Say { text, stop: Stop::Other("failed".to_owned()) }
    }
}

/// Whether tools may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hands {
    Free,
    Tied,
}

/// The next step of a conversation.
pub(super) fn next(guide: &dyn Guide, progress: &Progress<'_>, hands: Hands) -> Step {
    match &progress.last {
        None => first(guide, progress.request, hands),
        Some((call, Some(outcome))) => then(guide, progress.request, call, outcome),
        Some((call, None)) => Step::failed(wording::no_result(&call.name)),
    }
}

/// What a request leads to before anything was done.
fn first(guide: &dyn Guide, request: &str, hands: Hands) -> Step {
    let study = match named(guide, request) {
        Some(study) => study,
        None => match routed(guide, request) {
            Ok(study) => study,
            Err(step) => return step,
        },
    };
    let serving = serve(&study, request);
    let arguments = arguments(&study, &serving, request);
    match run(&study, &serving) {
        Some(call) if hands == Hands::Free && request.len() <= MAX_REQUEST => {
            // A fork would have a planner of its own that knows less. Its script needs no activation.
            if study.context == Context::Fork {
                return call;
            }
            let arguments = json!({ "skill_name": study.name, "arguments": arguments });
            Step::Call { tool: USE, arguments }
        }
        _ => Step::say(wording::shown(&study, &serving, &arguments)),
    }
}

/// The skill that a request names as `/name arguments`. What else begins with a slash is a request like any other.
fn named(guide: &dyn Guide, request: &str) -> Option<Study> {
    let (name, _) = call_by_name(request)?;
    guide.study(name, request)
}

/// A name behind a slash, and what follows it.
fn call_by_name(request: &str) -> Option<(&str, &str)> {
    let rest = request.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some((name, arguments.trim()))
}

/// The skill that fits a request, or what is said where none does clearly.
fn routed(guide: &dyn Guide, request: &str) -> Result<Study, Step> {
    match guide.route(request) {
        Way::Nothing => {
            let stop = Stop::Refused("nothing fits".to_owned());
            Err(Step::Say { text: wording::nothing_fits(request), stop })
        }
        Way::Close(candidates) => Err(Step::say(wording::close(&candidates, request))),
        Way::Clear(candidate) => {
            guide.study(&candidate.name, request).ok_or_else(|| Step::failed(wording::gone(&candidate.name)))
        }
    }
}

/// What follows a result.
fn then(guide: &dyn Guide, request: &str, call: &ToolCall, outcome: &ToolOutcome) -> Step {
    let name = call.arguments.fields().and_then(|fields| fields.get("skill_name")).and_then(Value::as_str);
    if outcome.status == OutcomeStatus::Failed {
        let said = match &*call.name {
            COMMAND => wording::command_failure(&outcome.text),
            _ => outcome.text.to_string(),
        };
        return Step::failed(wording::failed(&call.name, name, &said));
    }
    match &*call.name {
        USE => {
            let name = name.unwrap_or_default();
            let Some(study) = guide.study(name, request) else { return Step::failed(wording::gone(name)) };
            let serving = serve(&study, request);
            let arguments = arguments(&study, &serving, request);
            run(&study, &serving).unwrap_or_else(|| Step::say(wording::shown(&study, &serving, &arguments)))
        }
        COMMAND => Step::say(wording::command_output(&outcome.text)),
        _ => Step::say(outcome.text.to_string()),
    }
}

fn serve(study: &Study, request: &str) -> Serving {
    let said = match call_by_name(request).filter(|(name, _)| *name == study.name) {
        Some((_, arguments)) => Said::Arguments(arguments),
        None => {
            Said::Request(Wish { name: &study.name, request, matched: &study.matched, body: &study.body })
        }
    };
    Recipe::of(study).fill(study, &said)
}

/// What the skill is told when it is activated: its declared arguments, else what the request says beside its own words.
fn arguments(study: &Study, serving: &Serving, request: &str) -> String {
    if let Some((_, arguments)) = call_by_name(request).filter(|(name, _)| *name == study.name) {
        return arguments.to_owned();
    }
    if study.arguments.is_empty() {
        // Where every word led to the skill or only asks, there is nothing to tell it.
        if serving.unused.is_empty() && serving.values.iter().all(|(_, value)| value.is_none()) {
            return String::new();
        }
        let matched = Matched { words: &study.matched, taken: &[] };
        return remainder(request, &tokens(request), &matched).to_owned();
    }
    joined(serving.declared(study))
}

/// Words as one text that a POSIX shell splits into the same words again.
pub(super) fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The call that carries an operation out, if it can be carried out as it is.
fn run(study: &Study, serving: &Serving) -> Option<Step> {
    if serving.denial.is_some()
        || !serving.missing().is_empty()
        || !serving.overlooked().is_empty()
        || serving.has_option_by_chance()
    {
        return None;
    }
    let words = serving.words();
    let words = joined(words.iter().map(String::as_str));
    match &serving.recipe {
        Recipe::Script { script, .. } => {
            let arguments = json!({ "skill_name": study.name, "script_name": script, "script_args": words });
            Some(Step::Call { tool: RUN, arguments })
        }
        // A command line belongs to the skill that was activated last, and a fork is activated elsewhere.
        Recipe::Command { .. } if study.context != Context::Fork => {
            let reason = format!("it is the operation of the skill `{}`", study.name);
            Some(Step::Call { tool: COMMAND, arguments: json!({ "reason": reason, "commandLine": words }) })
        }
        Recipe::Command { .. } | Recipe::Shown { .. } | Recipe::Nothing => None,
    }
}
