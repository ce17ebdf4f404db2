//! Diagnostics of the MCP server: why the files of a skill are not served.

use metier_diagnostic::{Diagnostic, codes};

codes! {
    Warning {
        SKILL_NOT_SERVED "skill-not-served" "The skill is offered over MCP by tools and prompts, but not as files, because other hosts would refuse them. The message gives the reason."
    }
}

/// Why the files of a skill are not served: hosts that follow the skills extension would refuse them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnservableError {
    #[error("its frontmatter is not plain YAML, and other parsers would read it differently")]
    Frontmatter,
    #[error("the `name` in its frontmatter differs from the name of the skill, or is invalid")]
    Name,
    #[error("its frontmatter has no `description`")]
    Description,
    #[error("its file is not named `SKILL.md`, or is a link that leaves its folder")]
    Document,
    #[error("it has more than {} files", super::manifest::MAX_FILES)]
    Files,
    #[error("its files have more than {} MiB in total", super::manifest::MAX_BYTES >> 20)]
    Bytes,
    #[error("a file name is not UTF-8")]
    Path,
    #[error("its files changed during every scan")]
    Gone,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

impl UnservableError {
    /// The diagnostic for the user who runs the server.
    pub(crate) fn diagnostic(&self, skill: &str) -> Diagnostic {
        let help = match self {
            Self::Frontmatter | Self::Name | Self::Description | Self::Document => {
                "run `metier check --for standard` for the place and the fix"
            }
            Self::Files | Self::Bytes => "move files that the skill does not need out of its folder",
            Self::Path => "rename the file",
            Self::Gone => "retry when no program writes to the folder",
            Self::Unreadable(_) => "check the permissions of its folder",
        };
        let message = format!("the files of the skill `{skill}` are not served over MCP: {self}");
        Diagnostic::new(&SKILL_NOT_SERVED, message).help(help)
    }
}
