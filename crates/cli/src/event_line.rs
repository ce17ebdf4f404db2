//! What happened, as quiet lines: `[skill] x: starting`, `[tool] …`, `[result] …`, `[skill] x: complete`.
//!
//! A pure function from events to lines, so that a run as it happens and a log of it say the same. Texts of models, tools and
//! skills are strangers': each line is made harmless here, so whoever shows it can add colours and nothing else.

mod changes;

use crate::output::{Tone, clean, shortened};
use metier_diagnostic::{counted, grouped};
use metier_model::Money;
use metier_policy::Answer;
use metier_store::{
    Activated, Agreement, Answered, Called, Decided, Ended, EventKind, EventSeverity, Finished, LimitKind,
    Outcome, RetryDecision, SessionId, Started, Usage, Verdict,
};
use serde_json::Value;
use std::collections::HashMap;

/// How much of a call, a result or a decision a line shows, in characters. The log has the rest: `--json`.
const MAX_SHOWN: usize = 200;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// What it is.
    pub(crate) style: Style,
    /// Its text, harmless and without colours.
    pub(crate) text: String,
}

/// What a line is, so that a view can colour it or leave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// What the user said.
    Request,
    /// What the model said.
    Answer,
    /// A step.
    Step,
    /// What can be skipped when reading.
    Detail,
    /// Works, with a caveat.
    Caution,
    /// Went wrong.
    Failure,
    /// The end of a run that went well.
    Done,
}

impl Style {
    /// The tone in which it is shown; none for plain text.
    pub(crate) fn tone(self) -> Option<Tone> {
        match self {
            Self::Answer => None,
            Self::Request | Self::Step => Some(Tone::Strong),
            Self::Detail => Some(Tone::Dim),
            Self::Caution => Some(Tone::Caution),
            Self::Failure => Some(Tone::Bad),
            Self::Done => Some(Tone::Good),
        }
    }
}

/// What earlier events said that later ones only point to.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The tools of calls that are under way.
    tools: HashMap<String, String>,
    /// Who works in children: what it is, and its name. Kept when one ends, since it may go on and end again.
    children: HashMap<SessionId, (&'static str, String)>,
}

impl Told {
    /// That a child goes on which had begun before; nothing where nobody has said who it is.
    pub(crate) fn going_on(&self, child: SessionId) -> Option<Line> {
        let (word, name) = self.children.get(&child)?;
        Some(line(Style::Step, format!("[{word}] {}: going on ({})", clean(name), child.short())))
    }
}

/// Who works in a child: a skill, or another agent of a crew.
fn worker(skill: Option<&str>, agent: Option<&str>) -> (&'static str, String) {
    match (skill, agent) {
        (None, Some(agent)) => ("agent", agent.to_owned()),
        (skill, _) => ("skill", skill.unwrap_or("child").to_owned()),
    }
}

