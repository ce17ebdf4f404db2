//! Folders of skills that are held open between reads.

use std::sync::{Arc, Mutex, PoisonError};

use metier_catalog::EntryId;
use metier_files::SkillDir;
use metier_policy::Skill;

/// How many folders are held open. Each is a descriptor, of which a process has about a thousand; a conversation reads from a
/// handful of skills.
const MAX_OPEN: usize = 32;

/// A skill's folder, opened, and the skill as the gate knows it. Opening a folder and asking for a skill's trust cost more
/// than a read; both hold for as long as a session keeps its snapshot.
#[derive(Debug)]
pub(crate) struct OpenSkill {
    pub(crate) skill: Skill,
    pub(crate) folder: SkillDir,
}

/// The folders that were read from last, the newest at the end.
#[derive(Debug, Default)]
pub(crate) struct Folders(Mutex<Vec<(EntryId, Arc<OpenSkill>)>>);

impl Folders {
    /// The folder of a skill, opened by `open` if it is not.
    pub(crate) fn of<E>(
        &self,
        id: EntryId,
        open: impl FnOnce() -> Result<OpenSkill, E>,
    ) -> Result<Arc<OpenSkill>, E> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = held.iter().rposition(|(known, _)| *known == id) {
            let found = held.remove(at);
            let folder = Arc::clone(&found.1);
            held.push(found);
            return Ok(folder);
        }
        let folder = Arc::new(open()?);
        if held.len() >= MAX_OPEN {
            held.remove(0);
        }
        held.push((id, Arc::clone(&folder)));
        Ok(folder)
    }

    /// Closes the folder of a skill: another one may be at its place.
    pub(crate) fn forget(&self, id: EntryId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != id);
    }
}
