//! `use`: exactly what activating a skill would put into the conversation.

mod report;

use super::exec::refused;
use crate::agency;
use crate::args::UseSkill;
use crate::declared::may_start;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{Output, clean};
use crate::servers::ask_for;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_activation::{Activation, Invoker, SkillArguments};
use metier_diagnostic::{Diagnostic, Severity};

pub(crate) fn run(args: &UseSkill, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    may_start(surroundings)?;
    let surroundings = &ask_for(&args.name, surroundings)?;
    let arguments = SkillArguments::of_command_line(args.arguments.clone());
    let skills = agency::one_call(surroundings)?.open();
    let mut session = agency::session(&skills);
    if args.dry_run {
        let plan = session.with_draft(Invoker::Viewer, &args.name, arguments, report::Plan::of);
        return match plan {
            Ok(plan) => show_plan(&plan, surroundings, output),
            Err(error) => refused(&error, output),
        };
    }
    let cancel = interrupt::listen()?;
    session.cancel_with(cancel.clone());
    let made =
        interrupt::during(&cancel, || session.activation_alone(Invoker::Viewer, &args.name, arguments));
    if cancel.is_cancelled() {
        output.aside("stopped; the skill was not activated")?;
        return Ok(Exit::NeedsYes);
    }
    match made {
        Ok(activation) => show(&activation, args, surroundings, output),
        Err(error) => refused(&error, output),
    }
}

fn show_plan(plan: &report::Plan, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    if output.is_json() {
        output.json(plan)?;
    } else {
        for line in plan.lines() {
            output.line(clean(&line))?;
        }
        say(&plan.found, Severity::Info, surroundings, output)?;
    }
    Ok(Exit::Fine)
}

fn show(
    activation: &Activation,
    args: &UseSkill,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    if output.is_json() {
        output.json(&report::json(activation))?;
    } else {
        let text = if args.raw { activation.content() } else { &activation.text };
        output.block(text)?;
        output.flush()?;
        say(&activation.diagnostics, Severity::Warning, surroundings, output)?;
        for note in &activation.notes {
            output.aside(&clean(note))?;
        }
    }
    Ok(Exit::Fine)
}

/// Says beside the answer what there is to say, from a severity on.
fn say(
    diagnostics: &[Diagnostic],
    from: Severity,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    for found in diagnostics.iter().filter(|found| found.severity() >= from) {
        let source = Surroundings::source_of(found);
        output.aside_diagnostic(&surroundings.relative(found), source.as_deref())?;
    }
    Ok(())
}
