//! An action in words, for the person who decides about it.

use crate::action::{Action, Actor, Deed, Need};
use metier_diagnostic::{grouped, visible};
use std::fmt::Write;

impl Action {
    /// One sentence for logs and refusals: what would happen, for whom, and what it needs, whole. What could act on a terminal
    /// is shown as an escape. A question shows [`Action::approval_request`] instead.
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
            Deed::Changes(changes) => match changes.as_slice() {
                [one] => write!(text, " wants to {} `{}`", one.kind.word(), one.place),
                _ => write!(text, " wants to change {} paths of the project", grouped(changes.len() as u64)),
            },
        };
        let needs = if matches!(self.deed, Deed::Changes(_)) { &[] } else { self.needs.as_slice() };
        if let Some((first, rest)) = needs.split_first() {
            let _ = write!(text, " (and wants to {}", first.words());
            for need in rest {
                let _ = write!(text, ", {}", need.words());
            }
            text.push(')');
        }
        let _ = match &self.deed {
            Deed::Read { place } => write!(text, ": `{place}`"),
            Deed::Tool { place: Some(place), .. } if self.needs.is_empty() => write!(text, ": `{place}`"),
            _ => match self.command_text() {
                Some(command) => write!(text, ": `{command}`"),
                None => Ok(()),
            },
        };
        visible(&text).into_owned()
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
