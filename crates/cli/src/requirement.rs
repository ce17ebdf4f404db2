//! What a skill says it requires, checked where its scripts would run. An unmet requirement is said and never hides a
//! skill: whoever reads it can still do the work by hand.

use crate::command::secret;
use crate::environment;
use crate::needs::{Flags, Needs};
use crate::surroundings::Surroundings;
use crate::workplace::search_path;
use metier_catalog::{Entry, Snapshot};
use metier_files::SkillDir;
use metier_runtime::{Given, Here, Missing, Requirements, SkillFolders, missing};
use metier_skill::Manifest;
use serde::Serialize;

/// Something that is required and not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unmet {
    /// What is missing.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) help: String,
}

/// The requirements of a skill that do not hold here. Tools of an agent are not judged: there is no agent to ask.
pub(crate) fn unmet(
    snapshot: &Snapshot,
    entry: &Entry,
    manifest: &Manifest,
    surroundings: &Surroundings,
) -> Vec<Unmet> {
    let missing = unmet_here(snapshot, entry, manifest, surroundings);
    missing.iter().map(|missing| Unmet { what: missing.what(), help: missing.help() }).collect()
}

/// The same as what is missing.
pub(crate) fn unmet_here(
    snapshot: &Snapshot,
    entry: &Entry,
    manifest: &Manifest,
    surroundings: &Surroundings,
) -> Vec<Missing> {
    let Some(requires) = &manifest.more.requires else { return Vec::new() };
    let path = search_path(surroundings);
    // What is set for the skill is looked up only where it requires a variable: a keyring may have to be opened.
    let needs = (!requires.env.is_empty())
        .then(|| Needs::collect(snapshot, entry, Some(manifest), &Flags::default(), surroundings).ok())
        .flatten();
    let variable = |name: &str| given(name, needs.as_ref(), snapshot, entry, surroundings);
    let here = Here { path: &path, variable: &variable, system: std::env::consts::OS, tools: None };
    Requirements { skill: entry.name().as_str(), requires }.check(&here)
}

/// Whether a script of the skill would see a variable.
fn given(
    name: &str,
    needs: Option<&Needs>,
    snapshot: &Snapshot,
    entry: &Entry,
    surroundings: &Surroundings,
) -> Given {
    if let Some(needs) = needs {
        if needs.wants.secrets().any(|(known, _)| known.as_str() == name) {
            return Given::Yes;
        }
        if needs.wants.missing().any(|known| known.as_str() == name) {
            return Given::Unset;
        }
    }
    let is_kept = || {
        let kept = secret::vault(surroundings).of(&secret::owner(snapshot, entry));
        kept.is_ok_and(|kept| kept.iter().any(|(known, _)| known.as_str() == name))
    };
    if environment::has_variable(name) || is_kept() { Given::NotAsked } else { Given::Unset }
}

/// Packages that the skill's scripts want and that are not installed for it, or not as it wants them now.
pub(crate) fn unprepared(
    snapshot: &Snapshot,
    entry: &Entry,
    folder: &SkillDir,
    surroundings: &Surroundings,
) -> Vec<Unmet> {
    let name = entry.name().as_str();
    let place = SkillFolders::data_of(snapshot, entry, &surroundings.skill_data());
    match missing(folder, &place, &search_path(surroundings)) {
        Ok(missing) => {
            let help = format!("run `metier prepare {name}`");
            missing.into_iter().map(|what| Unmet { what, help: help.clone() }).collect()
        }
        Err(error) => vec![Unmet {
            what: format!("what it wants installed cannot be taken: {error}"),
            help: "mend the file, then prepare the skill".to_owned(),
        }],
    }
}
