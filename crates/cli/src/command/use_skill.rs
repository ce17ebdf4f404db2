//! `use`: exactly what activating a skill would put into the conversation.

mod report;

use super::exec::refused;
use crate::args::{Global, UseSkill};
use crate::candidate::{Asked, Asking, Candidate, Step, step};
use crate::declared::may_start;
use crate::exit::Exit;
use crate::gatekeeper::Gatekeeper;
use crate::interrupt;
use crate::needs::Flags;
use crate::output::{Form, Output, clean};
use crate::servers::ask_for;
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Purpose, Ready, Workplace, find};
use anyhow::{Result, bail};
use metier_catalog::Include;
use metier_diagnostic::{Diagnostic, Severity};
use metier_policy::Dialect;
use metier_runtime::{Activation, Arguments, By, NotActivated};

pub(crate) fn run(
    args: &UseSkill,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    may_start(surroundings)?;
    let surroundings = &ask_for(&args.name, surroundings)?;
    let arguments = Arguments::of_command_line(args.arguments.clone());
    let ready = Ready::begin(Purpose::Looking, surroundings);
    let snapshot = surroundings.snapshot(Include::Usual);
    let id = find(&snapshot, &args.name)?;
    let place = Workplace::at(&snapshot, id, Active::No, &Flags::default(), surroundings, ready)?;
    let mut keeper = Gatekeeper::new(global, &place.needs.allowed, surroundings)?;
    keeper.report_problems();
    let candidate = Candidate::new(&snapshot, id, &place, Dialect::Usual, surroundings);
    let asked = Asked { by: By::Viewer, arguments: &arguments };
    let mut asking = Asking::of(&keeper);
    let cancel = interrupt::listen()?;
    loop {
        let answer = candidate.with(asked, &keeper, |draft, bench| {
            if args.dry_run {
                return Ok(Answer::Plan(report::Plan::of(draft, bench)?));
            }
            draft.may_start(bench)?;
            let step = step(draft, bench, asking, &cancel)?;
            Ok(Answer::Step { step, source: draft.source().to_owned() })
        });
        match answer {
            Ok(Answer::Plan(plan)) => return show_plan(&plan, surroundings, output),
            Ok(Answer::Step { step: Step::Done(activation), source }) => {
                return show(&activation, &source, args, surroundings, output);
            }
            Ok(Answer::Step { step: Step::Ask(questions), .. }) => {
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

/// What came of it.
enum Answer {
    Plan(report::Plan),
    Step { step: Step, source: String },
}

fn show_plan(plan: &report::Plan, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    match output.form() {
        Form::Json => output.json(plan)?,
        Form::Text => {
            for line in plan.lines() {
                output.line(clean(&line))?;
            }
            say(&plan.found, &plan.source, Severity::Info, surroundings, output)?;
        }
    }
    Ok(Exit::Fine)
}

fn show(
    activation: &Activation,
    source: &str,
    args: &UseSkill,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    match output.form() {
        Form::Json => output.json(&report::Json::of(activation))?,
        Form::Text => {
            let text = if args.raw { activation.content() } else { &activation.text };
            output.block(text)?;
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
        output.aside_diagnostic(&surroundings.relative(found), Some(source))?;
    }
    Ok(())
}
