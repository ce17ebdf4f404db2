//! Who owns the data folders of root's calls.
//!
//! On disk they are root's. A mount shows them as the call's own, so what the call makes in them is root's as well, and the
//! next call, which has another id, finds everything as its own. Where a folder cannot be mounted like that (on the tiers
//! without mounts of ours, without the right to mount, on some file systems), the folder gets an id of its own, which stays:
//! every later call with this folder runs as that id.
//!
//! Folders of earlier versions belong to the user `nobody`. They are given to root by the same steps.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, chownat, fstat, openat, openat2};
use rustix::process::{Gid, Uid};

use super::claim::is_private;
use super::failure::During;
use crate::folder::{FOLDER, entries, open_folder};
use crate::wire::Failure;

/// A data folder, opened on disk.
#[derive(Debug)]
pub(crate) struct DataOnDisk<'a> {
    path: &'a Path,
    folder: OwnedFd,
    owner: u32,
}

impl<'a> DataOnDisk<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, Failure> {
        let open = || -> rustix::io::Result<Self> {
            let folder = open_folder(CWD, path)?;
            let owner = fstat(&folder)?.st_uid;
            Ok(Self { path, folder, owner })
        };
        open().during(|| format!("opening {}", path.display()))
    }

    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    pub(crate) fn is_roots(&self) -> bool {
        self.owner == 0
    }

    /// The id that it got because it could not be mounted with another owner.
    pub(crate) fn own_id(&self) -> Option<u32> {
        Some(self.owner).filter(|owner| is_private(*owner))
    }

    /// Gives it to this user, with everything in it that belonged to its owner before.
    pub(crate) fn give(&self, user: u32) -> Result<(), Failure> {
        hand_over(self.folder.as_fd(), user)
            .during(|| format!("changing the owner of {}", self.path.display()))
    }
}

/// Gives to root what can be mounted with another owner. Returns the rest.
pub(crate) fn settle<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    can_map: impl Fn(&DataOnDisk<'_>) -> bool,
) -> Result<Vec<DataOnDisk<'a>>, Failure> {
    let mut rest = Vec::new();
    for path in paths {
        let data = DataOnDisk::open(path)?;
        if can_map(&data) {
            data.give(0)?;
        } else {
            rest.push(data);
        }
    }
    Ok(rest)
}

/// Gives a folder to a user, with everything in it that has the same owner as the folder. The folder itself comes last, so
/// that whatever was interrupted is done again. What cannot be opened stays as it is.
pub(crate) fn hand_over(folder: BorrowedFd<'_>, user: u32) -> rustix::io::Result<()> {
    let before = fstat(folder)?.st_uid;
    if before == user {
        return Ok(());
    }
    // Paths and not open folders: a script can make folders deeper than there are descriptors.
    let mut waiting = vec![PathBuf::from(".")];
    while let Some(path) = waiting.pop() {
        let Ok(inner) = openat2(folder, &path, FOLDER, Mode::empty(), INSIDE) else { continue };
        for entry in entries(&inner)?.flatten() {
            let name = entry.file_name();
            // The file that is looked at is the one that is given, whatever has its name by then.
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(file) = openat(&inner, name, flags, Mode::empty()) else { continue };
            let stat = fstat(&file)?;
            if stat.st_uid == before {
                chown(file.as_fd(), user)?;
            }
            if is_folder(&stat) {
                waiting.push(path.join(OsStr::from_bytes(name.to_bytes())));
            }
        }
    }
    chown(folder, user)
}

/// The kernel takes set-id bits and capabilities from a file that gets another owner.
fn chown(file: BorrowedFd<'_>, user: u32) -> rustix::io::Result<()> {
    chownat(file, "", Some(Uid::from_raw(user)), Some(Gid::from_raw(user)), AtFlags::EMPTY_PATH)
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// What a script left in its folder leads nowhere else.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

    #[test]
    fn everything_of_the_old_owner_gets_the_new_one_and_no_link_is_followed() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT TRIED: only root changes owners");
            return;
        }
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        fs::create_dir_all(at("data/a/b")).unwrap();
        for name in ["data/a/b/file", "data/set-id", "data/others", "outside"] {
            fs::write(at(name), "x").unwrap();
        }
        symlink(at("outside"), at("data/link")).unwrap();
        for name in ["data", "data/a", "data/a/b", "data/a/b/file", "data/set-id", "data/link", "outside"] {
            lchown(at(name), Some(65534), Some(65534)).unwrap();
        }
        fs::set_permissions(at("data/set-id"), fs::Permissions::from_mode(0o6755)).unwrap();
        lchown(at("data/others"), Some(7), Some(7)).unwrap();
        let data = at("data");
        let on_disk = DataOnDisk::open(&data).unwrap();
        assert_eq!((on_disk.is_roots(), on_disk.own_id()), (false, None));
        on_disk.give(0x7000_0001).unwrap();
        let owner = |name: &str| fs::symlink_metadata(at(name)).unwrap().uid();
        for name in ["data", "data/a", "data/a/b", "data/a/b/file", "data/set-id", "data/link"] {
            assert_eq!(owner(name), 0x7000_0001, "{name}");
        }
        assert_eq!((owner("outside"), owner("data/others")), (65534, 7));
        assert_eq!(fs::metadata(at("data/set-id")).unwrap().mode() & 0o7777, 0o755);
        assert_eq!(DataOnDisk::open(&data).unwrap().own_id(), Some(0x7000_0001));
    }
}
