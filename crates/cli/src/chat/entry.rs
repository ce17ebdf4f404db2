//! What a line of a chat means.

use super::built_in::BuiltIn;
use metier_agent::Invocation;

/// What somebody typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nothing.
    Nothing,
    /// A command of metier's own, with what stood behind it.
    BuiltIn(BuiltIn, String),
    /// A message for the model, with the skills that the user names in it.
    Message { text: String, named: Vec<Invocation> },
    /// A command that there is not.
    Unknown(String),
}

/// Which names are skills.
pub(crate) trait Names {
    /// Whether somebody who writes `/NAME` means a skill by it, even one that cannot be used right now.
    fn is_skill(&self, name: &str) -> bool;
    /// Whether `$NAME` in a message activates one.
    fn is_usable(&self, name: &str) -> bool;
}

impl Entry {
    /// Reads a line. Built-in commands come before skills of the same name, which `/origin:name` still reaches.
    pub(crate) fn read(line: &str, known: &impl Names) -> Self {
        let text = line.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        if text == "?" {
            return Self::BuiltIn(BuiltIn::Help, String::new());
        }
        if let Some((name, rest)) = command(text) {
            if let Some(built_in) = BuiltIn::named(name) {
                return Self::BuiltIn(built_in, rest.to_owned());
            }
            if !known.is_skill(name) {
                return Self::Unknown(name.to_owned());
            }
            let named = vec![Invocation { name: name.to_owned(), arguments: rest.to_owned() }];
            return Self::Message { text: text.to_owned(), named };
        }
        let mut named: Vec<Invocation> = Vec::new();
        for name in dollars(text).filter(|name| known.is_usable(name)) {
            if !named.iter().any(|one| one.name == name) {
                named.push(Invocation { name: name.to_owned(), arguments: String::new() });
            }
        }
        Self::Message { text: text.to_owned(), named }
    }
}

/// `/name rest`, where that is what the line is. A path such as `/etc/hosts is wrong` is a message.
fn command(text: &str) -> Option<(&str, &str)> {
    let behind = text.strip_prefix('/')?;
    let end = behind.find(char::is_whitespace).unwrap_or(behind.len());
    let (name, rest) = behind.split_at(end);
    let is_name = !name.is_empty() && !name.contains(['/', '\\']);
    is_name.then(|| (name, rest.trim()))
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
    }

    fn check(line: &str, expect: &Entry) {
        assert_eq!(&Entry::read(line, &Known), expect, "{line:?}");
    }

    fn message(text: &str, named: &[(&str, &str)]) -> Entry {
        let named = named.iter().map(|(name, arguments)| Invocation {
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        });
        Entry::Message { text: text.to_owned(), named: named.collect() }
    }

    #[test]
    fn a_line_is_a_command_a_skill_or_a_message() {
        check("  \n", &Entry::Nothing);
        check("?", &Entry::BuiltIn(BuiltIn::Help, String::new()));
        check("/help", &Entry::BuiltIn(BuiltIn::Help, String::new()));
        check(" /model  fast ", &Entry::BuiltIn(BuiltIn::Model, "fast".to_owned()));
        check("/quit", &Entry::BuiltIn(BuiltIn::Exit, String::new()));
        check("/cook", &Entry::Unknown("cook".to_owned()));
        check("/deploy", &message("/deploy", &[("deploy", "")]));
        check(
            "/deploy prod  --now\nwith care",
            &message("/deploy prod  --now\nwith care", &[("deploy", "prod  --now\nwith care")]),
        );
        check("/user:help me", &message("/user:help me", &[("user:help", "me")]));
        check("/closed", &message("/closed", &[("closed", "")]));
        check("/etc/hosts is wrong", &message("/etc/hosts is wrong", &[]));
        check("/ is a slash", &message("/ is a slash", &[]));
        check("what is ? for", &message("what is ? for", &[]));
    }

    #[test]
    fn a_dollar_names_a_skill_where_there_is_one() {
        check(
            "use $deploy and $review, please",
            &message("use $deploy and $review, please", &[("deploy", ""), ("review", "")]),
        );
        check("$deploy twice: $deploy", &message("$deploy twice: $deploy", &[("deploy", "")]));
        check("it costs $5 and $HOME is mine", &message("it costs $5 and $HOME is mine", &[]));
        check("($review)", &message("($review)", &[("review", "")]));
        check("US$deploy", &message("US$deploy", &[]));
    }
}
