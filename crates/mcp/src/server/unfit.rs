//! Why a skill is offered by tools and prompts alone.

use metier_diagnostic::{Diagnostic, codes};

codes! {
    Warning {
        SKILL_NOT_SERVED "skill-not-served" "The skill is offered over MCP by tools and prompts alone, and not as files: other hosts would refuse it as it is. The message says what stands in the way."
    }
}

/// Why the files of a skill are not served: a host that keeps to the rules of skills over MCP would refuse them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("its frontmatter is not plain YAML, and other readers would understand it otherwise")]
    Frontmatter,
    #[error("it is called otherwise than the `name` in its frontmatter, or that is not a plain name")]
    Name,
    #[error("its frontmatter has no `description`")]
    Description,
    #[error("its file is not called `SKILL.md`, or is a link out of its folder")]
    Document,
    #[error("it has more than {} files", super::manifest::MOST_FILES)]
    Files,
    #[error("its files have more than {} MiB together", super::manifest::MOST_BYTES >> 20)]
    Bytes,
    #[error("the name of one of its files is not UTF-8")]
    Path,
    #[error("its files change faster than they can be read")]
    Gone,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

impl Unfit {
    /// The same for whoever runs the server.
    pub(super) fn diagnostic(&self, skill: &str) -> Diagnostic {
        let help = match self {
            Self::Frontmatter | Self::Name | Self::Description | Self::Document => {
                "`metier check --for standard` says where and what to write"
            }
            Self::Files | Self::Bytes => "move what the skill does not need out of its folder",
            Self::Path => "rename the file",
            Self::Gone => "wait until whatever writes them is done",
            Self::Unreadable(_) => "look at the permissions of its folder",
        };
        let message = format!("the files of the skill `{skill}` are not served over MCP: {self}");
        Diagnostic::new(&SKILL_NOT_SERVED, message).help(help)
    }
}
