//! What the project held when a call began, as far as there was time to look: what is gone since was taken away by another program.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::beneath::Tree;
use crate::path::LayerPath;
use crate::stamp::Time;

/// How many folders are read, those at the top first. It is done for every call, and takes less than a millisecond.
const MAX_NOTED_FOLDERS: usize = 64;
/// How many entries are noted. A folder with thousands of files would take longer to read than most calls take.
const MAX_NOTED_ENTRIES: usize = 4096;

/// The entries of the folders at the top.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Noted {
    entries: BTreeMap<LayerPath, NotedEntry>,
    /// The folders of which all entries are noted.
    listed: BTreeSet<LayerPath>,
    is_top_listed: bool,
}

/// One entry of a folder, as the folder has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotedEntry {
    pub(crate) inode: u64,
    pub(crate) is_folder: bool,
}

/// What is known of a path when the call began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was there.
    Present(NotedEntry),
    /// Nothing was there.
    Absent,
    /// Its folder was not read.
    Unknown,
}

impl Noted {
    /// Looks at the project as it was when the call began. What cannot be read is not noted, and neither is a folder that was changed
    /// since: what it held then is not known any more.
    pub(crate) fn of(project: &Path, began: Time) -> Self {
        let mut noted = Self::default();
        let Ok(tree) = Tree::open_quiet(project) else { return noted };
        let mut waiting = VecDeque::from([None]);
        for _ in 0..MAX_NOTED_FOLDERS {
            let Some(folder) = waiting.pop_front() else { break };
            let room = MAX_NOTED_ENTRIES.saturating_sub(noted.entries.len());
            let Ok(Some(found)) = tree.entries(folder.as_ref(), room, Some(began)) else { continue };
            let folders = found.iter().filter(|(_, entry)| entry.is_folder);
            waiting.extend(folders.map(|(path, _)| Some(path.clone())));
            noted.entries.extend(found);
            match folder {
                Some(folder) => drop(noted.listed.insert(folder)),
                None => noted.is_top_listed = true,
            }
        }
        noted
    }

    pub(crate) fn at(&self, path: &LayerPath) -> Known {
        let is_listed = path.parent().map_or(self.is_top_listed, |folder| self.listed.contains(&folder));
        match self.entries.get(path) {
            Some(entry) => Known::Present(*entry),
            // In a folder that was not there, nothing was there.
            None if is_listed => Known::Absent,
            None => match path.parent().map(|folder| self.at(&folder)) {
                Some(Known::Absent | Known::Present(NotedEntry { is_folder: false, .. })) => Known::Absent,
                _ => Known::Unknown,
            },
        }
    }
}
