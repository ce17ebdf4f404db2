//! What was found out on the way to one program and holds for the next: most of them lie in the same few folders.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use metier_files::real_path;

use super::SearchPath;
use super::installation::{Chosen, Installation, Limits};
use super::shim::Managers;

/// What one search has seen. It is forgotten with the search: the next one looks again.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) managers: Managers,
    /// The folder of a program that the user's configuration names by its path.
    named: Option<PathBuf>,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    /// By the folders that programs lie in.
    installations: RefCell<HashMap<PathBuf, Option<Installation>>>,
}

impl Seen {
    /// A search for one program that the user's configuration names by its path.
    pub(super) fn for_named(file: &Path) -> Self {
        Self { named: file.parent().and_then(|bin| real_path(bin).ok()), ..Self::default() }
    }

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
    pub(super) fn installation(&self, file: &Path, path: &SearchPath) -> Installation {
        let alone = || Installation { shown: file.to_owned(), also: Vec::new() };
        let Some(bin) = file.parent() else { return alone() };
        let mut known = self.installations.borrow_mut();
        if !known.contains_key(bin) {
            let is_searched =
                path.folders.iter().any(|folder| self.real(folder).as_deref().unwrap_or(folder) == bin);
            let chosen = match () {
                () if is_searched => Chosen::Searched,
                () if self.named.as_deref() == Some(bin) => Chosen::Named,
                () => Chosen::No,
            };
            let limits = Limits { home: path.home.as_deref(), project: path.project.as_deref(), chosen };
            known.insert(bin.to_owned(), Installation::around(bin, limits));
        }
        known.get(bin).cloned().flatten().unwrap_or_else(alone)
    }
}
