//! Records of the first form of the trust store: what they say of the things of today.
//!
//! They kept shown lines with digests for the project's files, and the capabilities of skills that had any. What they kept
//! stays trusted. What they could not keep counts as new and is asked about: skills of text alone, single rules of other
//! clients' files, variables of `.agents/env.yaml`, agents, crews, links, and code whose name is not that of a script.

use super::ProjectRecord;
use super::entry::{EntryDigest, TrustEntry, TrustKind};
use super::project_trust::Known;
use super::skill::skill_digest;
use crate::capability::Script;
use crate::shown::one_line;
use std::path::Path;

/// Where the first form cut its lines.
const CUT: usize = 200;

/// What a record of the first form knows of a thing.
pub(super) fn known(record: &ProjectRecord, entry: &TrustEntry) -> Known {
    if record.entries.is_some() {
        return Known::New;
    }
    let (name, place) = (&entry.name.name, &entry.name.place);
    let (is_named, is_same) = if let Some(line) = line(entry) {
        let digest = record.files.get(place).and_then(|acts| acts.get(&line));
        (digest.is_some(), digest == Some(&entry.digest.to_string()))
    } else {
        let Some(skill) = record.skills.get(place) else { return Known::New };
        let kept = |digest: Option<EntryDigest>| (digest.is_some(), digest == Some(entry.digest));
        match entry.kind {
            // The name was not kept. A skill that is called like its folder, where no link leads to it, has the name that
            // its path says.
            TrustKind::Skill => {
                let called = Path::new(place).file_name().and_then(|name| name.to_str());
                (true, called.is_some_and(|called| skill_digest(called, place, None) == entry.digest))
            }
            TrustKind::Code => kept(skill.scripts.get(name).map(Script::entry_digest)),
            // These were kept by what they say, so another one is another name.
            TrustKind::Command => {
                (false, skill.commands.contains(name) && skill.command_digest(name) == entry.digest)
            }
            TrustKind::Need => (false, skill.needs.contains(name)),
            TrustKind::Hooks => kept(skill.hooks_digest()),
            TrustKind::Tools => kept(skill.tools_digest(name)),
            _ => (false, false),
        }
    };
    match (is_same, is_named) {
        (true, _) => Known::Same,
        (false, true) => Known::Changed,
        (false, false) => Known::New,
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
