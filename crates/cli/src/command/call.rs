//! `call`: one tool call, as a model would make it.

mod session;
mod verbatim;

use self::session::Session;
use crate::args::{Call, Global};
use crate::exit::Exit;
use crate::gatekeeper::Gatekeeper;
use crate::output::{Form, Output, clean};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_runtime::{Desk, Outcome, Surface, ToolResult, Toolset};
use serde_json::{Value, json};

pub(crate) fn run(
    args: &Call,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let input: Value = serde_json::from_str(&args.input)
        .with_context(|| "the input is not JSON; quote it for the shell: '{\"key\": \"value\"}'")?;
    // On metier's own surface the tools of every system answer.
    let surface = args.surface.unwrap_or_default();
    if args.surface.is_none() && !Surface::ALL.into_iter().any(|surface| Toolset::has(surface, &args.tool)) {
        bail!("there is no tool `{}` on any surface; `metier tools` lists what there is", clean(&args.tool));
    }
    let keeper = Gatekeeper::new(global, &[], surroundings)?;
    keeper.report_problems();
    let session = Session::begin(&args.tool, args.scope.skill.as_deref(), surface, keeper, surroundings)?;
    let tools = super::tools::toolset(surface, session.snapshot());
    let active: Vec<_> = session.active().into_iter().collect();
    let desk = Desk { hands: &session, activate: &session, search: None, active: &active };
    show(&tools.call(&args.tool, &input, &desk), output)
}

fn show(result: &ToolResult, output: &mut Output) -> Result<Exit> {
    match output.form() {
        Form::Json => output.json(&json!({
            "text": result.text,
            "is_error": result.is_error(),
            "message": result.message.as_ref().map(|message| &message.text),
            "notes": result.notes,
            "decision": result.decision.as_ref().map(ToString::to_string),
        }))?,
        Form::Text => {
            for note in &result.notes {
                output.aside(&clean(note))?;
            }
            output.line(&result.text)?;
            if let Some(message) = &result.message {
                output.line(format!("\n{}", message.text))?;
            }
        }
    }
    // What ran and failed is a result like any other; what did not happen at all is a failure of the call.
    Ok(match result.outcome {
        Outcome::Done | Outcome::Failed => Exit::Fine,
        Outcome::Refused => Exit::Failed,
    })
}
