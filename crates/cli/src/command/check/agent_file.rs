//! Agents and crews among what is checked: the same findings as `metier agents FILE` has.

use super::judged::Judged;
use super::levels::Judgement;
use crate::agent_choice::AgentChoice;
use crate::surroundings::Surroundings;
use metier_definition::{DefinitionFormat, MAX_FILE, definition_at, definitions};
use metier_files::read_bounded;
use metier_skill::head;
use std::path::{Path, PathBuf};

/// Keys that an agent has and no skill: by them a file is known that lies in none of the places for agents.
const TELLING: [&str; 9] = [
    "skills",
    "mcp",
    "mcp_servers",
    "mcpServers",
    "limits",
    "settings",
    "disclosure",
    "permissionMode",
    "disallowedTools",
];

/// Whether a file defines an agent: by its name, by where it lies, else by what it says of itself.
pub(super) fn is_agent(file: &Path, surroundings: &Surroundings) -> bool {
    let Some(found) = definition_at(file, &surroundings.layout) else { return false };
    match found.format {
        DefinitionFormat::Crew | DefinitionFormat::AgentMd | DefinitionFormat::Claude => true,
        DefinitionFormat::Agent => {
            definitions(&surroundings.layout).iter().any(|known| known.file == found.file)
                || tells(&found.file)
        }
    }
}

fn tells(file: &Path) -> bool {
    let Ok(Some(bytes)) = read_bounded(file, MAX_FILE) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    let keys = head(&text).keys;
    keys.is_some_and(|keys| TELLING.iter().any(|key| keys.get(key).is_some()))
}

/// Judges agents, each looked at from where it lies.
pub(super) fn judged(files: &[PathBuf], judgement: &Judgement, surroundings: &Surroundings) -> Vec<Judged> {
    let mut judged = Vec::new();
    for file in files {
        let Some(found) = definition_at(file, &surroundings.layout) else { continue };
        let agent = AgentChoice::of(found, surroundings);
        let before = agent.read.diagnostics.len();
        let findings: Vec<_> = agent
            .read
            .diagnostics
            .into_iter()
            .filter_map(|found| {
                let path = found.path.clone();
                judgement.apply(found, path.as_deref().unwrap_or(file))
            })
            .map(|found| surroundings.relative(&found))
            .collect();
        let allowed = before - findings.len();
        judged.push(Judged { allowed, ..Judged::unreadable(findings, true) });
    }
    judged
}
