//! Protected places of a project that are not there when a call begins. What is not there cannot be mounted read-only, so
//! whatever is made in such a place is taken away again when every process of the call is dead.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, fstat, openat, openat2,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::profile::Project;

/// How many entries are removed. What made more has won nothing: all of it lies under another name by then.
const MOST: usize = 100_000;

/// How deep folders are entered, each of which is held open meanwhile.
const DEEPEST: usize = 64;

/// How many names are tried for what has to be taken away.
const MOST_NAMES: u32 = 100;

/// Places that running calls found missing, with the number of these calls. What one of them makes there is not a place
/// that was there before for a call that begins later.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<BTreeMap<PathBuf, usize>>);

impl Ledger {
    /// Whoever panicked held it between whole steps, so what is there can be used.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Protected places that are missing, seen from the project's folder.
#[derive(Debug)]
pub(crate) struct Absent<'a> {
    ledger: &'a Ledger,
    folder: &'a Path,
    project: OwnedFd,
    places: Vec<PathBuf>,
}

impl<'a> Absent<'a> {
    /// Looks which protected places are missing. `None` where nothing could make them.
    pub(crate) fn before(project: &'a Project, ledger: &'a Ledger) -> Option<Self> {
        if project.writable.is_empty() || project.protected.is_empty() {
            return None;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let folder = openat2(CWD, &project.folder, flags, Mode::empty(), no_links).ok()?;
        let mut known = ledger.lock();
        let mut places = Vec::new();
        for path in &project.protected {
            let Ok(place) = path.strip_prefix(&project.folder) else { continue };
            if place.as_os_str().is_empty() || !(known.contains_key(path) || is_missing(&folder, place)) {
                continue;
            }
            *known.entry(path.clone()).or_default() += 1;
            places.push(place.to_owned());
        }
        drop(known);
        let absent = Self { ledger, folder: &project.folder, project: folder, places };
        (!absent.places.is_empty()).then_some(absent)
    }

    /// Takes away what was made, and says so.
    pub(crate) fn restore(self) -> Vec<String> {
        let notes = self.places.iter().filter_map(|place| self.clear(place)).collect();
        let mut known = self.ledger.lock();
        for place in &self.places {
            let path = self.folder.join(place);
            match known.get_mut(&path) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(known.remove(&path)),
            }
        }
        notes
    }

    fn clear(&self, place: &Path) -> Option<String> {
        let (folder, name, path) = self.made_at(place)?;
        let path = path.display();
        Some(match take_away(folder.as_fd(), name) {
            Ok(()) => format!("`{path}` was made, which is protected: it was removed"),
            Err(error) => {
                format!(
                    "`{path}` was made, which is protected, and could not be removed ({error}): look at it"
                )
            }
        })
    }

    /// Where something lies now: at the place itself, or a link on the way to it, which leads to a place as well. The links
    /// that were there before are not on the way of a missing place, since that counts as missing only without them.
    fn made_at<'b>(&self, place: &'b Path) -> Option<(OwnedFd, &'b OsStr, PathBuf)> {
        let mut folder = rustix::io::fcntl_dupfd_cloexec(&self.project, 3).ok()?;
        let mut path = PathBuf::new();
        let mut components = place.components().peekable();
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else { return None };
            path.push(name);
            let kind =
                FileType::from_raw_mode(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?.st_mode);
            if components.peek().is_none() || kind == FileType::Symlink {
                return Some((folder, name, path));
            }
            folder = openat(&folder, name, FOLDER, Mode::empty()).ok()?;
        }
        None
    }
}

