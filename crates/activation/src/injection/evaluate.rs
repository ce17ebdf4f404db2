//! Runs the commands of a body, each once, and says what came of each.

use std::thread;

use metier_diagnostic::visible;
use metier_exec::{
    ChangeReport, ExecEnv, InjectedLine, InjectionShell, RequestedGrants, RunError, SkillContainment,
    SkillContext, StartDir, injection_objection, run_injected,
};
use metier_policy::{Action, Actor, Decision, Need, Trust};
use metier_sandbox::{Cancel, Limits};

use super::{COMMAND_OUTPUT, COMMAND_TIME};
use crate::code;
use crate::render::{Finding, PlannedCommand};

/// How many commands run at once. Each is a process tree of its own, and somebody else uses the machine, too.
const AT_ONCE: usize = 4;

/// Words in a command that lead to what it may share with the next: the data folders, and programs of the skill, which
/// know where those are.
const SHARED: &[&str] =
    &["SKILL_DATA", "PLUGIN_DATA", "SKILL_DIR", "SKILL_ROOT", "PLUGIN_ROOT", "baseDir", "scripts/"];

/// What it takes to run the commands of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InjectionContext<'a> {
    pub(crate) env: &'a ExecEnv<'a>,
    pub(crate) context: &'a SkillContext<'a>,
    pub(crate) start: StartDir<'a>,
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
struct CommandResult {
    output: Option<String>,
    finding: Option<Finding>,
    notes: Vec<String>,
}

impl InjectionContext<'_> {
    /// Does something in the containment of commands: less time, less output, another place to start, and of what is wanted
    /// only what nobody has to be asked about.
    fn contained<T>(&self, work: impl FnOnce(&SkillContext<'_>) -> T) -> T {
        let grants = self.granted();
        let limits =
            Limits { time: COMMAND_TIME, output: COMMAND_OUTPUT, ..self.context.containment.limits.clone() };
        let containment = SkillContainment {
            limits,
            grants: &grants,
            start: self.start,
            ..self.context.containment.clone()
        };
        work(&SkillContext { containment: &containment, ..*self.context })
    }

    fn granted(&self) -> RequestedGrants {
        let mut grants = self.context.containment.grants.clone();
        let actor = || Actor::Skill(self.context.skill.clone());
        let is_granted =
            |need: &Need| self.env.gate.decide(&Action::more(actor(), need.clone())).is_allowed();
        grants.retain(is_granted);
        grants
    }
}

/// What has to be asked before the commands can run: each question once.
pub(crate) fn questions(
    injection: &InjectionContext<'_>,
    commands: &[PlannedCommand],
) -> Vec<(Action, Decision)> {
    injection.contained(|context| {
        let mut questions: Vec<(Action, Decision)> = Vec::new();
        for line in commands.iter().filter_map(PlannedCommand::injected) {
            if let Some((action, decision)) = injection_objection(injection.env, context, &line)
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
pub(crate) fn objections(
    injection: &InjectionContext<'_>,
    commands: &[PlannedCommand],
) -> Vec<Option<Decision>> {
    injection.contained(|context| {
        let of_command = |command: &PlannedCommand| {
            injection_objection(injection.env, context, &command.injected()?).map(|(_, decision)| decision)
        };
        commands.iter().map(of_command).collect()
    })
}

/// Runs the commands: side by side where they share nothing, else one after the other; the outputs are in their order.
pub(crate) fn evaluate(
    injection: &InjectionContext<'_>,
    commands: &[PlannedCommand],
    cancel: Option<&Cancel>,
) -> Evaluated {
    let Some(shell) = InjectionShell::named(injection.shell) else {
        return unknown_shell(injection.shell.unwrap_or_default(), commands);
    };
    let ones = injection.contained(|context| {
        let mut ones: Vec<CommandResult> = Vec::with_capacity(commands.len());
        let mut rest = commands;
        while let Some(first) = rest.first() {
            let alone = 1;
            let free = rest.iter().take(AT_ONCE).take_while(|command| is_free(command)).count();
            let (batch, behind) = rest.split_at(if is_free(first) { free } else { alone });
            rest = behind;
            let one = |command: &PlannedCommand| run_one(injection, context, shell, command, cancel);
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
    injection: &InjectionContext<'_>,
    context: &SkillContext<'_>,
    shell: InjectionShell,
    command: &PlannedCommand,
    cancel: Option<&Cancel>,
) -> CommandResult {
    let range = command.span.range();
    // Why it is not handed to a shell was said when it was read.
    let Some(line) = command.injected() else {
        return CommandResult { output: None, finding: None, notes: Vec::new() };
    };
    match run_injected(injection.env, context, shell, &line, cancel) {
        Ok(mut ran) => {
            ran.settle_changes(injection.env, &Actor::Skill(context.skill.clone()));
            let finding = (!ran.report.succeeded()).then(|| {
                let end = ran.text.lines().next_back().unwrap_or_default();
                let message = format!("the command `{}` failed: {}", shown(&line), visible(end));
                Finding::new(&code::COMMAND_FAILED, range, message)
            });
            let told = ran.changes.as_ref().and_then(ChangeReport::for_model);
            ran.notes.extend(told.map(|told| format!("the command `{}`: {told}", shown(&line))));
            CommandResult { output: Some(ran.text), finding, notes: ran.notes }
        }
        Err(RunError::Gate { decision, .. }) => {
            let (code, why) = match context.skill.trust {
                Trust::Untrusted => (&code::COMMAND_UNTRUSTED, "the skill is not trusted".to_owned()),
                Trust::Trusted | Trust::Changed => (&code::COMMAND_NOT_ALLOWED, decision.to_string()),
            };
            let message = format!("the command `{}` stays as text: {why}", shown(&line));
            let mut finding = Finding::new(code, range, message);
            if context.skill.trust == Trust::Untrusted {
                finding = finding.help("look at it and then run `metier trust`");
            }
            CommandResult { output: None, finding: Some(finding), notes: Vec::new() }
        }
        Err(error) => not_run(command, &error.to_string()),
    }
}

fn not_run(command: &PlannedCommand, why: &str) -> CommandResult {
    let message = format!("the command stays as text, since it could not be run: {}", visible(why));
    let finding = Finding::new(&code::COMMAND_NOT_RUN, command.span.range(), message);
    CommandResult { output: None, finding: Some(finding), notes: Vec::new() }
}

fn unknown_shell(name: &str, commands: &[PlannedCommand]) -> Evaluated {
    let why = format!("`shell: {name}` is none that metier hands values to; use bash, sh, dash, ksh or zsh");
    let findings = commands.iter().take(1).filter_map(|command| not_run(command, &why).finding);
    Evaluated { outputs: vec![None; commands.len()], findings: findings.collect(), notes: Vec::new() }
}

/// A line for people, cut.
fn shown(line: &InjectedLine<'_>) -> String {
    const MAX_SHOWN: usize = 120;
    let text = visible(line.judged);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
