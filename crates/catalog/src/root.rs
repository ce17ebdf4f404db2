//! One folder in which skills are looked for, and what follows from where it is.

use crate::crew::Crew;
use crate::origin::{Class, Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

/// A folder of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// What its skills are said to come from.
    pub origin: Origin,
    /// Where it is, absolute. It need not exist.
    pub path: PathBuf,
    /// Its real path, if it exists.
    pub real: Option<PathBuf>,
    /// Whether what is in it may be used.
    pub trust: RootTrust,
    /// What a skill's `allowed-tools` means here.
    pub allowed_tools: AllowedTools,
    /// Whether a configuration says what it means here, and not only what is usual for the place.
    pub is_meaning_said: bool,
    /// How deep folders are walked, if not as everywhere.
    pub depth: Option<NonZeroU16>,
    /// Globs of folders to leave out.
    pub ignore: Vec<String>,
    /// Whether skills inside skills count.
    pub nested: bool,
    /// The crew whose file names it.
    pub crew: Option<Crew>,
    /// Where the commands in its skills' texts start.
    pub commands: CommandsStart,
    /// Whether a project's `metier.toml` or crew names it, wherever it lies.
    pub is_named_by_project: bool,
}

impl Root {
    /// A root with nothing said about it.
    pub(crate) fn new(class: Class, label: &str, path: PathBuf, trust: RootTrust) -> Self {
        let real = metier_files::real_path(&path).ok();
        let commands = CommandsStart::usual(&path);
        Self {
            origin: Origin::labelled(class, label),
            path,
            real,
            trust,
            allowed_tools: AllowedTools::Grant,
            is_meaning_said: false,
            depth: None,
            ignore: Vec::new(),
            nested: false,
            crew: None,
            commands,
            is_named_by_project: false,
        }
    }

    /// The same with another meaning of `allowed-tools`.
    #[must_use]
    pub(crate) fn meaning(mut self, allowed_tools: AllowedTools) -> Self {
        self.allowed_tools = allowed_tools;
        self
    }

    /// Takes what a configuration says `allowed-tools` means here, if it says so.
    pub(crate) fn take_meaning(&mut self, said: Option<AllowedTools>) {
        if let Some(allowed_tools) = said {
            self.allowed_tools = allowed_tools;
            self.is_meaning_said = true;
        }
    }

    /// Whether this is Claude's folder, whose authors mean pre-approval by `allowed-tools`.
    pub(crate) fn is_claude(&self) -> bool {
        self.path.parent().and_then(Path::file_name).is_some_and(|name| name == ".claude")
    }
}

/// Whether what a root holds may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootTrust {
    /// The user's, the system's, metier's, named by the user, or of a trusted project.
    Trusted,
    /// Of a project that the user has not trusted.
    Untrusted,
}

metier_diagnostic::words! {
    /// What a skill's `allowed-tools` means.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum AllowedTools {
        /// Only the named tools may be called while the skill is active.
        Fence = "fence",
        /// The named tools need no question.
        Grant = "grant",
        /// Both.
        Both = "both",
        /// Neither: the list is shown and has no effect.
        Advisory = "advisory",
    }
}

/// The folders below a project in which agentmd keeps skills, whose authors expect commands to start in the skill's own.
const AGENTMD: &[&str] = &["workspace/agents/skills", "agents/skills", "agents/_config/skills"];

metier_diagnostic::words! {
    /// Where the commands in a skill's text start.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum CommandsStart {
        /// In the project, where there is one.
        Project = "project",
        /// In the skill's own folder.
        Skill = "skill",
    }
}

impl CommandsStart {
    /// Where the authors of the skills below a root expect them to start, if nobody says.
    fn usual(root: &Path) -> Self {
        if AGENTMD.iter().any(|place| root.ends_with(place)) { Self::Skill } else { Self::Project }
    }
}

/// What a root is called among others of its class: the folder's name, or the name of the folder above where it is the
/// usual `skills`, without the dot. `/srv/team/skills` is `team`, `~/.claude/skills` is `claude`.
pub(crate) fn label(path: &Path) -> String {
    let mut names = path.components().rev().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let last = names.next().unwrap_or_default();
    let name = if last == "skills" { names.next().unwrap_or(last) } else { last };
    let slug = metier_skill::slug(&name);
    if slug.is_empty() { "root".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_start_where_their_authors_expect() {
        for (root, expect) in [
            ("/p/.claude/skills", CommandsStart::Project),
            ("/p/.agents/skills", CommandsStart::Project),
            ("/p/workspace/agents/skills", CommandsStart::Skill),
            ("/p/agents/skills", CommandsStart::Skill),
            ("/p/agents/_config/skills", CommandsStart::Skill),
            ("/p/myagents/skills", CommandsStart::Project),
        ] {
            assert_eq!(CommandsStart::usual(Path::new(root)), expect, "{root}");
        }
    }

    #[test]
    fn a_root_is_called_after_its_folder() {
        let table = [
            ("/srv/team/skills", "team"),
            ("/home/ada/.claude/skills", "claude"),
            ("/home/ada/.core-agent/skills", "core-agent"),
            ("/srv/My Skills", "my-skills"),
            ("/skills", "skills"),
            ("/", "root"),
        ];
        for (path, expected) in table {
            assert_eq!(label(Path::new(path)), expected, "{path}");
        }
    }
}
