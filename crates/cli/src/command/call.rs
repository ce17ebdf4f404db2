//! `call`: one tool call, as a model would make it.

use crate::agency;
use crate::args::Call;
use crate::declared::may_start;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_exec::ResultOptions;
use metier_runtime::{Outcome, Surface, ToolResult, Toolset};
use metier_sandbox::Existing;
use serde_json::{Value, json};

pub(crate) fn run(args: &Call, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let input: Value = serde_json::from_str(&args.input)
        .with_context(|| "the input is not JSON; quote it for the shell: '{\"key\": \"value\"}'")?;
    // On metier's own surface the tools of every system answer.
    let surface = args.surface.unwrap_or_default();
    if args.surface.is_none() && !Surface::ALL.into_iter().any(|surface| Toolset::has(surface, &args.tool)) {
        bail!("there is no tool `{}` on any surface; `metier tools` lists what there is", clean(&args.tool));
    }
    may_start(surroundings)?;
    let existing = if args.force { Existing::Replaced } else { Existing::Stay };
    let options = ResultOptions { existing, hidden: false };
    let results = surroundings.result_folder(args.out.as_deref(), options)?;
    let skills = agency::one_call(surroundings)?.open();
    let cancel = interrupt::listen()?;
    let mut session = agency::session_on(&skills, surface);
    session.cancel_with(cancel.clone());
    session.keep_outputs(args.out.clone().zip(results));
    for name in &args.scope.skills {
        session.open_scope(name).map_err(|error| agency::not_used(&error))?;
    }
    let result = interrupt::during(&cancel, || session.call(&args.tool, &input));
    show(&result, output)
}

fn show(result: &ToolResult, output: &mut Output) -> Result<Exit> {
    if output.is_json() {
        output.json(&json!({
            "text": result.text,
            "is_error": result.is_error(),
            "message": result.message.as_ref().map(|message| &message.text),
            "notes": result.notes,
            "decision": result.decision.as_ref().map(ToString::to_string),
        }))?;
    } else {
        for note in &result.notes {
            output.aside(&clean(note))?;
        }
        output.block(&result.text)?;
        if let Some(message) = &result.message {
            output.line("")?;
            output.block(&message.text)?;
        }
    }
    // What ran and failed is a result like any other; what did not happen at all is a failure of the call.
    Ok(match result.outcome {
        Outcome::Done | Outcome::Failed => Exit::Fine,
        Outcome::Refused | Outcome::Waiting => Exit::Failed,
    })
}
