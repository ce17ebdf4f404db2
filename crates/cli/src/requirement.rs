//! What a skill says it requires, checked where its scripts would run. An unmet requirement is said and never hides a
//! skill: whoever reads it can still do the work by hand.

use crate::agency;
use crate::surroundings::Surroundings;
use metier_catalog::{Entry, EntryId, Snapshot};
use metier_exec::{SkillFolders, missing};
use metier_files::SkillDir;
use serde::Serialize;
use std::sync::Arc;

/// Something that is required and not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unmet {
    /// What is missing.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) help: String,
}

/// The requirements of a skill that do not hold here. Tools of an agent are not judged: there is no agent to ask.
pub(crate) fn unmet(snapshot: &Arc<Snapshot>, id: EntryId, surroundings: &Surroundings) -> Vec<Unmet> {
    let session = agency::base(surroundings).snapshot(Arc::clone(snapshot)).open().session_for_program();
    let missing = session.missing(id);
    missing.iter().map(|missing| Unmet { what: missing.what(), help: missing.help() }).collect()
}

/// Packages that the skill's scripts want and that are not installed for it, or not as it wants them now.
pub(crate) fn unprepared(
    snapshot: &Snapshot,
    entry: &Entry,
    folder: &SkillDir,
    surroundings: &Surroundings,
) -> Vec<Unmet> {
    let name = entry.name().as_str();
    // Each skill has its own folder there for what it keeps.
    let place = SkillFolders::data_of(snapshot, entry, &surroundings.places.data.join("skills"));
    match missing(folder, &place, &surroundings.search_path()) {
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
