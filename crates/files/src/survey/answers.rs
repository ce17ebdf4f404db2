//! What is made of everything that a survey knows.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::folder::{File, What};
use super::{Bounded, Secret, Survey, Unreadable, links, os};
use crate::protected::{IN_GIT, Missing, PROTECTED, Presence, Protected, missing_place};

/// The answers, made anew when something changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) secrets: Vec<Secret>,
    pub(super) channels: Vec<PathBuf>,
    pub(super) protected: Vec<Protected>,
    pub(super) repositories: Vec<PathBuf>,
    pub(super) holder_links: Vec<PathBuf>,
    pub(super) unreadable: Vec<Unreadable>,
    pub(super) bounded: Option<Bounded>,
}

impl Survey {
    pub(super) fn answers(&self) -> Found {
        let mut found = Found::default();
        let mut too_deep = 0;
        for (folder_path, folder) in &self.folders {
            let place = self.place(folder_path);
            too_deep += folder.too_deep;
            if let Some(error) = folder.error {
                found.unreadable.push(Unreadable { path: place.clone(), error });
            }
            for name in &folder.other_names {
                found.secrets.push(Secret { path: place.join(os(name)), what: "another name of a secret" });
            }
            for (name, what) in &folder.found {
                let path = place.join(os(name));
                match what {
                    What::File(File { proven: Some(rule), .. }) | What::Folder(rule) => {
                        found.secrets.push(Secret { path, what: rule.what });
                    }
                    What::Link(rules) => {
                        found.secrets.extend(links::secret_behind(
                            &self.project,
                            self.root.as_fd(),
                            &path,
                            rules,
                        ));
                    }
                    What::Channel => found.channels.push(path),
                    What::Protected(rule, presence) => {
                        found.protected.push(Protected { path, presence: *presence, what: rule.what });
                    }
                    What::HolderLink => found.holder_links.push(path),
                    What::Repository(_) => found.repositories.push(place.clone()),
                    What::File(_) => {}
                    What::Document => protect_skill(&place, &self.project, &path, &mut found.protected),
                }
            }
        }
        self.add_missing(&mut found.protected);
        if !found.repositories.contains(&self.project) {
            // The project may be a folder of a larger repository, whose configuration holds for it.
            let above = self.project.ancestors().skip(1).find(|folder| is_present(&folder.join(".git")));
            found.repositories.extend(above.map(Path::to_owned));
        }
        found.secrets.sort();
        found.secrets.dedup_by(|a, b| a.path == b.path);
        found.channels.sort();
        found.protected.sort();
        found.protected.dedup_by(|a, b| a.path == b.path);
        found.bounded = self.bounded_by(too_deep);
        found
    }

    fn bounded_by(&self, too_deep: usize) -> Option<Bounded> {
        let cut = self.folders.values().any(|folder| folder.cut);
        if cut || (self.entries >= self.bounds.entries && !self.pending.is_empty()) {
            return Some(Bounded::Entries { limit: self.bounds.entries, folders: self.pending.len() });
        }
        if !self.pending.is_empty() {
            return Some(Bounded::Time { limit: self.bounds.time, folders: self.pending.len() });
        }
        (too_deep > 0).then_some(Bounded::Depth { limit: self.bounds.depth, folders: too_deep })
    }

    /// Adds the places where nothing is and nothing may be made, for the project and for each repository in it.
    fn add_missing(&self, protected: &mut Vec<Protected>) {
        let existing: HashSet<Vec<u8>> = protected.iter().map(|place| lower(&place.path)).collect();
        for (path, folder) in &self.folders {
            let git = folder.found.iter().find_map(|(name, what)| match what {
                What::Repository(presence) => Some((name, *presence)),
                _ => None,
            });
            if !path.is_empty() && git.is_none() {
                continue;
            }
            let base = self.place(path);
            let git_folder = match git {
                // A folder's own parts are protected one by one, or nobody could commit.
                Some((_, None)) => true,
                // A file that names git's folder, or a link to it.
                Some((name, Some(presence))) => {
                    protected.push(Protected { path: base.join(os(name)), presence, what: "git obeys it" });
                    false
                }
                None => {
                    protected.push(Protected {
                        path: base.join(".git"),
                        presence: Presence::Missing,
                        what: "git obeys it",
                    });
                    false
                }
            };
            for rule in PROTECTED.iter().filter(|rule| rule.missing == Missing::Protected) {
                let place = missing_place(&base, rule);
                if (git_folder || !rule.pattern.starts_with(IN_GIT)) && !existing.contains(&lower(&place)) {
                    protected.push(Protected { path: place, presence: Presence::Missing, what: rule.what });
                }
            }
        }
    }
}

/// A skill's folder is protected whole. Where the project itself is one, that would leave nothing to write.
fn protect_skill(place: &Path, project: &Path, document: &Path, protected: &mut Vec<Protected>) {
    let presence = Presence::Existing;
    let what = "it is a skill's";
    if place == project {
        protected.push(Protected { path: document.to_owned(), presence, what });
    } else {
        protected.push(Protected { path: place.to_owned(), presence, what });
    }
}

fn is_present(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

fn lower(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_ascii_lowercase()
}
