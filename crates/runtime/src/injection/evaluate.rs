//! Runs the commands of a body, each once, and says what came of each.

use std::thread;

use metier_diagnostic::visible;
use metier_policy::{Action, Actor, Decision, Need, Trust};
use metier_sandbox::{Cancel, Limits};

use super::{COMMAND_OUTPUT, COMMAND_TIME, ShellLine};
use crate::call_changes::ChangeReport;
use crate::code;
use crate::containment::{Containment, Start};
use crate::render::{Finding, PlannedCommand};
use crate::run::injected::{Shell, objection, run_injected};
use crate::run::{NotRun, Using, Workbench};
use crate::wants::Wants;

/// How many commands run at once. Each is a process tree of its own, and somebody else uses the machine, too.
const AT_ONCE: usize = 4;

/// Words in a command that lead to what it may share with the next: the data folders, and programs of the skill, which
/// know where those are.
const SHARED: &[&str] =
    &["SKILL_DATA", "PLUGIN_DATA", "SKILL_DIR", "SKILL_ROOT", "PLUGIN_ROOT", "baseDir", "scripts/"];

/// What it takes to run the commands of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<'a> {
    pub(crate) bench: &'a Workbench<'a>,
    pub(crate) using: &'a Using<'a>,
    pub(crate) start: Start<'a>,
    /// The shell that the manifest names.
    pub(crate) shell: Option<&'a str>,
}

/// What came of the commands.
#[derive(Debug, Default)]
pub(crate) struct Evaluated {
    /// The output of each; none where it stays as text.
    pub(crate) outputs: Vec<Option<String>>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) notes: Vec<String>,
}

/// What one command came to.
struct One {
    output: Option<String>,
    finding: Option<Finding>,
    notes: Vec<String>,
}

impl Round<'_> {
    /// Does something in the containment of commands: less time, less output, another place to start, and of what is wanted
    /// only what nobody has to be asked about.
    fn contained<T>(&self, work: impl FnOnce(&Using<'_>) -> T) -> T {
        let wants = self.granted();
        let limits =
            Limits { time: COMMAND_TIME, output: COMMAND_OUTPUT, ..self.using.containment.limits.clone() };
        let containment =
            Containment { limits, wants: &wants, start: self.start, ..self.using.containment.clone() };
        work(&Using { containment: &containment, ..*self.using })
    }

    fn granted(&self) -> Wants {
        let mut wants = self.using.containment.wants.clone();
        let actor = || Actor::Skill(self.using.skill.clone());
        let is_granted =
            |need: &Need| self.bench.gate.decide(&Action::more(actor(), need.clone())).is_allowed();
        wants.retain(is_granted);
        wants
    }
}

/// What has to be asked before the commands can run: each question once.
pub(crate) fn questions(round: &Round<'_>, commands: &[PlannedCommand]) -> Vec<(Action, Decision)> {
    round.contained(|using| {
        let mut questions: Vec<(Action, Decision)> = Vec::new();
        for line in commands.iter().filter_map(|command| command.line.as_ref().ok()) {
            if let Some((action, decision)) = objection(round.bench, using, line)
                && decision.question.is_some()
                && !questions.iter().any(|(known, _)| *known == action)
            {
                questions.push((action, decision));
            }
        }
        questions
    })
}

/// What the gate has against each command.
pub(crate) fn objections(round: &Round<'_>, commands: &[PlannedCommand]) -> Vec<Option<Decision>> {
    round.contained(|using| {
        let of_command = |command: &PlannedCommand| {
            let line = command.line.as_ref().ok()?;
            objection(round.bench, using, line).map(|(_, decision)| decision)
        };
        commands.iter().map(of_command).collect()
    })
}

