//! What tokens stand for.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

use metier_exec::{
    ArgumentError, MAX_ARGUMENTS, SkillGroup, SkillGroupKind, Variable, VariableValue, check_arguments,
    split_arguments,
};
use metier_skill::Argument;

/// What a skill is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillArguments {
    /// One text, as it was typed or as a model gave it. It is split the POSIX way where a body asks for single ones.
    Text(String),
    /// A list, as a caller gives it. `$ARGUMENTS` is its elements, one a line.
    List(Vec<String>),
    /// Words of a command line, kept as they are. `$ARGUMENTS` is the words with a space between.
    Words(Vec<String>),
}

impl Default for SkillArguments {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl SkillArguments {
    /// What follows `--` on a command line: one word is the text, several are a list whose elements are kept.
    pub fn of_command_line(mut words: Vec<String>) -> Self {
        match words.len() {
            0 => Self::default(),
            1 => Self::Text(words.swap_remove(0)),
            _ => Self::Words(words),
        }
    }

    /// The argument text, byte for byte.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(list) => Cow::Owned(list.join("\n")),
            Self::Words(words) => Cow::Owned(words.join(" ")),
        }
    }

    /// Whether there are none. Blanks alone are none: they split into nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::List(list) | Self::Words(list) => list.is_empty(),
        }
    }

    /// Rejects what no process could be given: more than [`MAX_ARGUMENTS`], or a NUL.
    pub(crate) fn check(&self) -> Result<(), ArgumentError> {
        match self {
            Self::Text(text) if text.len() > MAX_ARGUMENTS => {
                Err(ArgumentError::TooLong { bytes: text.len() })
            }
            Self::Text(text) => match text.chars().position(|character| character == '\0') {
                Some(at) => Err(ArgumentError::Nul { at: at + 1 }),
                None => Ok(()),
            },
            Self::List(list) | Self::Words(list) => check_arguments(list),
        }
    }
}

impl From<&str> for SkillArguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SkillArguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for SkillArguments {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

/// Everything that a token can stand for.
#[derive(Clone, Copy, Debug)]
pub struct TokenValues<'a> {
    /// What the skill is started with.
    pub arguments: &'a SkillArguments,
    /// The arguments that the manifest declares, in their order.
    pub declared: &'a [Argument],
    /// The skill's folder, absolute.
    pub skill: &'a Path,
    /// The skill's private folder for what it keeps.
    pub data: Option<&'a Path>,
    /// The plugin or the crew it belongs to.
    pub plugin: Option<SkillGroup<'a>>,
    /// The project.
    pub project: Option<&'a Path>,
    /// Which session it is.
    pub session: &'a str,
    /// The environment names that the configuration declares.
    pub environment: &'a [Variable],
}

/// The folders that tokens name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenFolder {
    /// The skill's own.
    Skill,
    /// The plugin's.
    Plugin,
    /// The skill's private one.
    Data,
    /// The private one of a plugin or crew, else the skill's own.
    SharedData,
    /// The project.
    Project,
}

impl TokenFolder {
    /// What it is, in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Skill => "the skill has no folder",
            Self::Plugin => "the skill is in no plugin",
            Self::Data | Self::SharedData => "the skill has no data folder here",
            Self::Project => "there is no project here",
        }
    }
}

/// The values, with the arguments split once and only if a body asks for single ones.
#[derive(Debug)]
pub(crate) struct Resolver<'a> {
    pub(crate) values: TokenValues<'a>,
    text: Cow<'a, str>,
    split: OnceCell<(Vec<Cow<'a, str>>, Option<ArgumentError>)>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(values: TokenValues<'a>) -> Result<Self, ArgumentError> {
        values.arguments.check()?;
        Ok(Self { values, text: values.arguments.text(), split: OnceCell::new() })
    }

    /// The argument text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The arguments one by one.
    pub(crate) fn words(&self) -> &[Cow<'a, str>] {
        &self.split.get_or_init(|| split(self.values.arguments)).0
    }

    /// Why the arguments were split at white space, if they were split and had to be.
    pub(crate) fn unbalanced(&self) -> Option<ArgumentError> {
        self.split.get().and_then(|(_, error)| *error)
    }

    pub(crate) fn folder(&self, folder: TokenFolder) -> Option<&'a Path> {
        let TokenValues { skill, data, plugin, project, .. } = self.values;
        match folder {
            TokenFolder::Skill => Some(skill),
            TokenFolder::Plugin => {
                plugin.filter(|plugin| plugin.kind == SkillGroupKind::Plugin).map(|plugin| plugin.folder)
            }
            TokenFolder::Data => data,
            TokenFolder::SharedData => plugin.and_then(|plugin| plugin.data).or(data),
            TokenFolder::Project => project,
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&'a VariableValue> {
        self.values.environment.iter().find(|variable| variable.name == name).map(|variable| &variable.value)
    }
}

fn split(arguments: &SkillArguments) -> (Vec<Cow<'_, str>>, Option<ArgumentError>) {
    match arguments {
        SkillArguments::List(list) | SkillArguments::Words(list) => {
            (list.iter().map(|element| Cow::Borrowed(element.as_str())).collect(), None)
        }
        SkillArguments::Text(text) => match split_arguments(text) {
            Ok(words) => (words.into_iter().map(Cow::Owned).collect(), None),
            // People type `what's new`. Splitting it somehow serves them better than an error.
            Err(error) => (text.split_whitespace().map(Cow::Borrowed).collect(), Some(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &SkillArguments) -> (Vec<String>, bool) {
        let (words, error) = split(arguments);
        (words.into_iter().map(Cow::into_owned).collect(), error.is_some())
    }

    #[test]
    fn a_text_is_split_and_a_list_is_kept() {
        let check = |arguments: SkillArguments, text: &str, expect: &[&str], unbalanced: bool| {
            assert_eq!(arguments.text(), text);
            let expect: Vec<String> = expect.iter().map(ToString::to_string).collect();
            assert_eq!(words(&arguments), (expect, unbalanced), "{arguments:?}");
        };
        let list = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        check(SkillArguments::Text("'a b' c".into()), "'a b' c", &["a b", "c"], false);
        check(SkillArguments::Text("what's up".into()), "what's up", &["what's", "up"], true);
        check(SkillArguments::List(list(&["a b", "c"])), "a b\nc", &["a b", "c"], false);
        check(SkillArguments::of_command_line(list(&["a b", "c"])), "a b c", &["a b", "c"], false);
        check(SkillArguments::of_command_line(list(&["a b"])), "a b", &["a", "b"], false);
        check(SkillArguments::of_command_line(Vec::new()), "", &[], false);
    }

    #[test]
    fn what_no_process_could_be_given_is_refused() {
        let nul = SkillArguments::List(vec!["a".into(), "b\0".into()]);
        assert_eq!(nul.check(), Err(ArgumentError::Nul { at: 3 }));
        let long = SkillArguments::Text("a".repeat(MAX_ARGUMENTS + 1));
        assert_eq!(long.check(), Err(ArgumentError::TooLong { bytes: MAX_ARGUMENTS + 1 }));
        assert_eq!(SkillArguments::Text("a".repeat(MAX_ARGUMENTS)).check(), Ok(()));
    }
}
