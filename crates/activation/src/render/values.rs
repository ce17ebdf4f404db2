//! What tokens stand for.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

use metier_exec::{
    ArgumentError, SkillArguments, SkillGroup, SkillGroupKind, Variable, VariableValue, split_arguments,
};
use metier_skill::Argument;

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
    pub plugin: Option<&'a SkillGroup>,
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
                let plugin = plugin.filter(|plugin| plugin.kind == SkillGroupKind::Plugin);
                plugin.map(|plugin| plugin.folder.as_path())
            }
            TokenFolder::Data => data,
            TokenFolder::SharedData => plugin.and_then(|plugin| plugin.data.as_deref()).or(data),
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
}
