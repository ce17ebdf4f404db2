//! What a line of a chat means: [`metier_definition`] knows commands and skills, here come the skills that stand in a message.

use metier_definition::{BuiltinCommand, SlashCommand, SlashCommands, SlashInput};

/// What somebody typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nothing.
    Nothing,
    /// A command of metier's own, with what stood behind it.
    BuiltIn(BuiltinCommand, String),
    /// A message for the model, with the skills that the user names in it.
    Message { text: String, names: Vec<String> },
    /// A skill that the user starts, with what stood behind its name.
    Skill { name: String, arguments: String },
    /// An answer that no model is needed for, such as that there is no such command.
    Answer(String),
}

/// Which names are skills.
pub(crate) trait Names {
    /// Whether somebody who writes `/NAME` means a skill by it, even one that cannot be used right now.
    fn is_skill(&self, name: &str) -> bool;
    /// Whether `$NAME` in a message activates one.
    fn is_usable(&self, name: &str) -> bool;
    /// The commands of the agent that is spoken to.
    fn commands(&self) -> &[SlashCommand];
}

impl Entry {
    /// Reads a line. Built-in commands come before skills of the same name, which `/origin:name` still reaches.
    pub(crate) fn read(line: &str, known: &impl Names) -> Self {
        let text = line.trim();
        if is_path(text) {
            return Self::message(text, known);
        }
        let commands = SlashCommands { commands: known.commands(), is_skill: &|name| known.is_skill(name) };
        match commands.parse(text) {
            SlashInput::Nothing => Self::Nothing,
            SlashInput::Message(text) => Self::message(&text, known),
            SlashInput::BuiltIn(built_in, rest) => Self::BuiltIn(built_in, rest),
            SlashInput::Expanded(expanded) => Self::message(&expanded.message(), known),
            SlashInput::Skill { name, arguments } => Self::Skill { name, arguments },
            SlashInput::Answer(text) => Self::Answer(text),
        }
    }

    fn message(text: &str, known: &impl Names) -> Self {
        let mut names: Vec<String> = Vec::new();
        for name in dollars(text).filter(|name| known.is_usable(name)) {
            if !names.iter().any(|one| one == name) {
                names.push(name.to_owned());
            }
        }
        Self::Message { text: text.to_owned(), names }
    }
}

/// Whether a line begins with a path, such as `/etc/hosts is wrong`: that is a message, and no command.
fn is_path(text: &str) -> bool {
    let Some(behind) = text.strip_prefix('/') else { return false };
    let name = behind.split(char::is_whitespace).next().unwrap_or_default();
    name.is_empty() || name.contains('/')
}

/// The words that begin with a `$`, without it and without the punctuation of the sentence behind them.
fn dollars(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter_map(|word| {
        let word = word.trim_start_matches(['(', '"', '\'']).strip_prefix('$')?;
        Some(word.trim_end_matches(|c: char| !c.is_alphanumeric()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known;

    impl Names for Known {
        fn is_skill(&self, name: &str) -> bool {
            ["deploy", "user:help", "closed"].contains(&name)
        }

        fn is_usable(&self, name: &str) -> bool {
            ["deploy", "review"].contains(&name)
        }

        fn commands(&self) -> &[SlashCommand] {
            &[]
        }
    }

    fn check(line: &str, expect: &Entry) {
        assert_eq!(&Entry::read(line, &Known), expect, "{line:?}");
    }

    fn message(text: &str, names: &[&str]) -> Entry {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Entry::Message { text: text.to_owned(), names }
    }

    fn skill(name: &str, arguments: &str) -> Entry {
        Entry::Skill { name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn a_line_is_a_command_a_skill_or_a_message() {
        check("  \n", &Entry::Nothing);
        check("?", &Entry::BuiltIn(BuiltinCommand::Help, String::new()));
        check("/help", &Entry::BuiltIn(BuiltinCommand::Help, String::new()));
        check(" /model  fast ", &Entry::BuiltIn(BuiltinCommand::Model, "fast".to_owned()));
        check("/quit", &Entry::BuiltIn(BuiltinCommand::Exit, String::new()));
        check("/cook", &Entry::Answer("Unknown command: **cook**. Type /help to list commands.".to_owned()));
        check("/deploy", &skill("deploy", ""));
        check("/deploy prod  --now\nwith care", &skill("deploy", "prod  --now\nwith care"));
        check("/user:help me", &skill("user:help", "me"));
        check("/closed", &skill("closed", ""));
        check("/etc/hosts is wrong", &message("/etc/hosts is wrong", &[]));
        check("/ is a slash", &message("/ is a slash", &[]));
        check("what is ? for", &message("what is ? for", &[]));
    }

    #[test]
    fn a_dollar_names_a_skill_where_there_is_one() {
        check(
            "use $deploy and $review, please",
            &message("use $deploy and $review, please", &["deploy", "review"]),
        );
        check("$deploy twice: $deploy", &message("$deploy twice: $deploy", &["deploy"]));
        check("it costs $5 and $HOME is mine", &message("it costs $5 and $HOME is mine", &[]));
        check("($review)", &message("($review)", &["review"]));
        check("US$deploy", &message("US$deploy", &[]));
    }
}
