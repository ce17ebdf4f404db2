//! Where a skill comes from, as people write it: `project.claude`, `user`, `mcp.github`.

use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A class of places, from which trust and precedence follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Named on the command line or in an agent file.
    Cli,
    /// The project the user works in.
    Project,
    /// The user's own folders.
    User,
    /// Everybody's on this machine.
    System,
    /// Part of metier.
    Bundled,
    /// Named in the user's configuration.
    Config,
    /// Offered by an MCP server.
    Mcp,
    /// Part of a plugin.
    Plugin,
}

impl Class {
    /// Every class with its word.
    const WORDS: [(Self, &'static str); 8] = [
        (Self::Cli, "cli"),
        (Self::Project, "project"),
        (Self::User, "user"),
        (Self::System, "system"),
        (Self::Bundled, "bundled"),
        (Self::Config, "config"),
        (Self::Mcp, "mcp"),
        (Self::Plugin, "plugin"),
    ];

    /// The word users see.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(class, _)| *class == self).map_or("", |(_, word)| word)
    }

    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(class, _)| *class)
    }
}

/// A class and, where it has several roots, the root's short name; the label of a server or a plugin's name likewise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The class.
    pub class: Class,
    /// What tells the places of one class apart.
    pub label: Option<Arc<str>>,
}

impl Origin {
    /// A class that has one place only.
    pub const fn class(class: Class) -> Self {
        Self { class, label: None }
    }

    /// One of several places of a class.
    pub fn labelled(class: Class, label: &str) -> Self {
        Self { class, label: Some(label.into()) }
    }

    /// Reads `project` or `project.claude`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once('.') {
            None => Class::of(text).map(Self::class),
            Some((_, "")) => None,
            Some((class, label)) => Class::of(class).map(|class| Self::labelled(class, label)),
        }
    }

    /// Whether somebody who asks for `wanted` means this one: `project` means all of the project's places.
    pub fn is_in(&self, wanted: &Self) -> bool {
        self.class == wanted.class && (wanted.label.is_none() || wanted.label == self.label)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.word())?;
        match &self.label {
            Some(label) => write!(f, ".{label}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_and_read_alike() {
        for text in
            ["cli", "project", "project.claude", "user.core-agent", "mcp.a.b", "plugin.x", "config.team-2"]
        {
            assert_eq!(Origin::parse(text).map(|origin| origin.to_string()).as_deref(), Some(text));
        }
        for text in ["", "claude", "Project", "project.", ".claude", " user"] {
            assert_eq!(Origin::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_class_means_all_of_its_places() {
        let table = [
            ("project.claude", "project", true),
            ("project.claude", "project.claude", true),
            ("project.claude", "project.agents", false),
            ("project", "project", true),
            ("user.claude", "project", false),
        ];
        for (own, wanted, expected) in table {
            let (own, wanted) = (Origin::parse(own).unwrap(), Origin::parse(wanted).unwrap());
            assert_eq!(own.is_in(&wanted), expected, "{own} in {wanted}");
        }
    }
}