/// Whether nothing lies at a place: neither at its end nor, as a link, on the way to it.
fn is_missing(project: &OwnedFd, place: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    matches!(openat2(project, place, flags, Mode::empty(), resolve), Err(Errno::NOENT | Errno::NOTDIR))
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// First under another name, so that the place is free however much lies there; then it is removed.
fn take_away(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    for number in 0..MOST_NAMES {
        let aside = format!(".metier-removed-{}-{number}", std::process::id());
        match renameat_with(folder, name, folder, &aside, RenameFlags::NOREPLACE) {
            Ok(()) => {
                let aside = CString::new(aside).map_err(|_| Errno::INVAL)?;
                return remove(folder, &aside, &mut MOST.clone(), 0);
            }
            Err(Errno::EXIST) => {}
            // A file system that cannot promise not to replace anything: then it is removed where it lies.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
                return remove(folder, &name, &mut MOST.clone(), 0);
            }
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST)
}

/// Removes an entry and what is below it, without following links and without leaving its file system.
fn remove(folder: BorrowedFd<'_>, name: &CStr, left: &mut usize, depth: usize) -> rustix::io::Result<()> {
    *left = left.checked_sub(1).ok_or(Errno::TOOBIG)?;
    let inner = match openat(folder, name, FOLDER, Mode::empty()) {
        Ok(inner) => inner,
        // A file or a link.
        Err(Errno::NOTDIR | Errno::LOOP) => return unlinkat(folder, name, AtFlags::empty()),
        Err(error) => return Err(error),
    };
    if depth == DEEPEST || fstat(&inner)?.st_dev != fstat(folder)?.st_dev {
        return Err(Errno::TOOBIG);
    }
    for entry in Dir::read_from(&inner)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            remove(inner.as_fd(), entry.file_name(), left, depth + 1)?;
        }
    }
    unlinkat(folder, name, AtFlags::REMOVEDIR)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Ground {
        folder: tempfile::TempDir,
        project: Project,
    }

    impl Ground {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            std::fs::create_dir_all(root.join("p/.git/hooks")).unwrap();
            std::fs::create_dir(root.join("elsewhere")).unwrap();
            std::fs::write(root.join("elsewhere/hooks"), "mine").unwrap();
            let protected = [".git/hooks", ".git/config", ".vscode", "sub/.git/hooks"];
            let project = Project {
                folder: root.join("p"),
                writable: vec![root.join("p")],
                masked: vec![],
                protected: protected.iter().map(|name| root.join("p").join(name)).collect(),
            };
            Self { folder, project }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn is_gone(&self, name: &str) -> bool {
            self.at(name).symlink_metadata().is_err()
        }
    }

    #[test]
    fn what_was_missing_is_removed_and_what_was_there_stays() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        let absent = Absent::before(&ground.project, &ledger).unwrap();
        std::fs::create_dir_all(ground.at("p/.vscode/deep/er")).unwrap();
        std::fs::write(ground.at("p/.vscode/deep/tasks.json"), "x").unwrap();
        symlink(ground.at("elsewhere"), ground.at("p/.vscode/link")).unwrap();
        std::fs::write(ground.at("p/.git/hooks/pre-commit"), "x").unwrap();
        std::fs::write(ground.at("p/.git/config"), "x").unwrap();
        let notes = absent.restore();
        assert_eq!(
            notes,
            [
                "`.git/config` was made, which is protected: it was removed",
                "`.vscode` was made, which is protected: it was removed"
            ]
        );
        assert!(ground.is_gone("p/.vscode") && ground.is_gone("p/.git/config"));
        assert!(ground.at("p/.git/hooks/pre-commit").exists() && ground.at("elsewhere/hooks").exists());
        assert_eq!(std::fs::read_dir(ground.at("p")).unwrap().count(), 1, "nothing lies under another name");
    }

    #[test]
    fn a_link_on_the_way_is_removed_and_not_followed() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        let absent = Absent::before(&ground.project, &ledger).unwrap();
        std::fs::create_dir(ground.at("p/sub")).unwrap();
        symlink(ground.at("elsewhere"), ground.at("p/sub/.git")).unwrap();
        assert_eq!(absent.restore(), ["`sub/.git` was made, which is protected: it was removed"]);
        assert!(ground.is_gone("p/sub/.git") && ground.at("p/sub").exists());
        assert_eq!(std::fs::read_to_string(ground.at("elsewhere/hooks")).unwrap(), "mine");
    }

    #[test]
    fn a_tree_too_deep_to_remove_is_out_of_the_way_and_told() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        let absent = Absent::before(&ground.project, &ledger).unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", DEEPEST + 2).collect();
        std::fs::create_dir_all(ground.at("p/.vscode").join(deep)).unwrap();
        let notes = absent.restore();
        assert!(notes.len() == 1 && notes[0].contains("could not be removed"), "{notes:?}");
        assert!(ground.is_gone("p/.vscode"));
    }

    #[test]
    fn what_a_running_call_made_is_no_place_that_was_there_for_the_next() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        let first = Absent::before(&ground.project, &ledger).unwrap();
        std::fs::create_dir(ground.at("p/.vscode")).unwrap();
        let second = Absent::before(&ground.project, &ledger).unwrap();
        assert_eq!(first.restore().len(), 1);
        std::fs::create_dir(ground.at("p/.vscode")).unwrap();
        assert_eq!(second.restore().len(), 1);
        assert!(ground.is_gone("p/.vscode") && ledger.lock().is_empty());
        std::fs::create_dir(ground.at("p/.vscode")).unwrap();
        assert_eq!(Absent::before(&ground.project, &ledger).unwrap().restore(), [""; 0]);
        assert!(!ground.is_gone("p/.vscode"));
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_looked_for() {
        let (mut ground, ledger) = (Ground::new(), Ledger::default());
        ground.project.writable.clear();
        assert!(Absent::before(&ground.project, &ledger).is_none());
    }
}
