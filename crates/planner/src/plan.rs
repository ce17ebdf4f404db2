//! The next step: a tool call, or an answer.

use metier_model::{OutcomeStatus, Stop, ToolCall, ToolOutcome};
use metier_policy::shell::quote;
use metier_skill::Context;
use serde_json::{Value, json};

use crate::messages;
use crate::prepared::{PreparedCache, PreparedCommand, call_by_name};
use crate::progress::Progress;
use crate::remainder::{Matched, remainder};
use crate::router::{RouteOutcome, SkillFacts, SkillRouter};
use crate::template::{CommandTemplate, FilledCommand};
use crate::token::{MAX_REQUEST, tokens};

/// The tools that the planner calls.
const USE: &str = "skill_use";
const RUN: &str = "skill_run_script";
const COMMAND: &str = "run_command_line";

/// What the planner does next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// It calls a tool.
    Call { tool: &'static str, arguments: Value },
    /// It answers, and the turn ends.
    Answer { text: String, stop: Stop },
}

impl Step {
    fn answer(text: String) -> Self {
        Self::Answer { text, stop: Stop::EndOfTurn }
    }

    fn failed(text: String) -> Self {
        Self::Answer { text, stop: Stop::Failed }
    }
}

/// Whether tools may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolUse {
    Allowed,
    Forbidden,
}

/// The next step of a session.
pub(crate) fn next(
    router: &dyn SkillRouter,
    cache: &PreparedCache,
    progress: &Progress<'_>,
    tool_use: ToolUse,
) -> Step {
    match &progress.last {
        None => first(router, cache, progress.request, tool_use),
        Some((call, Some(outcome))) => after(router, cache, progress.request, call, outcome),
        Some((call, None)) => Step::failed(messages::no_result(&call.name)),
    }
}

/// The first step for a request.
fn first(router: &dyn SkillRouter, cache: &PreparedCache, request: &str, tool_use: ToolUse) -> Step {
    let facts = match named(router, request) {
        Some(facts) => facts,
        None => match routed(router, request) {
            Ok(facts) => facts,
            Err(step) => return step,
        },
    };
    let prepared = PreparedCommand::new(facts, request);
    let PreparedCommand { facts, filled } = &prepared;
    let arguments = arguments(facts, filled, request);
    match run(facts, filled) {
        Some(call) if tool_use == ToolUse::Allowed && request.len() <= MAX_REQUEST => {
            // A fork would have a planner of its own that knows less. Its script needs no activation.
            if facts.context == Context::Fork {
                return call;
            }
            let arguments = json!({ "skill_name": facts.name, "arguments": arguments });
            cache.keep(request, prepared);
            Step::Call { tool: USE, arguments }
        }
        _ => Step::answer(messages::shown(facts, filled, &arguments)),
    }
}

/// The skill that a request names as `/name arguments`. Any other text after a slash is a request like any other.
fn named(router: &dyn SkillRouter, request: &str) -> Option<SkillFacts> {
    let (name, _) = call_by_name(request)?;
    router.facts(name, request)
}

/// The skill that fits a request, or the answer if none clearly does.
fn routed(router: &dyn SkillRouter, request: &str) -> Result<SkillFacts, Step> {
    match router.route(request) {
        RouteOutcome::Nothing => {
            let stop = Stop::Refused("nothing fits".to_owned());
            Err(Step::Answer { text: messages::nothing_fits(request), stop })
        }
        RouteOutcome::Close(candidates) => Err(Step::answer(messages::close(&candidates, request))),
        RouteOutcome::Clear(candidate) => router
            .facts(&candidate.name, request)
            .ok_or_else(|| Step::failed(messages::gone(&candidate.name))),
    }
}

/// The step after a tool result.
fn after(
    router: &dyn SkillRouter,
    cache: &PreparedCache,
    request: &str,
    call: &ToolCall,
    outcome: &ToolOutcome,
) -> Step {
    let name = call.arguments.fields().and_then(|fields| fields.get("skill_name")).and_then(Value::as_str);
    if outcome.status == OutcomeStatus::Failed {
        let output = match &*call.name {
            COMMAND => messages::command_failure(&outcome.text),
            _ => outcome.text.to_string(),
        };
        return Step::failed(messages::failed(&call.name, name, &output));
    }
    match &*call.name {
        USE => {
            let name = name.unwrap_or_default();
            let prepared = cache.take(request, name).or_else(|| {
                let facts = router.facts(name, request)?;
                Some(PreparedCommand::new(facts, request))
            });
            let Some(PreparedCommand { facts, filled }) = prepared else {
                return Step::failed(messages::gone(name));
            };
            let arguments = arguments(&facts, &filled, request);
            run(&facts, &filled).unwrap_or_else(|| Step::answer(messages::shown(&facts, &filled, &arguments)))
        }
        COMMAND => Step::answer(messages::command_output(&outcome.text)),
        _ => Step::answer(outcome.text.to_string()),
    }
}

/// The arguments for the activation: the declared ones, else what the request says apart from the words that led to the skill.
fn arguments(facts: &SkillFacts, filled: &FilledCommand, request: &str) -> String {
    if let Some((_, arguments)) = call_by_name(request).filter(|(name, _)| *name == facts.name) {
        return arguments.to_owned();
    }
    if facts.arguments.is_empty() {
        // Where every word led to the skill or only asks, there is nothing to pass on.
        if filled.unused.is_empty() && filled.values.iter().all(|(_, value)| value.is_none()) {
            return String::new();
        }
        let matched = Matched { words: &facts.matched, taken: &[] };
        return remainder(request, &tokens(request), &matched).to_owned();
    }
    joined(filled.declared(facts))
}

/// Words as one text that a POSIX shell splits into the same words again.
pub(crate) fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The call that runs the operation, if it is complete and clear.
fn run(facts: &SkillFacts, filled: &FilledCommand) -> Option<Step> {
    if filled.denial.is_some()
        || !filled.missing().is_empty()
        || !filled.overlooked().is_empty()
        || filled.has_option_by_chance()
    {
        return None;
    }
    let words = filled.words();
    let words = joined(words.iter().map(String::as_str));
    match &filled.template {
        CommandTemplate::Script { script, .. } => {
            let arguments = json!({ "skill_name": facts.name, "script_name": script, "script_args": words });
            Some(Step::Call { tool: RUN, arguments })
        }
        // A command line belongs to the skill that was activated last, and a fork is activated elsewhere.
        CommandTemplate::Command { .. } if facts.context != Context::Fork => {
            let reason = format!("it is the operation of the skill `{}`", facts.name);
            Some(Step::Call { tool: COMMAND, arguments: json!({ "reason": reason, "commandLine": words }) })
        }
        CommandTemplate::Command { .. } | CommandTemplate::Shown { .. } | CommandTemplate::Nothing => None,
    }
}
