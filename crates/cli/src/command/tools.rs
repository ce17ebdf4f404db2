//! `tools`: what a model would be offered.

use crate::agency;
use crate::args::Tools;
use crate::output::{Output, Tone};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::Include;
use metier_runtime::{Definition, ToolFormat};
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn run(args: &Tools, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let snapshot = Arc::new(surroundings.snapshot(Include::Usual));
    let tools = agency::base(surroundings).snapshot(snapshot).open().toolset(args.surface);
    if let Some(format) = args.format.or(output.is_json().then_some(ToolFormat::Mcp)) {
        return output.json(&tools.render(format));
    }
    for tool in tools.definitions() {
        output.line(output.tinted(Tone::Strong, &format!("{}({})", tool.name, fields(tool))))?;
        output.block(&format!("  {}", tool.description))?;
    }
    if tools.definitions().next().is_none() {
        output.aside(
            "no skill may be offered to a model from here, so there are no tools; `metier list --all` says why",
        )?;
    }
    Ok(())
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
