//! What a typed line means: a message, a skill by its name, a command of metier's or of a crew. Nothing here asks a model or
//! prints; the caller acts on the value.

mod command;

use std::fmt::Write;

pub use self::command::{CommandLane, SlashCommand};

/// A command of metier's own. None of them asks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinCommand {
    /// What can be typed.
    Help,
    /// The skills.
    Skills,
    /// The tools.
    Tools,
    /// The MCP servers.
    Servers,
    /// Which model is asked, and another one.
    Model,
    /// A shorter conversation.
    Compact,
    /// What it has cost.
    Cost,
    /// Another conversation.
    Resume,
    /// The end.
    Exit,
}

/// Every built-in command with its names, the first of which is shown, and what it is for.
static BUILT_IN: &[(BuiltinCommand, &[&str], &str)] = &[
    (BuiltinCommand::Help, &["help", "?"], "Lists the commands"),
    (BuiltinCommand::Skills, &["skills"], "Lists the skills"),
    (BuiltinCommand::Tools, &["tools"], "Lists the tools that the model has"),
    (BuiltinCommand::Servers, &["mcp_servers", "mcp"], "Lists the MCP servers and their tools"),
    (BuiltinCommand::Model, &["model"], "Says which model is asked, or asks another one"),
    (BuiltinCommand::Compact, &["compact"], "Makes the conversation shorter"),
    (BuiltinCommand::Cost, &["cost"], "Says what the conversation has used"),
    (BuiltinCommand::Resume, &["resume"], "Goes on with another conversation"),
    (BuiltinCommand::Exit, &["exit", "quit"], "Ends the conversation"),
];

impl BuiltinCommand {
    /// Every one, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = Self> {
        BUILT_IN.iter().map(|(command, ..)| *command)
    }

    /// The name that is shown, without the slash.
    pub fn name(self) -> &'static str {
        self.row().1.first().copied().unwrap_or_default()
    }

    /// What it is for.
    pub fn description(self) -> &'static str {
        self.row().2
    }

    fn named(name: &str) -> Option<Self> {
        BUILT_IN.iter().find(|(_, names, _)| names.contains(&name)).map(|(command, ..)| *command)
    }

    fn row(self) -> &'static (Self, &'static [&'static str], &'static str) {
        BUILT_IN.iter().find(|(command, ..)| *command == self).unwrap_or(&BUILT_IN[0])
    }
}

/// What a typed line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlashInput {
    /// Nothing was typed.
    Nothing,
    /// A message for the model, unchanged.
    Message(String),
    /// A built-in command and its arguments.
    BuiltIn(BuiltinCommand, String),
    /// A command of the agent's: its text goes to the model.
    Expanded(ExpandedCommand),
    /// A skill that the user invokes.
    Skill {
        /// Its name.
        name: String,
        /// The text after the name.
        arguments: String,
    },
    /// An answer that needs no model, such as that the command is unknown.
    Answer(String),
}

/// A command of an agent's with its arguments filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedCommand {
    /// The text for the model.
    pub text: String,
    /// The role that it is for, if the command names one.
    pub agent: Option<String>,
}

impl ExpandedCommand {
    /// The text after a line that names the role it is for: only the entry role takes messages.
    pub fn message(&self) -> String {
        match &self.agent {
            Some(agent) => format!("[Use the {agent} agent]\n{}", self.text),
            None => self.text.clone(),
        }
    }
}

/// The commands that can be typed: metier's own, those of an agent, and skills.
#[derive(Clone, Copy)]
pub struct SlashCommands<'a> {
    /// The commands of the session's agent.
    pub commands: &'a [SlashCommand],
    /// Whether the user can invoke a skill of this name.
    pub is_skill: &'a dyn Fn(&str) -> bool,
}

impl SlashCommands<'_> {
    /// Parses a typed line. A built-in command wins over a command of the agent's, and that over a skill.
    pub fn parse(&self, line: &str) -> SlashInput {
        let line = line.trim();
        if line.is_empty() {
            return SlashInput::Nothing;
        }
        if line == "?" {
            return SlashInput::BuiltIn(BuiltinCommand::Help, String::new());
        }
        let Some(rest) = line.strip_prefix('/') else { return SlashInput::Message(line.to_owned()) };
        let (name, arguments) = match rest.split_once(char::is_whitespace) {
            Some((name, arguments)) => (name, arguments.trim()),
            None => (rest, ""),
        };
        if let Some(command) = BuiltinCommand::named(name) {
            return SlashInput::BuiltIn(command, arguments.to_owned());
        }
        if let Some(command) = self.command(name) {
            return command.expand(arguments);
        }
        if (self.is_skill)(name) {
            return SlashInput::Skill { name: name.to_owned(), arguments: arguments.to_owned() };
        }
        SlashInput::Answer(unknown_command(name))
    }

    /// A command by the name that the crew file gives it, else by its file's: its own system's documents say the one and its
    /// program does the other.
    fn command(&self, name: &str) -> Option<&SlashCommand> {
        let by_name = self.commands.iter().find(|command| command.name.value == name);
        by_name.or_else(|| self.commands.iter().find(|command| command.file_name() == name))
    }

    /// The page of `/help`.
    pub fn help(&self) -> String {
        let mut page = String::from("# Available commands:\n");
        for command in BuiltinCommand::all() {
            let _ = writeln!(page, "- **/{}**: {}", command.name(), command.description());
        }
        for command in self.commands {
            let _ = writeln!(page, "- **/{}**: {}", command.name.value, folded(&command.description));
        }
        page
    }
}

/// The answer to an unknown command.
pub fn unknown_command(name: &str) -> String {
    format!("Unknown command: **{}**. Type /help to list commands.", folded(name))
}

/// The page of `/skills`.
pub fn skills_page<'a>(skills: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut page = String::from("# Available skills:\n");
    for (name, description) in skills {
        let _ = writeln!(page, "- **{name}**: {}", folded(description));
    }
    page
}

/// An untrusted text as one line, so that it cannot look like another entry of a list.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
