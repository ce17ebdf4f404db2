//! What was found out on the way to one program and holds for the next: most of them lie in the same few folders.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use metier_files::real_path;

use super::installation::Installation;
use super::shim::Managers;

/// What one search has seen. It is forgotten with the search: the next one looks again.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) managers: Managers,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    /// By the folders that programs lie in.
    installations: RefCell<HashMap<PathBuf, Option<Installation>>>,
}

impl Seen {
    /// A folder with every link on its path followed, if it is there.
    pub(super) fn real(&self, folder: &Path) -> Option<PathBuf> {
        let mut known = self.real.borrow_mut();
        if let Some(real) = known.get(folder) {
            return real.clone();
        }
        let real = real_path(folder).ok();
        known.insert(folder.to_owned(), real.clone());
        real
    }

    /// What is shown for the program at `file`, a path without links.
    pub(super) fn installation(&self, file: &Path, home: Option<&Path>) -> Installation {
        let alone = || Installation { shown: file.to_owned(), also: Vec::new() };
        let Some(bin) = file.parent() else { return alone() };
        let mut known = self.installations.borrow_mut();
        if !known.contains_key(bin) {
            known.insert(bin.to_owned(), Installation::around(bin, home));
        }
        known.get(bin).cloned().flatten().unwrap_or_else(alone)
    }
}
