//! Protected places of a project that are not there when a call begins.
//!
//! What is not there cannot be mounted read-only: a mount needs something to lie on, and making that for the length of a call
//! would show an empty `.git` or `CLAUDE.md` to every other program, and leave it there when the machine stops. Landlock knows
//! files that exist, not names. So whatever appears in such a place is set aside under another name when every process
//! of the call is dead, before anybody obeys it. It is never deleted, since nothing tells who made it: a call runs as the
//! user, moves old files as well as making new ones, and the user's editor may have been there at the same time.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, openat, openat2, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::profile::Project;

/// What is added to the name of what is set aside. No program obeys a file of such a name.
const ASIDE: &str = ".set-aside";

/// How many names are tried for what has to be set aside. Whoever left so many there does not look at them.
const MOST_NAMES: u32 = 1000;

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

    /// Sets aside what is there now, and says so.
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
        let shown = path.display();
        Some(match set_aside(folder.as_fd(), name) {
            Ok(Some(aside)) => format!(
                "`{shown}` was made, which is protected: it is `{}` now; look at it, and move it back if it is yours",
                path.with_file_name(aside).display()
            ),
            Ok(None) => format!("`{shown}` was made, which is protected: it was empty and is removed"),
            Err(error) => format!(
                "`{shown}` was made, which is protected, and could not be set aside ({error}): look at it before you go on"
            ),
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

/// Gives it another name in the same folder, so that the place is free in one step however much lies there, and says
/// which. An empty folder has nothing that anybody could miss, and is removed.
fn set_aside(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<Option<OsString>> {
    if unlinkat(folder, name, AtFlags::REMOVEDIR).is_ok() {
        return Ok(None);
    }
    for number in 1..=MOST_NAMES {
        let mut aside = name.to_owned();
        aside.push(ASIDE);
        if number > 1 {
            aside.push(format!("-{number}"));
        }
        let renamed = match renameat_with(folder, name, folder, &aside, RenameFlags::NOREPLACE) {
            // A file system that cannot promise not to replace anything: then it is looked at before.
            Err(Errno::INVAL | Errno::NOSYS) => match statat(folder, &aside, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => renameat(folder, name, folder, &aside),
                Ok(_) => Err(Errno::EXIST),
                Err(error) => Err(error),
            },
            renamed => renamed,
        };
        match renamed {
            Ok(()) => return Ok(Some(aside)),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST)
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
    fn what_was_missing_is_set_aside_whole_and_what_was_there_stays() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        std::fs::write(ground.at("p/.vscode.set-aside"), "of another time").unwrap();
        let absent = Absent::before(&ground.project, &ledger).unwrap();
        std::fs::create_dir_all(ground.at("p/.vscode/deep/er")).unwrap();
        std::fs::write(ground.at("p/.vscode/deep/tasks.json"), "x").unwrap();
        std::fs::write(ground.at("p/.git/hooks/pre-commit"), "x").unwrap();
        std::fs::write(ground.at("p/.git/config"), "x").unwrap();
        let notes = absent.restore();
        let note = |from: &str, to: &str| {
            format!(
                "`{from}` was made, which is protected: it is `{to}` now; look at it, and move it back if it is yours"
            )
        };
        assert_eq!(
            notes,
            [note(".git/config", ".git/config.set-aside"), note(".vscode", ".vscode.set-aside-2")]
        );
        assert!(ground.is_gone("p/.vscode") && ground.is_gone("p/.git/config"));
        assert!(ground.at("p/.git/hooks/pre-commit").exists());
        let read = |name: &str| std::fs::read_to_string(ground.at(name)).unwrap();
        assert_eq!(read("p/.vscode.set-aside-2/deep/tasks.json"), "x");
        assert_eq!(read("p/.vscode.set-aside"), "of another time");
    }

    #[test]
    fn an_empty_folder_is_removed() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        let absent = Absent::before(&ground.project, &ledger).unwrap();
        std::fs::create_dir(ground.at("p/.vscode")).unwrap();
        assert_eq!(absent.restore(), ["`.vscode` was made, which is protected: it was empty and is removed"]);
        assert_eq!(std::fs::read_dir(ground.at("p")).unwrap().count(), 1);
    }

    #[test]
    fn a_link_on_the_way_is_set_aside_and_not_followed() {
        let (ground, ledger) = (Ground::new(), Ledger::default());
        let absent = Absent::before(&ground.project, &ledger).unwrap();
        std::fs::create_dir(ground.at("p/sub")).unwrap();
        symlink(ground.at("elsewhere"), ground.at("p/sub/.git")).unwrap();
        assert_eq!(absent.restore().len(), 1);
        assert!(ground.is_gone("p/sub/.git") && ground.at("p/sub/.git.set-aside").is_symlink());
        assert_eq!(std::fs::read_to_string(ground.at("elsewhere/hooks")).unwrap(), "mine");
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
