//! An action in words, for the person who decides about it.

use crate::action::{Action, Actor, Deed, Need};
use metier_diagnostic::visible;
use std::fmt::Write;

/// Characters of an action that are shown. A question that fills the screen is answered without being read; matching
/// never sees the cut.
pub const MAX_SHOWN: usize = 200;

/// At most [`MAX_SHOWN`] characters, with `...` where more was there.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl Action {
    /// One sentence: what would happen, for whom, and what it needs. Cut at [`MAX_SHOWN`] characters; what could act on
    /// a terminal is shown as an escape.
    ///
    /// Who acts and what is needed stand before the words that a stranger chooses, so that no length of them can push
    /// it out of sight.
    pub fn sentence(&self) -> String {
        let mut text = match &self.actor {
            Actor::Agent => "the agent".to_owned(),
            Actor::Skill(skill) => format!("the skill `{}` ({})", skill.name, skill.origin),
        };
        let _ = match &self.deed {
            Deed::Activate => write!(text, " is activated"),
            Deed::Read { .. } => write!(text, " reads its file"),
            Deed::Script { .. } => write!(text, " runs its script"),
            Deed::Command(_) => write!(text, " runs a command"),
            Deed::Inject(_) => write!(text, " runs a command of its text"),
            Deed::Hook { event, .. } => write!(text, " runs its hook for `{event}`"),
            Deed::More(need) => write!(text, " wants to {}", need.words()),
            Deed::Tool { tool, .. } => write!(text, " calls `{}`", tool.name()),
            Deed::Mcp { server, tool } => write!(text, " calls the MCP tool `{server}/{tool}`"),
        };
        if let Some((first, rest)) = self.needs.split_first() {
            let _ = write!(text, " (and wants to {}", first.words());
            for need in rest {
                let _ = write!(text, ", {}", need.words());
            }
            text.push(')');
        }
        let _ = match &self.deed {
            Deed::Read { place } => write!(text, ": `{place}`"),
            Deed::Tool { place: Some(place), .. } if self.needs.is_empty() => write!(text, ": `{place}`"),
            Deed::Script { file, argv, .. } => {
                let arguments =
                    argv.iter().position(|word| word.ends_with(file.as_str())).map_or(0, |at| at + 1);
                let words = argv.get(arguments..).unwrap_or_default();
                let words: Vec<_> = words.iter().map(|word| crate::shell::quote(word)).collect();
                write!(
                    text,
                    ": `{}`",
                    std::iter::once(file.as_str().into()).chain(words).collect::<Vec<_>>().join(" ")
                )
            }
            Deed::Command(line) | Deed::Inject(line) | Deed::Hook { line, .. } => {
                write!(text, ": `{}`", line.text())
            }
            _ => Ok(()),
        };
        cut(&visible(&text))
    }
}

impl Need {
    /// What it is, after "wants to".
    pub fn words(&self) -> String {
        match self {
            Self::Write(place) => format!("write `{place}`"),
            Self::WriteBelow(glob) => format!("write `{glob}`"),
            Self::Host { host, port } => format!("reach `{host}:{port}`"),
            Self::Hosts(hosts) => format!("reach `{hosts}`"),
            Self::Secret(name) => format!("see the secret `{name}`"),
        }
    }
}
