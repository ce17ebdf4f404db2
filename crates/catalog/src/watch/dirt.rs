//! What has to be looked at again.

use metier_files::Place;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How much of a place may be other than it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The document of a skill that is known.
    Document,
    /// Anything: the folder may be new, gone, a skill or a group.
    Tree,
}

/// What has to be looked at again. What is named first makes what follows it unnecessary.
#[derive(Debug, Default)]
pub(super) struct Dirt {
    /// Configuration, trust, the project, or which roots there are.
    pub(super) layout: bool,
    /// All roots, by the same layout.
    pub(super) roots: bool,
    /// These places.
    pub(super) places: BTreeMap<(usize, PathBuf), Scope>,
    /// Nothing below the roots, but states: what is disabled.
    pub(super) states: bool,
}

impl Dirt {
    /// Everything, from the configuration on.
    pub(super) fn everything() -> Self {
        Self { layout: true, ..Self::default() }
    }

    pub(super) fn add(&mut self, root: usize, folder: PathBuf, scope: Scope) {
        let known = self.places.entry((root, folder)).or_insert(scope);
        *known = scope.max(*known);
    }

    pub(super) fn is_clean(&self) -> bool {
        !self.layout && !self.roots && !self.states && self.places.is_empty()
    }

    /// The places, none of them in another.
    pub(super) fn places(&self) -> Vec<(Place, Scope)> {
        let mut places: Vec<(Place, Scope)> = Vec::with_capacity(self.places.len());
        for ((root, folder), scope) in &self.places {
            // In this order whatever lies in a folder follows it at once.
            if let Some((last, all)) = places.last_mut()
                && last.root == *root
                && folder.starts_with(&last.folder)
            {
                *all = Scope::Tree;
                continue;
            }
            places.push((Place { root: *root, folder: folder.clone() }, *scope));
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_takes_in_what_lies_in_it() {
        let mut dirt = Dirt::default();
        assert!(dirt.is_clean());
        for (root, folder, scope) in [
            (0, "a-b", Scope::Document),
            (0, "a/b", Scope::Document),
            (0, "a", Scope::Document),
            (1, "a/b", Scope::Tree),
            (1, "a/b", Scope::Document),
        ] {
            dirt.add(root, folder.into(), scope);
        }
        let expected = [(0, "a", Scope::Tree), (0, "a-b", Scope::Document), (1, "a/b", Scope::Tree)]
            .map(|(root, folder, scope)| (Place { root, folder: folder.into() }, scope));
        assert_eq!(dirt.places(), expected);
        assert!(!dirt.is_clean());
    }
}
