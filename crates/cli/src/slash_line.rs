//! A request to an agent that begins with a slash: answered at once where no model is needed for it.

use crate::agent_choice::AgentChoice;
use crate::exit::Exit;
use crate::output::clean;
use metier_catalog::{Entry, Lookup, Reference};
use metier_definition::{BuiltinCommand, SlashCommands, SlashInput, skills_page};

/// What became of it.
pub(crate) enum Typed {
    /// Words for the model.
    Request(String),
    /// A skill that the user starts, with what was typed behind it.
    Skill(String, String),
    /// An answer; no model is asked.
    Answer(String, Exit),
}

/// Reads a request to an agent.
pub(crate) fn read(request: &str, agent: &AgentChoice) -> Typed {
    let skills = skills(agent);
    let is_skill =
        |name: &str| skills.iter().any(|entry| entry.name().as_str() == name && entry.is_user_invocable());
    let commands = SlashCommands { commands: &agent.read.definition.commands, is_skill: &is_skill };
    match commands.parse(request) {
        SlashInput::Message(_) | SlashInput::Nothing => Typed::Request(request.to_owned()),
        SlashInput::Skill { name, arguments } => Typed::Skill(name, arguments),
        SlashInput::Expanded(expanded) => Typed::Request(expanded.message()),
        SlashInput::BuiltIn(BuiltinCommand::Help, _) => Typed::Answer(commands.help(), Exit::Fine),
        SlashInput::BuiltIn(BuiltinCommand::Skills, _) => {
            let listed = skills.iter().map(|entry| (entry.name().as_str(), entry.description()));
            Typed::Answer(skills_page(listed), Exit::Fine)
        }
        SlashInput::BuiltIn(other, _) => Typed::Answer(
            format!("`/{}` is for a conversation: see `metier chat`\n", other.name()),
            Exit::Failed,
        ),
        SlashInput::Answer(text) => Typed::Answer(format!("{}\n", clean(&text)), Exit::Failed),
    }
}

/// The skills that the agent sees, in the order of its list.
fn skills(agent: &AgentChoice) -> Vec<&Entry> {
    let snapshot = &agent.snapshot;
    let own = agent.role().and_then(|role| agent.read.definition.reachable_from(role, snapshot));
    let Some(own) = own else {
        return snapshot.entries().map(|(_, entry)| entry).filter(|entry| entry.is_offered()).collect();
    };
    let found = own.iter().filter_map(|name| match snapshot.find(&name.parse::<Reference>().ok()?) {
        Lookup::Found(_, entry) => Some(entry),
        _ => None,
    });
    found.collect()
}
