//! What a line of a chat means: [`metier_definition`] knows commands and skills, here come paths, and the skills that a message
//! names.

use metier_definition::{SlashCommands, SlashInput};

/// Reads a line.
pub(crate) fn read(line: &str, commands: SlashCommands<'_>) -> SlashInput {
    let text = line.trim();
    if is_path(text) { SlashInput::Message(text.to_owned()) } else { commands.parse(text) }
}

/// The names behind a `$` in a message, each once, of which `is_usable` says that they are skills.
pub(crate) fn mentioned(text: &str, is_usable: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in dollars(text).filter(|name| is_usable(name)) {
        if !names.iter().any(|one| one == name) {
            names.push(name.to_owned());
        }
    }
    names
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
    use metier_definition::BuiltinCommand;

    fn check(line: &str, expect: &SlashInput) {
        let is_skill = |name: &str| ["deploy", "user:help", "closed"].contains(&name);
        let commands = SlashCommands { commands: &[], is_skill: &is_skill };
        assert_eq!(&read(line, commands), expect, "{line:?}");
    }

    fn message(text: &str) -> SlashInput {
        SlashInput::Message(text.to_owned())
    }

    fn skill(name: &str, arguments: &str) -> SlashInput {
        SlashInput::Skill { name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn a_line_is_a_command_a_skill_or_a_message() {
        check("  \n", &SlashInput::Nothing);
        check("?", &SlashInput::BuiltIn(BuiltinCommand::Help, String::new()));
        check("/help", &SlashInput::BuiltIn(BuiltinCommand::Help, String::new()));
        check(" /model  fast ", &SlashInput::BuiltIn(BuiltinCommand::Model, "fast".to_owned()));
        check("/quit", &SlashInput::BuiltIn(BuiltinCommand::Exit, String::new()));
        let unknown = "Unknown command: **cook**. Type /help to list commands.";
        check("/cook", &SlashInput::Answer(unknown.to_owned()));
        check("/deploy", &skill("deploy", ""));
        check("/deploy prod  --now\nwith care", &skill("deploy", "prod  --now\nwith care"));
        check("/user:help me", &skill("user:help", "me"));
        check("/closed", &skill("closed", ""));
        check("/etc/hosts is wrong", &message("/etc/hosts is wrong"));
        check("/ is a slash", &message("/ is a slash"));
        check("what is ? for", &message("what is ? for"));
    }

    #[test]
    fn a_dollar_names_a_skill_where_there_is_one() {
        let check = |text: &str, expect: &[&str]| {
            let names = mentioned(text, |name| ["deploy", "review"].contains(&name));
            assert_eq!(names, expect, "{text:?}");
        };
        check("use $deploy and $review, please", &["deploy", "review"]);
        check("$deploy twice: $deploy", &["deploy"]);
        check("it costs $5 and $HOME is mine", &[]);
        check("($review)", &["review"]);
        check("US$deploy", &[]);
    }
}
