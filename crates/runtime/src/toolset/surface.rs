//! Whose tools a model is given.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use metier_policy::Dialect;
use metier_sandbox::DEFAULT_TIMEOUT;

/// What agentmd and skilled-crew document for a script.
const COMPATIBLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A system whose tools a model is given: its names, its schemas, its results and its error texts, over one
/// implementation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Surface {
    /// metier's own.
    #[default]
    Canonical,
    /// agentmd's `skill_use`, `skill_read_file`, `skill_run_script`.
    Agentmd,
    /// skilled-crew's `run_command_line` and `load_skill_resources`.
    SkilledCrew,
    /// The Agent Development Kit's `list_skills`, `load_skill` and their neighbours, as core-agent offers them.
    Adk,
    /// Claude Code's `Skill`.
    ClaudeCode,
}

/// A word that names no surface.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no surface `{0}`; there are canonical, agentmd, skilled-crew, adk and claude-code")]
pub struct NoSurface(String);

impl Surface {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Canonical, Self::Agentmd, Self::SkilledCrew, Self::Adk, Self::ClaudeCode];

    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Canonical => "canonical",
            Self::Agentmd => "agentmd",
            Self::SkilledCrew => "skilled-crew",
            Self::Adk => "adk",
            Self::ClaudeCode => "claude-code",
        }
    }

    /// Whose rules the fence of a skill follows that is activated here.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::SkilledCrew => Dialect::Crew,
            Self::Canonical | Self::Agentmd | Self::Adk | Self::ClaudeCode => Dialect::Usual,
        }
    }

    /// How long a script or a command line may take: what the two systems that have a limit document, else two minutes.
    pub const fn time(self) -> Duration {
        match self {
            Self::Agentmd | Self::SkilledCrew => COMPATIBLE_TIMEOUT,
            Self::Canonical | Self::Adk | Self::ClaudeCode => DEFAULT_TIMEOUT,
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Surface {
    type Err = NoSurface;

    fn from_str(text: &str) -> Result<Self, NoSurface> {
        Self::ALL
            .into_iter()
            .find(|surface| surface.word() == text)
            .ok_or_else(|| NoSurface(text.chars().take(64).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_back_to_its_surface() {
        for surface in Surface::ALL {
            assert_eq!(surface.word().parse(), Ok(surface));
        }
        assert!("Canonical".parse::<Surface>().is_err());
    }
}
