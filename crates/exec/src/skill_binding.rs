//! When a skill runs from a copy, so that what was checked is what runs.

use metier_catalog::{Class, Entry, SkillFile, Snapshot};
use metier_files::{SkillDir, TreeCopies, TreeCopy};
use metier_policy::{Digest, Skill, Trust};

use crate::requested_grants::RequestedGrants;
use crate::rule_files::trust_of_copy;

/// Copies a skill whose run relies on its bytes, and binds what the gate is asked to them: one that wants more than the
/// default containment, and a project's, whose scripts were trusted as they were. `None` for others, and where its files
/// cannot be copied: then the gate knows no digest of the folder, and a project's skill counts as changed.
///
/// An answer about a script without needs binds it later, when the script runs.
pub fn bind_copy(
    skill: &mut Skill,
    (snapshot, entry): (&Snapshot, &Entry),
    (folder, file): (&SkillDir, &SkillFile),
    grants: &RequestedGrants,
    copies: &TreeCopies,
) -> Option<TreeCopy> {
    let is_trusted_project =
        snapshot.root(entry).origin.class == Class::Project && skill.trust == Trust::Trusted;
    if grants.is_empty() && !is_trusted_project {
        return None;
    }
    let mut copy = copies.take(folder).ok();
    if !grants.is_empty() {
        skill.tree = copy.as_ref().map(|copy| Digest(copy.digest.to_string()));
    }
    if is_trusted_project {
        // Links are trusted by where they lead, so one that leads out of the skill is no reason to run the original.
        copy = copy.or_else(|| copies.take_with_links(folder).ok());
        // What cannot be copied cannot be held to what was trusted.
        let trust_of = |copy: &TreeCopy| trust_of_copy(snapshot, entry, &copy.dir, file);
        skill.trust = copy.as_ref().map_or(Trust::Changed, trust_of);
    }
    copy
}
