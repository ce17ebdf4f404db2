//! Whoever stands at the gate: the rules in force, the answers that were given, and the questions at a terminal.

use crate::args::Global;
use crate::keyboard;
use crate::question::{self, Question};
use crate::screen;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_files::{Mode, read_bounded, write_atomic};
use metier_policy::{
    Action, Answer, Answers, Asking, Decision, Deed, Gate, Kept, Layer, List, Owner,
    Question as GateQuestion, Rules, Ruling, Scope, Source,
};
use metier_runtime::{Asker, rules_in_force};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest file of answers that is read. Real ones have a few kilobytes.
const MOST_BYTES: u64 = 1 << 20;

/// The file below metier's data that has the last refusal.
const LAST: &str = "last-refusal.json";

/// The rules in force, and what was answered.
pub(crate) struct Gatekeeper {
    rules: Rules,
    answers: Answers,
    asking: Asking,
    /// Where answers that hold for good are kept: the user's own folder, never a project's.
    kept: PathBuf,
    /// Where the last refusal is remembered, for `explain --last`.
    last: PathBuf,
}

/// The file of answers that hold for good.
#[derive(Default, Deserialize, Serialize)]
struct KeptAnswers {
    #[serde(default)]
    answers: Vec<Kept>,
}

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

impl Gatekeeper {
    /// Reads the rules and the answers. `allowed` are rules that the command line gave in other words.
    pub(crate) fn new(global: &Global, allowed: &[String], surroundings: &Surroundings) -> Result<Self> {
        let mut flags = Layer::new(Source::new(Owner::Flag, "the command line"))
            .list(List::Deny, &global.deny)
            .list(List::Allow, global.allow.iter().chain(allowed));
        if let Some(mode) = &global.mode {
            flags = flags.mode(mode);
        }
        let rules = rules_in_force(&surroundings.layout, |file| surroundings.shown(file), flags);
        let kept = answers_file(surroundings);
        let asking = if keyboard::can_ask() { Asking::Terminal } else { Asking::Nobody };
        Ok(Self {
            rules,
            answers: Answers::new(read_kept(&kept)?.answers),
            asking,
            kept,
            last: surroundings.places.data.join(LAST),
        })
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The gate, while these skills are active.
    pub(crate) fn gate<'a>(&'a self, scopes: &'a [Scope]) -> Gate<'a> {
        Gate { rules: &self.rules, answers: &self.answers, scopes, asking: self.asking }
    }

    /// Says on standard error what in the rules could not be taken as it is written.
    pub(crate) fn report_problems(&self) {
        for problem in self.rules.problems() {
            screen::err_line(screen::harmless(&problem.to_string()));
        }
    }

    /// Asks about a decision that needs a yes, and takes the answer. True when it may be tried again.
    pub(crate) fn ask(&mut self, action: &Action, decision: &Decision) -> Result<bool> {
        let Some(question) = decision.question.as_ref().filter(|_| decision.ruling == Ruling::Ask) else {
            return Ok(false);
        };
        let answer = prompt(action, decision, Span::Call)?;
        take(&mut self.answers, &self.kept, question, answer)
    }

    /// Whether somebody can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.asking == Asking::Terminal
    }

    /// Who asks about hosts while a script waits, where somebody can be asked.
    pub(crate) fn asker(&self) -> Option<Arc<dyn Asker>> {
        (self.asking == Asking::Terminal).then(|| {
            let answers = Mutex::new(self.answers.clone());
            Arc::new(AtTheTerminal { answers, kept: self.kept.clone() }) as Arc<dyn Asker>
        })
    }

    /// Remembers a refusal for `explain --last`. That it cannot be remembered is no reason to fail.
    pub(crate) fn remember(&self, action: &str, decision: &Decision) {
        let last = LastRefusal {
            when: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            action: action.to_owned(),
            decision: decision.to_string(),
            allow_with: decision.allow_with.iter().map(ToString::to_string).collect(),
        };
        if let Ok(bytes) = serde_json::to_vec_pretty(&last) {
            let _ = write_atomic(&self.last, &bytes, Mode::Private);
        }
    }
}

/// Asks at the terminal while something runs. One question at a time: the lock is held until it is answered.
struct AtTheTerminal {
    answers: Mutex<Answers>,
    kept: PathBuf,
}

