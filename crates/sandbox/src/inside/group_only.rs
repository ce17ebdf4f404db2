//! What of the system's settings the caller may read and not everyone.
//!
//! A script sees the system's folders "as far as everyone may". It keeps the groups of its caller, though: only root can leave
//! groups, and a user namespace does not change that. So what a group opens, such as `/etc/shadow` to the group `shadow`, is
//! found here and hidden. It is found by what the kernel says about access and not by names, so lists of access count, too.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, accessat, statat};

use super::view::SETTINGS;
use crate::folder::{entries, open_folder};

/// Where administrators put files, and how deep folders are looked at. What packages install in `/usr` is public anyway.
const LOOKED_AT: &[(&str, usize)] = &[(SETTINGS, 16), ("/usr/local", 2), ("/opt", 2)];

/// How many entries are looked at, which takes some ten milliseconds at most. `/etc` has one or two thousand.
const MAX_ENTRIES: usize = 10_000;

/// Whom the kernel names where it has no name for an owner in this user namespace.
const OVERFLOW: u32 = 65534;

/// The outermost files and folders that this process may open and everyone else may not, but for its own.
pub(crate) fn find() -> Vec<PathBuf> {
    let mut looked_at = 0;
    LOOKED_AT
        .iter()
        .flat_map(|(root, deepest)| find_below(Path::new(root), *deepest, &mut looked_at))
        .collect()
}

fn find_below(root: &Path, deepest: usize, looked_at: &mut usize) -> Vec<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(root.to_owned(), 1)]);
    while let Some((path, depth)) = waiting.pop_front() {
        let Ok(folder) = open_folder(CWD, &path) else { continue };
        for entry in entries(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if entry.file_type() == FileType::Symlink {
                continue;
            }
            *looked_at += 1;
            if *looked_at > MAX_ENTRIES {
                return found;
            }
            let Ok(stat) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let is_own = stat.st_uid == own && own != OVERFLOW;
            // A folder is opened by entering it; that its names can be listed does not matter.
            let (everyone, access) =
                if is_folder { (Mode::XOTH, Access::EXEC_OK) } else { (Mode::ROTH, Access::READ_OK) };
            let path = || path.join(OsStr::from_bytes(name.to_bytes()));
            if !is_own
                && !Mode::from_raw_mode(stat.st_mode).contains(everyone)
                && accessat(&folder, name, access, AtFlags::EACCESS).is_ok()
            {
                found.push(path());
            } else if is_folder && depth < deepest {
                waiting.push_back((path(), depth + 1));
            }
        }
    }
    found
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown};

    #[test]
    fn what_everyone_may_read_or_nobody_else_may_is_not_hidden() {
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        fs::create_dir_all(at("open/closed")).unwrap();
        for (name, mode) in [("all", 0o644), ("none", 0o000), ("open/own", 0o600), ("open/closed/x", 0o640)] {
            fs::write(at(name), "x").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(at("open/closed"), fs::Permissions::from_mode(0o750)).unwrap();
        // All of it is this user's own.
        assert_eq!(find_below(ground.path(), 9, &mut 0), [""; 0].map(PathBuf::from));
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT TRIED: only root can make files of another user's");
            return;
        }
        // Root may open everything, so for root everything of others that is closed is such a file.
        for name in ["none", "open/own", "open/closed", "open/closed/x"] {
            chown(at(name), Some(54_322), Some(54_322)).unwrap();
        }
        let mut found = find_below(ground.path(), 9, &mut 0);
        found.sort();
        assert_eq!(found, ["none", "open/closed", "open/own"].map(at), "the outermost ones");
        assert_eq!(find_below(ground.path(), 1, &mut 0), [at("none")]);
        assert_eq!(find_below(ground.path(), 9, &mut MAX_ENTRIES.clone()), [""; 0].map(PathBuf::from));
    }
}