/// Runs the commands: side by side where they share nothing, else one after the other; the outputs are in their order.
pub(crate) fn evaluate(round: &Round<'_>, commands: &[PlannedCommand], cancel: Option<&Cancel>) -> Evaluated {
    let Some(shell) = Shell::named(round.shell) else {
        return unknown_shell(round.shell.unwrap_or_default(), commands);
    };
    let ones = round.contained(|using| {
        let mut ones: Vec<One> = Vec::with_capacity(commands.len());
        let mut rest = commands;
        while let Some(first) = rest.first() {
            let alone = 1;
            let free = rest.iter().take(AT_ONCE).take_while(|command| is_free(command)).count();
            let (batch, behind) = rest.split_at(if is_free(first) { free } else { alone });
            rest = behind;
            let one = |command: &PlannedCommand| run_one(round, using, shell, command, cancel);
            if let [command] = batch {
                ones.push(one(command));
                continue;
            }
            thread::scope(|scope| {
                let threads: Vec<_> = batch.iter().map(|command| scope.spawn(move || one(command))).collect();
                for (thread, command) in threads.into_iter().zip(batch) {
                    ones.push(thread.join().unwrap_or_else(|_| not_run(command, "it came to no end")));
                }
            });
        }
        ones
    });
    let mut evaluated = Evaluated::default();
    for one in ones {
        evaluated.outputs.push(one.output);
        evaluated.findings.extend(one.finding);
        for note in one.notes {
            if !evaluated.notes.contains(&note) {
                evaluated.notes.push(note);
            }
        }
    }
    evaluated
}

/// Whether a command can run beside others: it names nothing that both could write.
fn is_free(command: &PlannedCommand) -> bool {
    !SHARED.iter().any(|word| command.command.contains(word))
}

fn run_one(
    round: &Round<'_>,
    using: &Using<'_>,
    shell: Shell,
    command: &PlannedCommand,
    cancel: Option<&Cancel>,
) -> One {
    let range = command.span.range();
    // Why it is not handed to a shell was said when it was read.
    let Ok(line) = &command.line else { return One { output: None, finding: None, notes: Vec::new() } };
    match run_injected(round.bench, using, shell, &command.command, line, cancel) {
        Ok(mut ran) => {
            ran.settle_changes(round.bench, &Actor::Skill(using.skill.clone()));
            let finding = (!ran.report.succeeded()).then(|| {
                let end = ran.text.lines().next_back().unwrap_or_default();
                let message = format!("the command `{}` failed: {}", shown(line), visible(end));
                Finding::new(&code::COMMAND_FAILED, range, message)
            });
            let told = ran.changes.as_ref().and_then(ChangeReport::for_model);
            ran.notes.extend(told.map(|told| format!("the command `{}`: {told}", shown(line))));
            One { output: Some(ran.text), finding, notes: ran.notes }
        }
        Err(NotRun::Gate { decision, .. }) => {
            let (code, why) = match using.skill.trust {
                Trust::Untrusted => (&code::COMMAND_UNTRUSTED, "the skill is not trusted".to_owned()),
                Trust::Trusted | Trust::Changed => (&code::COMMAND_NOT_ALLOWED, decision.to_string()),
            };
            let message = format!("the command `{}` stays as text: {why}", shown(line));
            let mut finding = Finding::new(code, range, message);
            if using.skill.trust == Trust::Untrusted {
                finding = finding.help("look at it and then run `metier trust`");
            }
            One { output: None, finding: Some(finding), notes: Vec::new() }
        }
        Err(error) => not_run(command, &error.to_string()),
    }
}

fn not_run(command: &PlannedCommand, why: &str) -> One {
    let message = format!("the command stays as text, since it could not be run: {}", visible(why));
    let finding = Finding::new(&code::COMMAND_NOT_RUN, command.span.range(), message);
    One { output: None, finding: Some(finding), notes: Vec::new() }
}

fn unknown_shell(name: &str, commands: &[PlannedCommand]) -> Evaluated {
    let why = format!("`shell: {name}` is none that metier hands values to; use bash, sh, dash, ksh or zsh");
    let findings = commands.iter().take(1).filter_map(|command| not_run(command, &why).finding);
    Evaluated { outputs: vec![None; commands.len()], findings: findings.collect(), notes: Vec::new() }
}

/// A line for people, cut.
fn shown(line: &ShellLine) -> String {
    const MOST: usize = 120;
    let text = visible(&line.judged);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
