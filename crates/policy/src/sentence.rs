//! An action in words, for the person who decides about it.

use crate::action::{Action, Actor, Deed, Need};
use metier_diagnostic::{grouped, visible};

impl Action {
    /// One sentence for logs and refusals: what would happen, for whom, and what it needs, whole. What could act on a terminal
    /// is shown as an escape. A question shows [`Action::approval_request`] instead.
    pub fn sentence(&self) -> String {
        let mut text = match &self.deed {
            Deed::More(need) => format!("{} wants to {}", self.actor.words(), need.words()),
            Deed::Changes(changes) => match changes.as_slice() {
                [one] => format!("{} wants to {} `{}`", self.actor.words(), one.kind.word(), one.place),
                _ => self.subject(),
            },
            _ => self.subject(),
        };
        let needs = if matches!(self.deed, Deed::Changes(_)) { &[] } else { self.needs.as_slice() };
        if !needs.is_empty() {
            let needs: Vec<String> = needs.iter().map(Need::words).collect();
            text.push_str(&format!(" (and wants to {})", needs.join(", ")));
        }
        let about = match &self.deed {
            Deed::Read { place } => Some(place.to_string()),
            Deed::Tool { place: Some(place), .. } if self.needs.is_empty() => Some(place.to_string()),
            _ => self.command_text(),
        };
        if let Some(about) = about {
            text.push_str(&format!(": `{about}`"));
        }
        visible(&text).into_owned()
    }
}

impl Actor {
    fn words(&self) -> String {
        match self {
            Self::Agent => "the agent".to_owned(),
            Self::Skill(skill) => format!("the skill `{}` ({})", skill.name, skill.origin),
        }
    }
}

impl Action {
    /// Who does what, such as "the skill `pdf` (user) runs its script".
    pub(crate) fn subject(&self) -> String {
        let what = match &self.deed {
            Deed::Activate => "is activated".to_owned(),
            Deed::Read { .. } => "reads its file".to_owned(),
            Deed::Script { .. } => "runs its script".to_owned(),
            Deed::Command(_) => "runs a command".to_owned(),
            Deed::Inject(_) => "runs a command of its text".to_owned(),
            Deed::Hook { event, .. } => format!("runs its hook for `{event}`"),
            Deed::More(_) => "is running and asks for more".to_owned(),
            Deed::Tool { tool, .. } => format!("calls `{}`", tool.name()),
            Deed::Mcp { server, tool } => format!("calls the MCP tool `{server}/{tool}`"),
            Deed::Changes(changes) => {
                format!("wants to change {} of the project", counted_paths(changes.len()))
            }
        };
        format!("{} {what}", self.actor.words())
    }
}

/// `1 path`, `1,234 paths`.
pub(crate) fn counted_paths(count: usize) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { "path" } else { "paths" })
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
