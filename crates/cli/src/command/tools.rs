//! `tools`: what a model would be offered.

use crate::agency;
use crate::args::Tools;
use crate::exit::Exit;
use crate::output::{Form, Output, Tone};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::Include;
use metier_runtime::{Definition, ToolFormat};
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn run(args: &Tools, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let snapshot = Arc::new(surroundings.snapshot(Include::Usual));
    let tools = agency::base(surroundings).snapshot(snapshot).open().toolset(args.surface);
    match (args.format, output.form()) {
        (Some(format), _) => output.json(&tools.render(format))?,
        (None, Form::Json) => output.json(&tools.render(ToolFormat::Mcp))?,
        (None, Form::Text) => {
            for tool in tools.definitions() {
                let name = output.tinted(Tone::Strong, &format!("{}({})", tool.name, fields(tool)));
                output.line(name)?;
                output.block(&format!("  {}", tool.description))?;
            }
            if tools.definitions().next().is_none() {
                let text = "no skill may be offered to a model from here, so there are no tools; `metier list --all` says why";
                output.aside(text)?;
            }
        }
    }
    Ok(Exit::Fine)
}

/// The fields of a tool, the optional ones with a question mark.
fn fields(tool: &Definition) -> String {
    let required: Vec<&str> =
        tool.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = tool.schema["properties"].as_object();
    let names = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") });
    names.collect::<Vec<_>>().join(", ")
}