impl Asker for AtTheTerminal {
    fn ask(&self, action: &Action, decision: &Decision) -> bool {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(question) = &decision.question else { return false };
        let asked = prompt(action, decision, Span::Call)
            .and_then(|answer| take(&mut answers, &self.kept, question, answer));
        match asked {
            Ok(is_yes) => is_yes,
            Err(error) => {
                crate::output::complain(&error);
                false
            }
        }
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

/// The answers that hold for good.
pub(crate) fn kept(surroundings: &Surroundings) -> Result<Vec<Kept>> {
    Ok(read_kept(&answers_file(surroundings))?.answers)
}

/// Keeps answers that hold for good.
pub(crate) fn keep_all(surroundings: &Surroundings, kept: Vec<Kept>) -> Result<()> {
    let file = answers_file(surroundings);
    let known = read_kept(&file)?.answers;
    kept.into_iter().filter(|one| !known.contains(one)).try_for_each(|one| keep(&file, one))
}

fn answers_file(surroundings: &Surroundings) -> PathBuf {
    surroundings.places.config.join("answers.json")
}

/// Puts a question to whoever sits at the terminal, with all that a yes would grant.
pub(crate) fn prompt(action: &Action, decision: &Decision, span: Span) -> Result<Answer> {
    let mut lines = action.approval_request().lines();
    if let Deed::Tool { place: Some(place), .. } = &action.deed {
        lines.extend(question::attached(place.as_str()).iter().map(|line| format!("  {line}")));
    }
    lines.push(decision.by.to_string());
    // An answer for good is bound to the skill's files where their digest is known.
    let is_bound = action.skill().is_some_and(|skill| skill.tree.is_some());
    let always = if is_bound { "[a]lways for this version" } else { "[a]lways" };
    let session = match span {
        Span::Call => "",
        Span::Session => "  this [s]ession  this [t]ool this session",
    };
    let choices = format!("[y]es once{session}  {always}  [n]o");
    let answer = question::ask(&Question { lines, choices }, Answer::No, |said| match said {
        "y" | "yes" => Some(Answer::Once),
        "a" | "always" => Some(Answer::Always),
        "s" | "session" if span == Span::Session => Some(Answer::SessionExact),
        "t" | "tool" if span == Span::Session => Some(Answer::SessionTool),
        "n" | "no" | "" => Some(Answer::No),
        _ => None,
    })?;
    Ok(answer)
}

/// Takes an answer, and keeps it where it is for good. True when it is a yes.
fn take(answers: &mut Answers, file: &Path, question: &GateQuestion, answer: Answer) -> Result<bool> {
    if answer == Answer::No {
        return Ok(false);
    }
    // One call is the whole session here, so "once" has to last until it is made.
    let given = if answer == Answer::Once { Answer::SessionExact } else { answer };
    if let Some(kept) = answers.give(question, given)
        && answer == Answer::Always
    {
        keep(file, kept)?;
    }
    Ok(true)
}

/// What was refused last, if anything was.
pub(crate) fn last_refusal(data: &Path) -> Result<Option<LastRefusal>> {
    let file = data.join(LAST);
    let Some(bytes) = read_bounded(&file, MOST_BYTES).with_context(|| unreadable(&file))? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_slice(&bytes).with_context(|| unreadable(&file))?))
}

fn unreadable(file: &Path) -> String {
    format!("{} cannot be read; remove it to begin anew", file.display())
}

/// Answers that cannot be read are an error, not nothing: a "no" may be among them one day, and a file that is silently
/// begun anew is lost.
fn read_kept(file: &Path) -> Result<KeptAnswers> {
    let Some(bytes) = read_bounded(file, MOST_BYTES).with_context(|| unreadable(file))? else {
        return Ok(KeptAnswers::default());
    };
    serde_json::from_slice(&bytes).with_context(|| unreadable(file))
}

fn keep(file: &Path, kept: Kept) -> Result<()> {
    let mut answers = read_kept(file)?;
    answers.answers.push(kept);
    answers.answers.sort();
    answers.answers.dedup();
    let bytes = serde_json::to_vec_pretty(&answers)?;
    write_atomic(file, &bytes, Mode::Private)
        .with_context(|| format!("the answer could not be kept in {}", file.display()))
}
