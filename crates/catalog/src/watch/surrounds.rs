//! What a layout depends on beside the skills: files of configuration and trust, and roots that may come or go.

use crate::declared_name::MANIFESTS;
use crate::layout::{Layout, crew_files};
use crate::project::MARKS;
use crate::trust::TrustStore;
use metier_files::{Kind, is_link, kind};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a layout depends on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Surrounds {
    /// Files that were read, or would be if they were there, and roots that are not there yet.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Folders in which any crew file counts.
    pub(super) crew_folders: BTreeSet<PathBuf>,
    /// The crew files that are there.
    pub(super) crew_files: Vec<PathBuf>,
}

/// Where to wait for what a layout depends on.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// Folders, and the names in them that matter.
    pub(super) names: BTreeMap<PathBuf, BTreeSet<OsString>>,
    /// Folders that must stay where they are.
    pub(super) stay: BTreeSet<PathBuf>,
}

impl Surrounds {
    pub(super) fn of(layout: &Layout) -> Self {
        let places = &layout.places;
        let mut surrounds = Self::default();
        surrounds.paths.extend([places.config_file(), TrustStore::file(&places.data)]);
        if let Some(project) = &layout.project {
            // A mark in a folder nearer than the project's makes that one the project.
            for folder in project.folders() {
                surrounds.paths.extend(MARKS.map(|mark| folder.join(mark)));
            }
            surrounds.paths.extend(MANIFESTS.map(|manifest| project.folder.join(manifest)));
            surrounds.crew_folders.extend([project.folder.clone(), project.current.clone()]);
            surrounds.crew_files =
                surrounds.crew_folders.iter().flat_map(|folder| crew_files(folder)).collect();
        }
        let missing = layout.roots.iter().filter(|root| kind(&root.path) != Kind::Folder);
        surrounds.paths.extend(missing.map(|root| root.path.clone()));
        surrounds
    }

    /// Where to wait: in the folder of each path or, where that is not there either, in the nearest one above it that
    /// is. Every root, folder and link on the way there must stay what it is.
    pub(super) fn outlook(&self, layout: &Layout) -> Outlook {
        let mut outlook = Outlook::default();
        for path in &self.paths {
            let mut below = path.as_path();
            for folder in path.ancestors().skip(1) {
                if kind(folder) == Kind::Folder {
                    if let Some(name) = below.file_name() {
                        outlook.add(folder, name.to_owned());
                    }
                    outlook.stay_up_from(folder);
                    break;
                }
                below = folder;
            }
        }
        for root in layout.roots.iter().filter(|root| !self.paths.contains(&root.path)) {
            outlook.stay_up_from(&root.path);
        }
        outlook
    }
}

impl Outlook {
    fn add(&mut self, folder: &Path, name: OsString) {
        self.names.entry(folder.to_owned()).or_default().insert(name);
    }

    fn stay_up_from(&mut self, folder: &Path) {
        for folder in folder.ancestors() {
            if !self.stay.insert(folder.to_owned()) {
                return;
            }
            // A link is not watched itself; that it leads elsewhere is seen in the folder it lies in.
            if is_link(folder)
                && let (Some(above), Some(name)) = (folder.parent(), folder.file_name())
            {
                self.add(above, name.to_owned());
            }
        }
    }
}
