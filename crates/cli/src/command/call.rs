//! `call`: one tool call, as a model would make it.

mod session;

use self::session::Session;
use crate::args::{Call, Global};
use crate::exit::Exit;
use crate::output::{Form, Output, clean};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::Finder;
use metier_runtime::{Desk, Outcome, Search, Surface, ToolResult, Toolset};
use metier_skill::Tool;
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
    let session = Session::begin(args, surface, global, surroundings)?;
    let tools = super::tools::toolset(surface, session.snapshot());
    // All skills are read for a search, so there is an index only where somebody searches.
    let is_search = Tool::named(&args.tool) == Some(Tool::SkillSearch) && args.tool != "list_skills";
    let finder = is_search.then(|| finder(&session, surroundings, output)).transpose()?;
    let search = finder.as_ref().map(|finder| finder as &dyn Search);
    let desk = Desk { hands: &session, activate: &session, search, active: session.active() };
    show(&tools.call(&args.tool, &input, &desk), output)
}

/// The index of this session's skills. What it learned is kept for the next time; where it cannot be, it is said.
fn finder(session: &Session<'_>, surroundings: &Surroundings, output: &mut Output) -> Result<Finder> {
    let finder = Finder::open(session.snapshot(), surroundings.places.cache.as_deref());
    if let Err(error) = finder.save() {
        output.aside(&format!(
            "the search index is not kept, so the next search reads all skills again: {error}"
        ))?;
    }
    Ok(finder)
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
            output.block(&result.text)?;
            if let Some(message) = &result.message {
                output.line("")?;
                output.block(&message.text)?;
            }
        }
    }
    // What ran and failed is a result like any other; what did not happen at all is a failure of the call.
    Ok(match result.outcome {
        Outcome::Done | Outcome::Failed => Exit::Fine,
        Outcome::Refused => Exit::Failed,
    })
}
