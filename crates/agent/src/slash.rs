//! What a user typed, understood: a message, a skill by its name, a command of metier's or of a crew. Nothing here asks a model or
//! writes anything; whoever sits at the terminal acts on the value.

mod command;

use std::fmt::Write;

pub use self::command::{Command, Lane};

/// A command that metier has itself. None of them asks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltIn {
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
static BUILT_IN: &[(BuiltIn, &[&str], &str)] = &[
    (BuiltIn::Help, &["help", "?"], "Lists the commands"),
    (BuiltIn::Skills, &["skills"], "Lists the skills"),
    (BuiltIn::Tools, &["tools"], "Lists the tools that the model has"),
    (BuiltIn::Servers, &["mcp_servers", "mcp"], "Lists the MCP servers and their tools"),
    (BuiltIn::Model, &["model"], "Says which model is asked, or asks another one"),
    (BuiltIn::Compact, &["compact"], "Makes the conversation shorter"),
    (BuiltIn::Cost, &["cost"], "Says what the conversation has used"),
    (BuiltIn::Resume, &["resume"], "Goes on with another conversation"),
    (BuiltIn::Exit, &["exit", "quit"], "Ends the conversation"),
];

impl BuiltIn {
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

/// What a line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slash {
    /// Nothing was typed.
    Nothing,
    /// Words for the model, as they are.
    Message(String),
    /// A command of metier's own, with what was typed behind it.
    BuiltIn(BuiltIn, String),
    /// A command of the agent's: these words go to the model.
    Expanded(Expanded),
    /// A skill that the user starts.
    Skill {
        /// Its name.
        name: String,
        /// What was typed behind it.
        arguments: String,
    },
    /// An answer that no model is needed for, such as that there is no such command.
    Answer(String),
}

/// A command of an agent's, with its arguments put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The words for the model.
    pub text: String,
    /// The role they are for, where the command says so.
    pub agent: Option<String>,
}

impl Expanded {
    /// The words with a line before them that says whom they are for: where nobody but the entry role can be spoken to.
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
    /// The commands of the agent that is spoken to.
    pub commands: &'a [Command],
    /// Whether a skill of this name can be started by the user.
    pub is_skill: &'a dyn Fn(&str) -> bool,
}

impl SlashCommands<'_> {
    /// Understands what was typed. A built-in command goes before a command of the agent's, and that before a skill.
    pub fn read(&self, line: &str) -> Slash {
        let line = line.trim();
        if line.is_empty() {
            return Slash::Nothing;
        }
        if line == "?" {
            return Slash::BuiltIn(BuiltIn::Help, String::new());
        }
        let Some(rest) = line.strip_prefix('/') else { return Slash::Message(line.to_owned()) };
        let (name, arguments) = match rest.split_once(char::is_whitespace) {
            Some((name, arguments)) => (name, arguments.trim()),
            None => (rest, ""),
        };
        if let Some(command) = BuiltIn::named(name) {
            return Slash::BuiltIn(command, arguments.to_owned());
        }
        if let Some(command) = self.command(name) {
            return command.expand(arguments);
        }
        if (self.is_skill)(name) {
            return Slash::Skill { name: name.to_owned(), arguments: arguments.to_owned() };
        }
        Slash::Answer(unknown(name))
    }

    /// A command by the name that the crew file gives it, else by its file's: its own system's documents say the one and its
    /// program does the other.
    fn command(&self, name: &str) -> Option<&Command> {
        let by_name = self.commands.iter().find(|command| command.name.value == name);
        by_name.or_else(|| self.commands.iter().find(|command| command.file_name() == name))
    }

    /// The page of `/help`.
    pub fn help(&self) -> String {
        let mut page = String::from("# Available commands:\n");
        for command in BuiltIn::all() {
            let _ = writeln!(page, "- **/{}**: {}", command.name(), command.description());
        }
        for command in self.commands {
            let _ = writeln!(page, "- **/{}**: {}", command.name.value, folded(&command.description));
        }
        page
    }
}

/// What is said of a command that there is none of.
pub fn unknown(name: &str) -> String {
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

/// A stranger's text as one line, so that it cannot look like another entry of a list.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
