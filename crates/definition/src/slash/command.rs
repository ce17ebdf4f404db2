//! A slash command of a crew: `.command.md`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_diagnostic::{Diagnostic, Span};
use metier_skill::yaml::Node;
use metier_skill::{Spanned, head};

use super::{ExpandedCommand, SlashInput};
use crate::code;

/// How the name of a command's file ends.
const SUFFIX: &str = ".command.md";

/// The placeholder for the arguments.
const ARGUMENTS: &str = "$ARGUMENTS";

/// A slash command of a crew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: Spanned<String>,
    /// Its file, absolute.
    pub file: Spanned<PathBuf>,
    /// What it is for.
    pub description: String,
    /// The role that it is for, if it names one.
    pub agent: Option<String>,
    /// Where its text goes.
    pub lane: CommandLane,
    /// The text, with `$ARGUMENTS` in it.
    pub body: String,
}

/// Where the text of a command goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandLane {
    /// Into the session.
    #[default]
    Chat,
    /// To the job board of another program; metier has none.
    Job,
}

impl SlashCommand {
    /// A command whose file is not read yet.
    pub(crate) fn unread(name: Spanned<String>, file: Spanned<PathBuf>) -> Self {
        Self {
            name,
            file,
            description: String::new(),
            agent: None,
            lane: CommandLane::Chat,
            body: String::new(),
        }
    }

    /// Why a name cannot be typed, if so.
    pub(crate) fn why_no_name(name: &str) -> Option<String> {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        (name.is_empty() || !name.chars().all(is_plain))
            .then(|| format!("`/{name}` cannot be typed as a command"))
    }

    /// The command with the content of its file.
    pub(crate) fn filled(mut self, text: &str) -> (Self, Vec<Diagnostic>) {
        let file: Arc<Path> = self.file.value.as_path().into();
        let head = head(text);
        let mut found: Vec<Diagnostic> =
            head.diagnostics.into_iter().map(|found| found.in_file(&file)).collect();
        let value = |key: &str| {
            let text = head.keys.as_ref()?.get(key).filter(|node| !node.is_null()).and_then(Node::text)?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        self.description = value("description").unwrap_or_default();
        if self.description.is_empty() {
            let message = format!("the command `/{}` has no description", self.name.value);
            let missing =
                Diagnostic::new(&code::AGENT_COMMAND, message).at(Span::empty(0), text).in_file(&file);
            found.push(missing.help("write `description:` into its frontmatter; `/help` shows it"));
        }
        self.agent = value("agent");
        self.lane =
            if value("lane").as_deref() == Some("job") { CommandLane::Job } else { CommandLane::Chat };
        text.get(head.body..).unwrap_or_default().trim().clone_into(&mut self.body);
        (self, found)
    }

    /// The name of its file, without the suffix.
    pub fn file_name(&self) -> String {
        let name = self.file.value.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.strip_suffix(SUFFIX).or_else(|| name.strip_suffix(".md")).unwrap_or(&name).to_owned()
    }

    /// The text for the model.
    pub(super) fn expand(&self, arguments: &str) -> SlashInput {
        match self.lane {
            CommandLane::Chat => SlashInput::Expanded(ExpandedCommand {
                text: with_arguments(&self.body, arguments),
                agent: self.agent.clone(),
            }),
            CommandLane::Job => SlashInput::Answer(format!(
                "`/{}` targets the 'job' lane, a board of jobs that metier does not have.",
                self.name.value
            )),
        }
    }
}

/// Puts the arguments in. One scan of the body: what is put in is never looked at again, and no character in it means anything.
fn with_arguments(body: &str, arguments: &str) -> String {
    let mut text = String::with_capacity(body.len() + arguments.len());
    let mut rest = body;
    while let Some(at) = rest.find(ARGUMENTS) {
        let behind = &rest[at + ARGUMENTS.len()..];
        text.push_str(&rest[..at]);
        // `$ARGUMENTSX` is another word.
        let is_longer = behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        text.push_str(if is_longer { ARGUMENTS } else { arguments });
        rest = behind;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_put_in_once_and_as_they_are() {
        for (body, arguments, expect) in [
            ("Say $ARGUMENTS now", "ciao", "Say ciao now"),
            ("$ARGUMENTS and $ARGUMENTS", "a", "a and a"),
            ("Cost $ARGUMENTS", "$& $$ $` $ARGUMENTS", "Cost $& $$ $` $ARGUMENTS"),
            ("$ARGUMENTSX $ARGUMENTS.", "a", "$ARGUMENTSX a."),
            ("Say $ARGUMENTS!", "", "Say !"),
            ("$1 ${ARGUMENTS} !`id`", "a", "$1 ${ARGUMENTS} !`id`"),
            ("ä$ARGUMENTSö", "é", "äéö"),
        ] {
            assert_eq!(with_arguments(body, arguments), expect, "{body:?}");
        }
    }
}
