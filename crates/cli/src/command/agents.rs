//! `agents`: the agents and crews that somebody wrote down, and what is wrong with them.

use crate::agent_choice::AgentChoice;
use crate::args::Agents;
use crate::exit::Exit;
use crate::output::{Output, Tone, clean, shortened};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_definition::{DefinitionFormat, Role, SkillDisclosure, SkillList, definitions};
use metier_diagnostic::{Diagnostic, JsonDiagnostic, Severity, counted};
use serde_json::{Value, json};

/// How much of a description a line has room for, in characters.
const MAX_DESCRIPTION: usize = 80;

pub(crate) fn run(args: &Agents, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let mut agents = Vec::new();
    if args.names.is_empty() {
        for found in definitions(&surroundings.layout) {
            agents.push(AgentChoice::of(found, surroundings));
        }
    }
    for name in &args.names {
        agents.push(AgentChoice::find(name, surroundings)?);
    }
    if output.is_json() {
        let list: Vec<Value> = agents.iter().map(object).collect();
        output.json(&json!({ "agents": list }))?;
    } else {
        for agent in &agents {
            write(agent, args, output)?;
        }
        if agents.is_empty() {
            output.comment(
                    "there are no agents here; `.metier/agents/NAME.md` is one, and docs/agents.md has the other forms",
                )?;
        }
    }
    // Whoever names agents asks whether they are sound; a listing could answer.
    let is_valid = args.names.is_empty() || agents.iter().all(|agent| agent.read.is_valid());
    Ok(if is_valid { Exit::Fine } else { Exit::Failed })
}

fn write(agent: &AgentChoice, args: &Agents, output: &mut Output) -> Result<()> {
    let definition = &agent.read.definition;
    let name = output.tinted(Tone::Strong, &definition.name.value);
    let standing = if agent.is_untrusted() {
        output.tinted(Tone::Caution, " (not trusted)")
    } else if agent.read.is_valid() {
        String::new()
    } else {
        output.tinted(Tone::Bad, " (does not start)")
    };
    let what = agent.role().and_then(|role| role.description.as_ref()).map_or("", |what| what.value.as_str());
    let what = shortened(what, MAX_DESCRIPTION);
    let line = format!("{name}  {}  {}{standing}", definition.format.word(), clean(&agent.shown()));
    output.line(if what.is_empty() { line } else { format!("{line}  {what}") })?;
    for role in &definition.roles {
        let whose = if definition.format == DefinitionFormat::Crew {
            format!("{}: ", clean(&role.name.value))
        } else {
            String::new()
        };
        output.comment(format!("  {whose}{}", clean(&sees(role))))?;
    }
    let from = if args.names.is_empty() { Severity::Warning } else { Severity::Info };
    for found in agent.read.diagnostics.iter().filter(|found| found.severity() >= from) {
        agent.surroundings.show(found, output)?;
    }
    Ok(())
}

/// What a role sees, in words.
fn sees(role: &Role) -> String {
    let skills = match &role.skills {
        SkillList::All => "all skills".to_owned(),
        SkillList::Named(wishes) if wishes.is_empty() => "no skills".to_owned(),
        SkillList::Named(wishes) => {
            let names: Vec<&str> = wishes.iter().map(|wish| wish.name.value.as_str()).collect();
            format!("{}: {}", counted(names.len(), "skill", "skills"), names.join(", "))
        }
    };
    match &role.model {
        Some(model) => format!("{skills}; model {}", model.value),
        None => skills,
    }
}

fn object(agent: &AgentChoice) -> Value {
    let definition = &agent.read.definition;
    let diagnostics: Vec<Value> = agent
        .read
        .diagnostics
        .iter()
        .map(|found: &Diagnostic| json!(JsonDiagnostic::from(&agent.surroundings.relative(found))))
        .collect();
    let role = |role: &Role| {
        let skills = match &role.skills {
            SkillList::All => Value::Null,
            SkillList::Named(wishes) => wishes.iter().map(|wish| wish.name.value.as_str()).collect(),
        };
        json!({
            "name": role.name.value,
            "description": role.description.as_ref().map(|text| &text.value),
            "model": role.model.as_ref().map(|text| &text.value),
            "skills": skills,
            "tools": role.tools.as_ref().map(|tools| tools.value.iter().map(ToString::to_string).collect::<Vec<_>>()),
            "servers": role.servers.iter().map(|server| server.value.name()).collect::<Vec<_>>(),
            "disclosure": role.disclosure.map(SkillDisclosure::word),
        })
    };
    json!({
        "name": definition.name.value,
        "form": definition.format.word(),
        "path": agent.shown(),
        "place": agent.found.origin.word(),
        "trusted": agent.found.origin.is_trusted(),
        "sound": agent.read.is_valid(),
        "entry": definition.entry().map(|role| &role.name.value),
        "roles": definition.roles.iter().map(role).collect::<Vec<_>>(),
        "commands": definition.commands.iter().map(|command| &command.name.value).collect::<Vec<_>>(),
        "diagnostics": diagnostics,
    })
}
