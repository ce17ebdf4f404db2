//! A key in words, for the list of approvals. Nothing is decided by these.

use super::{ActKey, ActorKey, AnyPath, ApprovalKey, NeedKey};
use crate::path_change::{EntryFacts, PathEntryKind};
use crate::shell::quoted;
use metier_diagnostic::visible;
use std::fmt;

impl ApprovalKey {
    /// Who may act: the agent, or a skill with its origin.
    pub fn who(&self) -> String {
        match &self.actor {
            ActorKey::Agent => "the agent".to_owned(),
            ActorKey::Skill { origin, name, .. } => visible(&format!("{origin}:{name}")).into_owned(),
        }
    }

    /// The digest of the skill's folder that it is bound to.
    pub fn tree(&self) -> Option<&str> {
        match &self.actor {
            ActorKey::Skill { tree, .. } => tree.as_deref(),
            ActorKey::Agent => None,
        }
    }

    /// What it may do.
    pub fn what(&self) -> String {
        let or_any = |text: &Option<String>| match text {
            Some(text) => format!("`{}`", shown(text)),
            None => "anything".to_owned(),
        };
        match &self.act {
            ActKey::Activate => "be activated".to_owned(),
            ActKey::Read { path } => format!("read {}", or_any(path)),
            ActKey::Script { file, argv: None, .. } => format!("run the script {}", or_any(file)),
            ActKey::Script { file, argv: Some(argv), .. } => {
                let words = quoted(argv.iter().map(String::as_str));
                format!("run the script {} as `{}`", or_any(file), shown(&words))
            }
            ActKey::Command { line } => format!("run {}", or_any(line)),
            ActKey::Inject { line } => format!("run {} from its text", or_any(line)),
            ActKey::Hook { event, line } => format!("run {} on {}", or_any(line), or_any(event)),
            ActKey::More => "have more while it runs".to_owned(),
            ActKey::Tool { tool, path: AnyPath::Path(path) } => {
                format!("call `{tool}` for `{}`", shown(path))
            }
            ActKey::Tool { tool, path: AnyPath::None | AnyPath::Any } => format!("call `{}`", shown(tool)),
            ActKey::Mcp { server, tool } => {
                format!("call the MCP tool `{}`", shown(&format!("{server}/{tool}")))
            }
            ActKey::Changes => "change the project".to_owned(),
        }
    }

    /// What it may do beyond the default containment, one text each.
    pub fn grants(&self) -> Vec<String> {
        self.needs.iter().map(ToString::to_string).collect()
    }

    /// The canonical text: the same key, the same bytes.
    pub fn text(&self) -> String {
        // Strings, numbers and lists of them can always be written.
        serde_json::to_string(self).unwrap_or_else(|error| format!("{self:?}: {error}"))
    }
}

fn shown(text: &str) -> String {
    // Bytes that are not UTF-8 are marked by a leading NUL.
    visible(text.trim_start_matches('\0')).into_owned()
}

impl fmt::Display for NeedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { path, .. } => write!(f, "write `{}`", shown(path)),
            Self::WriteBelow { glob, .. } => write!(f, "write `{}`", shown(glob)),
            Self::Host { host, port } => write!(f, "reach `{}:{port}`", shown(host)),
            Self::Hosts { pattern } => write!(f, "reach `{}`", shown(pattern)),
            Self::Secret { name } => write!(f, "see the secret `{}`", shown(name)),
            Self::Change { kind, path, entry, replaced, target, executable, mode, .. } => {
                let slash = if *entry == Some(PathEntryKind::Folder) { "/" } else { "" };
                write!(f, "{} `{}{slash}`", kind.word(), shown(path))?;
                let facts = EntryFacts {
                    entry: entry.unwrap_or(PathEntryKind::File),
                    replaced: *replaced,
                    target: target.clone(),
                    executable: *executable,
                    mode: *mode,
                };
                f.write_str(&facts.arrow())?;
                let facts = facts.words();
                if facts.is_empty() { Ok(()) } else { write!(f, " ({})", facts.join(", ")) }
            }
        }
    }
}