/// The lines for an event, often none.
pub(crate) fn lines(kind: &EventKind, told: &mut Told) -> Vec<Line> {
    let (style, text) = match kind {
        EventKind::Started(started) => return of_start(started),
        EventKind::Resumed { metier, .. } => {
            (Style::Detail, format!("[resumed] by metier {}", clean(metier)))
        }
        EventKind::Said { text, .. } => return request(text),
        EventKind::Offered { shortlist, abstained, .. } => {
            let names: Vec<String> = shortlist.iter().map(|offer| clean(&offer.name)).collect();
            let text = match (names.is_empty(), abstained) {
                (true, _) => "[skills] none fits".to_owned(),
                (false, true) => format!("[skills] none fits surely; near: {}", names.join(", ")),
                (false, false) => format!("[skills] offered: {}", names.join(", ")),
            };
            (Style::Detail, text)
        }
        EventKind::Retrying { attempt, after_ms, why } => {
            (Style::Caution, format!("[retry] {} in {}: {}", attempt + 1, span(*after_ms), short(why)))
        }
        EventKind::Answered(answered) => return of_answer(answered),
        EventKind::Partial { text, .. } if text.is_empty() => return Vec::new(),
        EventKind::Partial { text, .. } => {
            let mut lines = words(Style::Answer, text);
            lines.push(line(Style::Caution, "[cut off] the answer ends here"));
            return lines;
        }
        EventKind::Activated(activated) => return of_activation(activated),
        EventKind::Called(called) => {
            told.tools.insert(called.id.clone(), called.tool.clone());
            return vec![of_call(called)];
        }
        EventKind::Decided(decided) => return vec![of_decision(decided)],
        EventKind::Finished(finished) => return of_result(finished, told.tools.remove(&finished.id)),
        EventKind::Noted { text, about } => {
            (Style::Detail, format!("[note] {}: {}", clean(about.word()), short(first_line(text))))
        }
        EventKind::Diagnosed { code, message, severity, place } => {
            return vec![of_diagnosis(code, message, severity.as_ref(), place.as_deref())];
        }
        EventKind::Limited { which, limit, used } => return vec![of_limit(which, *limit, *used)],
        EventKind::LimitExtended { which } => {
            (Style::Detail, format!("[limit] {} extended", clean(which.word())))
        }
        EventKind::Interrupted { why } => (Style::Caution, format!("[stopped] {}", short(why))),
        EventKind::Failed { at, message } => {
            (Style::Failure, format!("[failed] {}: {}", clean(&at.word()), short(message)))
        }
        EventKind::ChildBegan { child, skill, agent, mode, .. } => {
            let (word, name) = worker(skill.as_deref(), agent.as_deref());
            let text =
                format!("[{word}] {}: starting ({} {})", clean(&name), clean(mode.word()), child.short());
            told.children.insert(*child, (word, name));
            (Style::Step, text)
        }
        EventKind::ChildEnded { child, outcome, usage, cost_micros, .. } => {
            let known = told.children.get(child).cloned();
            let (word, name) = known.unwrap_or_else(|| ("skill", "child".to_owned()));
            let sums = sums(usage, *cost_micros);
            let text = format!("[{word}] {}: {} ({}, {sums})", clean(&name), ended(*outcome), child.short());
            (of_outcome(*outcome, Style::Step), text)
        }
        EventKind::Compacted { why, .. } => {
            let why = if why.is_empty() { String::new() } else { format!(": {}", short(why)) };
            (Style::Detail, format!("[compacted] the conversation was made shorter{why}"))
        }
        EventKind::Doubted { action, said, .. } => return vec![of_doubt(action, *said)],
        // A yes or no to one call is seen in what becomes of the call.
        EventKind::ApprovalAnswered { answer, .. } if matches!(answer.as_str(), "once" | "no") => {
            return Vec::new();
        }
        EventKind::ApprovalAnswered { answer, .. } | EventKind::Allowed { answer, .. } => {
            return vec![of_approval(answer)];
        }
        EventKind::Agreed { provider, said } => return vec![of_agreement(provider, *said)],
        EventKind::Remembered { .. } => (Style::Detail, "[memory] kept a record".to_owned()),
        EventKind::Recalled { records, .. } => {
            (Style::Detail, format!("[memory] recalled {}", counted(records.len(), "record", "records")))
        }
        EventKind::Used(used) => {
            let text = format!("[skill] {}: {}", clean(&used.skill), ended(used.outcome));
            (of_outcome(used.outcome, Style::Step), text)
        }
        EventKind::Ended(ended) => return vec![of_end(ended)],
        EventKind::Other { name, .. } => {
            (Style::Detail, format!("[{}] (a newer metier wrote this)", clean(name)))
        }
        // What is sent to a model is for programs, and a question is shown as a question.
        EventKind::Framed(_) | EventKind::Asked { .. } | EventKind::ApprovalRequested { .. } => {
            return Vec::new();
        }
    };
    vec![line(style, text)]
}

/// A number with its noun.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// The word for an end.
pub(crate) fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "complete",
        Outcome::Partial => "partial",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
        Outcome::NeedsYes => "needs a yes",
    }
}

/// The style of an end, where one that went well has this one.
pub(crate) fn of_outcome(outcome: Outcome, well: Style) -> Style {
    match outcome {
        Outcome::Done => well,
        Outcome::Failed => Style::Failure,
        Outcome::Partial | Outcome::Cancelled | Outcome::NeedsYes => Style::Caution,
    }
}

