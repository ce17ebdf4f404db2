//! Records of the first form of the trust store: what they say of the things of today.
//!
//! They kept shown lines with digests for the project's files, and the capabilities of skills that had any. What they kept
//! stays trusted. What they could not keep counts as new and is asked about: skills of text alone, single rules of other
//! clients' files, variables of `.agents/env.yaml`, agents, crews, links, and code whose name is not that of a script.

use super::ProjectRecord;
use super::entry::{TrustEntry, TrustKind};
use super::skill::skill_digest;
use crate::shown::one_line;
use std::path::Path;

/// Where the first form cut its lines.
const CUT: usize = 200;

/// Whether a record of the first form covers a thing.
pub(super) fn covers(record: &ProjectRecord, entry: &TrustEntry) -> bool {
    if record.entries.is_some() {
        return false;
    }
    let digest = entry.digest.to_string();
    if let Some(line) = line(entry) {
        return record.files.get(&entry.name.place).and_then(|acts| acts.get(&line)) == Some(&digest);
    }
    let Some(skill) = record.skills.get(&entry.name.place) else { return false };
    let name = &entry.name.name;
    match entry.kind {
        // The name was not kept. A skill that is called like its folder, where no link leads to it, has the name that
        // its path says.
        TrustKind::Skill => {
            let path = entry.name.place.as_str();
            let called = Path::new(path).file_name().and_then(|name| name.to_str());
            called.is_some_and(|called| skill_digest(called, path, None) == entry.digest)
        }
        TrustKind::Code => {
            skill.scripts.get(name).is_some_and(|script| script.entry_digest() == entry.digest)
        }
        TrustKind::Command => skill.commands.contains(name) && skill.command_digest(name) == entry.digest,
        TrustKind::Hooks => skill.hooks_digest() == Some(entry.digest),
        TrustKind::Tools => skill.tools_digest(name) == Some(entry.digest),
        TrustKind::Need => skill.needs.contains(name),
        _ => false,
    }
}

/// Whether a record of the first form has something of that kind and name.
pub(super) fn names(record: &ProjectRecord, entry: &TrustEntry) -> bool {
    if record.entries.is_some() {
        return false;
    }
    if let Some(line) = line(entry) {
        return record.files.get(&entry.name.place).is_some_and(|acts| acts.contains_key(&line));
    }
    let Some(skill) = record.skills.get(&entry.name.place) else { return false };
    match entry.kind {
        TrustKind::Skill => true,
        TrustKind::Code => skill.scripts.contains_key(&entry.name.name),
        TrustKind::Hooks => skill.hooks.is_some(),
        TrustKind::Tools => skill.tools_digest(&entry.name.name).is_some(),
        _ => false,
    }
}

/// The line under which the first form kept a thing of a project's file; `None` for what it kept in another way, and for a
/// name that was folded or cut in it: another name could have the same line.
fn line(entry: &TrustEntry) -> Option<String> {
    let name = &entry.name.name;
    let is_own = entry.name.place == "metier.toml";
    let line = match entry.kind {
        TrustKind::Server => format!("MCP server `{name}`"),
        TrustKind::Allow if is_own => format!("rule `{name}`"),
        TrustKind::Mode if is_own => "mode".to_owned(),
        TrustKind::Variable if is_own => format!("environment name `{name}`"),
        TrustKind::Model if is_own && name.is_empty() => "model".to_owned(),
        TrustKind::Model if is_own => format!("model `{name}`"),
        TrustKind::SkillSetting if is_own => format!("skill `{name}`"),
        _ => return None,
    };
    (one_line(&line, CUT) == line).then_some(line)
}
