//! Which other agents are here, by the folders and files that they keep.

use crate::args::Host;
use metier_catalog::Places;
use metier_files::{Kind, kind};
use std::path::Path;

/// What each host keeps in a home, and in a project. One that is there is enough.
const TRACES: [(Host, &[&str], &[&str]); 10] = [
    (Host::ClaudeCode, &[".claude", ".claude.json"], &[".claude", "CLAUDE.md"]),
    (Host::ClaudeDesktop, &[".config/Claude", "Library/Application Support/Claude"], &[]),
    (Host::Codex, &[".codex"], &[".codex"]),
    (Host::Cursor, &[".cursor"], &[".cursor"]),
    (Host::GeminiCli, &[".gemini"], &[".gemini", "GEMINI.md"]),
    (Host::Goose, &[".config/goose"], &[]),
    (Host::Opencode, &[".config/opencode"], &["opencode.json", "opencode.jsonc", ".opencode"]),
    (Host::Vscode, &[".vscode", ".config/Code", "Library/Application Support/Code"], &[".vscode"]),
    (Host::Windsurf, &[".codeium/windsurf"], &[]),
    (Host::Zed, &[".config/zed"], &[".zed"]),
];

/// The hosts that have left a trace. Nothing of what they keep is read.
pub(super) fn found(places: &Places, project: &Path) -> impl Iterator<Item = Host> {
    let is_in =
        |folder: &Path, names: &[&str]| names.iter().any(|name| kind(&folder.join(name)) != Kind::Missing);
    TRACES
        .into_iter()
        .filter(move |(_, home, own)| {
            places.home.as_deref().is_some_and(|folder| is_in(folder, home)) || is_in(project, own)
        })
        .map(|(host, ..)| host)
}