fn line(style: Style, text: impl Into<String>) -> Line {
    Line { style, text: text.into() }
}

fn short(text: &str) -> String {
    shortened(text, MAX_SHOWN)
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

/// All lines of a text, each harmless.
fn words(style: Style, text: &str) -> Vec<Line> {
    text.trim_end().lines().map(|text| line(style, clean(text))).collect()
}

fn request(text: &str) -> Vec<Line> {
    let mut lines = words(Style::Request, text);
    match lines.first_mut() {
        Some(first) => first.text.insert_str(0, "[request] "),
        None => lines.push(line(Style::Request, "[request]")),
    }
    lines
}

fn of_doubt(action: &str, said: RetryDecision) -> Line {
    let said = match said {
        RetryDecision::Retry => "it is done again",
        RetryDecision::Skip => "it is left",
        RetryDecision::Unanswered => "nobody could be asked",
    };
    line(Style::Caution, format!("[begun] {}: may have happened; {said}", short(action)))
}

/// The line for an approval, whose answer is stored as the policy writes it.
fn of_approval(stored: &str) -> Line {
    let text = match serde_json::from_value(stored.into()) {
        Ok(Answer::Always) => "always allowed in this project (undo: `metier approvals`)".to_owned(),
        Ok(Answer::SessionExact) => "allowed for this session".to_owned(),
        Ok(Answer::SessionTool) => "this tool is allowed for this session".to_owned(),
        Ok(Answer::Once) => "allowed once".to_owned(),
        Ok(Answer::No) => "not allowed".to_owned(),
        Err(_) => format!("allowed: {}", clean(stored)),
    };
    line(Style::Detail, format!("[gate] {text}"))
}

fn of_agreement(provider: &str, said: Agreement) -> Line {
    let may = match said {
        Agreement::Yes => "may",
        Agreement::No => "may not",
    };
    line(Style::Detail, format!("[gate] the provider {} {may} see this session", clean(provider)))
}

fn of_start(started: &Started) -> Vec<Line> {
    let mut lines = request(&started.request);
    let model = started.model.as_deref().map(|model| format!("; model {}", clean(model))).unwrap_or_default();
    let style = if started.failed > 0 { Style::Caution } else { Style::Detail };
    lines.push(line(style, format!("[skills] loaded {}, failed {}{model}", started.loaded, started.failed)));
    lines
}

fn of_answer(answered: &Answered) -> Vec<Line> {
    let text = answered.text();
    if text.trim().is_empty() { Vec::new() } else { words(Style::Answer, &text) }
}

fn of_activation(activated: &Activated) -> Vec<Line> {
    let name = clean(&activated.skill);
    let mut lines = vec![line(Style::Step, format!("[skill] {name}: starting"))];
    lines.extend(
        activated.notes.iter().map(|note| line(Style::Caution, format!("[skill] {name}: {}", short(note)))),
    );
    lines
}

/// The fields that say what a call is about, the most telling first.
const TELLING: [&str; 12] = [
    "command",
    "commandLine",
    "cmd",
    "script_name",
    "file_path",
    "path",
    "url",
    "pattern",
    "query",
    "question",
    "skill_name",
    "skill",
];

fn of_call(called: &Called) -> Line {
    let text = |key: &str| called.input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let about = match TELLING.iter().find_map(|key| text(key)) {
        Some(told) => match text("script_args").or_else(|| text("arguments")) {
            Some(arguments) => format!("{told} {arguments}"),
            None => told.to_owned(),
        },
        None if called.input.is_null() => String::new(),
        None => called.input.to_string(),
    };
    let for_skill = called.skill.as_deref().map(|skill| format!(" ({})", clean(skill))).unwrap_or_default();
    let text = format!("[tool] {}{for_skill} {}", clean(&called.tool), short(&about));
    line(Style::Step, text.trim_end())
}

fn of_diagnosis(code: &str, message: &str, severity: Option<&EventSeverity>, place: Option<&str>) -> Line {
    let (style, word) = match severity {
        Some(EventSeverity::Error) => (Style::Failure, "error"),
        Some(EventSeverity::Warning) => (Style::Caution, "warning"),
        Some(EventSeverity::Info | EventSeverity::Other(_)) | None => (Style::Detail, "info"),
    };
    let place = place.map(|place| format!("{}: ", clean(place))).unwrap_or_default();
    line(style, format!("[{word}] {place}{} ({})", short(message), clean(code)))
}

fn of_decision(decided: &Decided) -> Line {
    let (style, word) = match &decided.verdict {
        Verdict::Allow => (Style::Detail, "allowed"),
        Verdict::Ask => (Style::Caution, "asked"),
        Verdict::Refuse => (Style::Caution, "refused"),
        Verdict::Other(word) => (Style::Caution, word.as_str()),
    };
    let mut text = format!("[gate] {}: {}", clean(word), short(&decided.action));
    if let Some(rule) = &decided.rule {
        text.push_str(&format!(" ({})", short(rule)));
    }
    if let Some(who) = &decided.answered_by {
        text.push_str(&format!(", said {}", clean(who)));
    }
    line(style, text)
}

fn of_result(finished: &Finished, tool: Option<String>) -> Vec<Line> {
    let mut facts = Vec::new();
    if let Some(report) = &finished.report {
        match report.exit {
            Some(0) => {}
            Some(code) => facts.push(format!("exit code {code}")),
            None if !report.timed_out => facts.push("no exit code".to_owned()),
            None => {}
        }
        if report.timed_out {
            facts.push("timed out".to_owned());
        }
        if report.truncated {
            facts.push("cut".to_owned());
        }
    }
    let more = finished.text.trim().lines().count().saturating_sub(1);
    if more > 0 {
        facts.push(format!("{} more", counted(more, "line", "lines")));
    }
    facts.push(span(finished.ms));
    let tool = tool.map(|tool| format!("{}: ", clean(&tool))).unwrap_or_default();
    let first = match first_line(&finished.text) {
        "" => "[no output]".to_owned(),
        first => short(first),
    };
    let style = if finished.is_error { Style::Failure } else { Style::Detail };
    let mut lines = vec![line(style, format!("[result] {tool}{first} ({})", facts.join(", ")))];
    if let Some(changes) = &finished.change_set {
        lines.extend(changes::lines(changes));
    } else {
        let changed = finished.changes.iter();
        lines.extend(changed.map(|file| line(Style::Step, format!("[changed] {}", clean(file)))));
    }
    let denied = finished.report.iter().flat_map(|report| &report.denied);
    lines.extend(denied.map(|what| line(Style::Caution, format!("[denied] {}", short(what)))));
    lines
}

fn of_limit(which: &LimitKind, limit: u64, used: u64) -> Line {
    let amount = |number: u64| match which {
        LimitKind::Money => Money::from_micros(number).to_string(),
        _ => grouped(number),
    };
    line(Style::Caution, format!("[limit] {}: {} of {}", clean(which.word()), amount(used), amount(limit)))
}

fn of_end(over: &Ended) -> Line {
    let style = of_outcome(over.outcome, Style::Done);
    let word = if over.outcome == Outcome::Done { "done" } else { ended(over.outcome) };
    let why = over.why.as_ref().map(|why| format!(": {}", short(why))).unwrap_or_default();
    let (turns, calls) = (count(over.turns, "turn", "turns"), count(over.calls, "call", "calls"));
    let sums = sums(&over.usage, over.cost_micros);
    line(style, format!("[end] {word}{why} ({turns}, {calls}, {sums})"))
}

fn sums(usage: &Usage, cost_micros: u64) -> String {
    let cached =
        if usage.cached > 0 { format!(" + {} cached", grouped(usage.cached)) } else { String::new() };
    let cost =
        if cost_micros > 0 { format!(", cost {}", Money::from_micros(cost_micros)) } else { String::new() };
    format!("{}{cached} tokens{cost}", grouped(usage.uncached()))
}

/// A stretch of time in few letters.
fn span(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests;
