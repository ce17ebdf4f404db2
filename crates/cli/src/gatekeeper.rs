//! Whoever stands at the gate: the rules in force, the answers that were given, and the questions at a terminal.

use crate::approval_store::ApprovalStore;
use crate::question::{self, Question};
use anyhow::{Context, Result};
use metier_files::{Mode, read_bounded, write_atomic};
use metier_policy::{Action, Answer, Answers, Decision, Deed};
use metier_runtime::ApprovalRequest;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The largest file that is read. Real ones have a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// The file below metier's data that has the last refusal.
const LAST: &str = "last-refusal.json";

/// What was refused last.
#[derive(Deserialize, Serialize)]
pub(crate) struct LastRefusal {
    /// When.
    pub(crate) when: String,
    /// What was to happen, in words.
    pub(crate) action: String,
    /// What was decided and why, in words.
    pub(crate) decision: String,
    /// The rules that would allow it.
    pub(crate) allow_with: Vec<String>,
}

/// Remembers a refusal for `explain --last`. That it cannot be remembered is no reason to fail.
pub(crate) fn remember(data: &Path, action: &Action, decision: &Decision) {
    let last = LastRefusal {
        when: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        action: action.sentence(),
        decision: decision.to_string(),
        allow_with: decision.allow_with.iter().map(ToString::to_string).collect(),
    };
    if let Ok(bytes) = serde_json::to_vec_pretty(&last) {
        let _ = write_atomic(&data.join(LAST), &bytes, Mode::Private);
    }
}

/// How long an answer can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// One call is all there is.
    Call,
    /// More may come in the same session.
    Session,
}

/// Puts a question to the person at the terminal, with all that a yes would grant. An approval for good is kept at once.
pub(crate) fn prompt(asked: &ApprovalRequest<'_>, span: Span, approvals: &ApprovalStore) -> Result<Answer> {
    let ApprovalRequest { action, decision, change, .. } = *asked;
    let request = action.approval_request();
    let mut lines = request.lines();
    lines.extend(change.iter().flat_map(|change| change.diff.lines()).map(|line| format!("  {line}")));
    lines.push(decision.by.to_string());
    // An approval for good is bound to the skill's files where their digest is known.
    let is_bound = action.skill().is_some_and(|skill| skill.tree.is_some());
    let is_long = request.is_whole && span == Span::Session;
    let session = if is_long { "  this [s]ession  this [t]ool this session" } else { "" };
    let always = match (request.is_whole, is_bound) {
        // What was not shown whole is approved once.
        (false, _) => "",
        (true, true) => "  [a]lways in this project for this version",
        (true, false) => "  [a]lways in this project",
    };
    let diff = changed_lines(action);
    let shows = if diff.is_empty() { "" } else { "  [d]iff" };
    let choices = format!("[y]es once{session}{always}{shows}  [n]o");
    let answer = question::ask(&Question { lines, choices, diff }, Answer::No, |said| match said {
        "y" | "yes" => Some(Answer::Once),
        "a" | "always" if request.is_whole => Some(Answer::Always),
        "s" | "session" if is_long => Some(Answer::SessionExact),
        "t" | "tool" if is_long => Some(Answer::SessionTool),
        "n" | "no" | "" => Some(Answer::No),
        _ => None,
    })?;
    if let (Answer::Always, Some(question)) = (answer, &decision.question)
        && let Some(kept) = Answers::default().give(question, answer)
        && let Err(error) = approvals.keep(kept)
    {
        crate::output::complain(&error.context("the approval holds for this session only"));
        return Ok(Answer::SessionExact);
    }
    Ok(answer)
}

/// The changed lines of what a command changed.
fn changed_lines(action: &Action) -> Vec<String> {
    let Deed::Changes(changes) = &action.deed else { return Vec::new() };
    let diffs = changes.iter().filter_map(|change| change.diff.as_deref());
    diffs.flat_map(str::lines).map(str::to_owned).collect()
}

/// What was refused last, if anything was.
pub(crate) fn last_refusal(data: &Path) -> Result<Option<LastRefusal>> {
    let file = data.join(LAST);
    let Some(bytes) = read_bounded(&file, MAX_BYTES).with_context(|| unreadable(&file))? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_slice(&bytes).with_context(|| unreadable(&file))?))
}

fn unreadable(file: &Path) -> String {
    format!("{} cannot be read; remove it to begin anew", file.display())
}
