//! `use`: exactly what activating a skill would put into the conversation.

mod report;

use super::exec::refused;
use crate::args::{Global, UseSkill};
use crate::exit::Exit;
use crate::gatekeeper::Gatekeeper;
use crate::needs::Flags;
use crate::output::{Form, Output, clean};
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Purpose, Workplace};
use anyhow::{Result, bail};
use metier_catalog::{EntryId, Include, Lookup, Reference, Snapshot};
use metier_diagnostic::{Diagnostic, Paint, Severity, render_text};
use metier_policy::{Action, Decision, Dialect, McpTools, Need};
use metier_runtime::{
    Activation, Arguments, By, Draft, NotActivated, Request, Setting, Using, Variable, VariableValue,
    Workbench, injection_start,
};
use metier_sandbox::Limits;
use std::io::{self, Write};

pub(crate) fn run(
    args: &UseSkill,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let arguments = Arguments::of_command_line(args.arguments.clone());
    let snapshot = surroundings.snapshot(Include::Usual);
    let id = find(&snapshot, &args.name)?;
    let place = Workplace::of(&args.name, Active::No, Purpose::Looking, &Flags::default(), surroundings)?;
    let mut keeper = Gatekeeper::new(global, &place.needs.allowed, surroundings)?;
    keeper.report_problems();
    let show =
        Show { args, snapshot: &snapshot, id, arguments: &arguments, environment: environment(&place) };
    let mut asking = if keeper.can_ask() { Asking::First } else { Asking::Over };
    loop {
        let step = place.with(&keeper, Limits::default(), |bench, using| show.step(bench, using, asking));
        match step {
            Ok(Step::Done(answer)) => return finish(&answer, args, surroundings, output),
            Ok(Step::Ask(questions)) => {
                for (action, decision) in questions {
                    // A no leaves the command as text, which is then said.
                    keeper.ask(&action, &decision)?;
                }
                asking = Asking::Over;
            }
            Err(NotActivated::Gate { action, decision }) => {
                if !keeper.ask(&action, &decision)? {
                    return refused(&keeper, &action.sentence(), &decision, output);
                }
            }
            Err(error) => bail!(clean(&error.to_string())),
        }
    }
}

fn find(snapshot: &Snapshot, name: &str) -> Result<EntryId> {
    let reference: Reference = name.parse()?;
    match snapshot.find(&reference) {
        // Why a skill cannot be used is for the activation to say.
        Lookup::Found(id, _) | Lookup::Unusable(id, _) => Ok(id),
        other => bail!("`{name}`: {}; `metier explain {name}` says more", snapshot.in_words(&other)),
    }
}

/// The variables that the skill's processes may see. They are secrets, so none of them is put into text.
fn environment(place: &Workplace) -> Vec<Variable> {
    let names = place.needs.wants.needs().into_iter().filter_map(|need| match need {
        Need::Secret(name) => Some(name),
        _ => None,
    });
    names.map(|name| Variable { name, value: VariableValue::Sensitive }).collect()
}

/// Whether questions are still to be asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    First,
    Over,
}

/// What is shown.
struct Show<'a> {
    args: &'a UseSkill,
    snapshot: &'a Snapshot,
    id: EntryId,
    arguments: &'a Arguments,
    environment: Vec<Variable>,
}

/// How far it came.
enum Step {
    Ask(Vec<(Action, Decision)>),
    Done(Answer),
}

/// What came of it.
enum Answer {
    Plan(report::Plan),
    Activation { activation: Box<Activation>, source: String },
}

impl Show<'_> {
    fn step(&self, bench: &Workbench<'_>, using: &Using<'_>, asking: Asking) -> Result<Step, NotActivated> {
        let root = self.snapshot.entry(self.id).map(|entry| self.snapshot.root(entry).path.clone());
        let setting = Setting {
            snapshot: self.snapshot,
            id: self.id,
            using,
            start: injection_start(&root.unwrap_or_default()),
            plugin: None,
            environment: &self.environment,
            servers: &McpTools::default(),
            dialect: Dialect::Usual,
        };
        let request = Request { by: By::Viewer, arguments: self.arguments };
        let draft = Draft::open(&setting, request)?;
        if self.args.dry_run {
            return Ok(Step::Done(Answer::Plan(report::Plan::of(&draft, bench)?)));
        }
        draft.may_start(bench)?;
        if asking == Asking::First {
            let questions = draft.questions(bench)?;
            if !questions.is_empty() {
                return Ok(Step::Ask(questions));
            }
        }
        let activation = Box::new(draft.finish(bench, None)?);
        Ok(Step::Done(Answer::Activation { activation, source: draft.source().to_owned() }))
    }
}

fn finish(
    answer: &Answer,
    args: &UseSkill,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    match (answer, output.form()) {
        (Answer::Plan(plan), Form::Json) => output.json(plan)?,
        (Answer::Plan(plan), Form::Text) => {
            for line in plan.lines() {
                output.line(clean(&line))?;
            }
            say(&plan.found, &plan.source, Severity::Info, surroundings, output)?;
        }
        (Answer::Activation { activation, .. }, Form::Json) => output.json(&report::Json::of(activation))?,
        (Answer::Activation { activation, source }, Form::Text) => {
            let text = if args.raw { activation.content() } else { &activation.text };
            // A file or a pipe gets every byte; a terminal is not to be moved about by a stranger's text.
            if Output::is_terminal() {
                for line in text.lines() {
                    output.line(clean(line))?;
                }
            } else {
                output.line(text)?;
            }
            output.flush()?;
            say(&activation.diagnostics, source, Severity::Warning, surroundings, output)?;
            for note in &activation.notes {
                output.aside(&clean(note))?;
            }
        }
    }
    Ok(Exit::Fine)
}

/// Says beside the answer what there is to say, from a severity on.
fn say(
    diagnostics: &[Diagnostic],
    source: &str,
    from: Severity,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    for found in diagnostics.iter().filter(|found| found.severity() >= from) {
        let text = render_text(&surroundings.relative(found), Some(source), Paint::Plain);
        output.aside(text.trim_end())?;
    }
    io::stderr().flush()?;
    Ok(())
}
