//! Other loaders, each doing what its documentation calls loading a skill. Neither walks a root by itself, so both get
//! the list that the floor uses; neither prints what it loaded, which metier does.

use std::path::Path;

use agent_skills::SkillDirectory;
use anyhow::Result;

use crate::answer::Answer;
use crate::floor::folders;

/// `skills-ref-rs`, the port of the reference implementation: `read_properties` of every folder.
pub(crate) fn skills_ref(root: &Path) -> Result<Answer> {
    load(root, |folder| skills_ref::read_properties(folder).ok())
}

/// `agent-skills`: `SkillDirectory::load` of every folder.
pub(crate) fn agent_skills(root: &Path) -> Result<Answer> {
    load(root, |folder| SkillDirectory::load(folder).ok())
}

fn load<T>(root: &Path, one: impl Fn(&Path) -> Option<T>) -> Result<Answer> {
    let folders = folders(root)?;
    let skills: Vec<T> = folders.iter().filter_map(|folder| one(folder)).collect();
    let answer = Answer { loaded: skills.len(), failed: folders.len() - skills.len() };
    // A process that ends has no need to take its catalogue apart first; the peers are not charged for it.
    std::mem::forget(skills);
    Ok(answer)
}
