//! Calls one general tool in the current folder and shows the result as a model gets it:
//! `cargo run -p metier-tools --example general_tools -- Grep '{"pattern": "fn main"}'`.
//!
//! It is its own sandbox helper, and the tests of this crate use it as theirs.

#![allow(clippy::print_stdout, reason = "an example is a program")]

use std::sync::Arc;

use metier_runtime::{CallControl, Skills, ToolContext, ToolRegistry, begin};
use metier_tools::{GeneralTools, Setting};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    begin(std::env::args_os());
    let mut arguments = std::env::args().skip(1);
    let (name, input) = (arguments.next().ok_or("which tool?")?, arguments.next().ok_or("with what input?")?);
    let project = std::env::current_dir()?;
    let skills = Skills::builder()
        .project(&project)
        .temporary(std::env::temp_dir())
        .search_path(std::env::var_os("PATH").unwrap_or_default())
        .read_only()
        .open();
    let session = skills.session();

    let setting = Setting { project: Some(project), commands: true, ..Setting::default() };
    let mut tools = ToolRegistry::default();
    tools.add(Arc::new(GeneralTools::new(setting)?).registered());
    let tool = tools.find(&name).ok_or_else(|| format!("no tool named `{name}`; there are {tools:?}"))?;
    let context = ToolContext { skills: &session, control: CallControl::default() };
    let result = context.call(tool, &serde_json::from_str(&input)?);
    for note in &result.notes {
        println!("note: {note}");
    }
    println!("{}", result.text);
    Ok(())
}
