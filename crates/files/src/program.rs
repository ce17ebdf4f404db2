//! Looking for programs on the user's machine: what a search path leads to, and folders of versions.
//!
//! These places are the user's own, so links are followed; they may still hold anything, so nothing here opens a file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};

/// Whether a regular file that somebody may execute is at `path`, links followed.
pub fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Where the link at `path` points, as it is written; `None` where there is no link.
pub fn link_target(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

/// The names in a folder, sorted, `limit` at most; none where there is no folder or it cannot be read.
pub fn names_in(folder: &Path, limit: usize) -> Vec<OsString> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<_> =
        entries.take(limit).filter_map(|entry| entry.ok().map(|entry| entry.file_name())).collect();
    names.sort();
    names
}

/// Which of these names a folder holds, in the order in which they are given.
///
/// All of them where it holds more than `limit` names or cannot be read to its end: it may have any of them.
pub fn which_in<'a>(folder: &Path, wanted: &[&'a str], limit: usize) -> Vec<&'a str> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, folder, flags, Mode::empty()) else {
        return Vec::new();
    };
    let mut sorted = wanted.to_vec();
    sorted.sort_unstable();
    let mut found = BTreeSet::new();
    // On the stack: a search path has a dozen folders, and asking for memory takes longer than reading most of them.
    let mut buffer = [MaybeUninit::uninit(); LISTING];
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut count = 0;
    while let Some(entry) = entries.next() {
        let Ok(entry) = entry else { return wanted.to_vec() };
        if count == limit {
            return wanted.to_vec();
        }
        count += 1;
        if let Ok(name) = entry.file_name().to_str()
            && let Ok(at) = sorted.binary_search(&name)
        {
            found.insert(sorted[at]);
        }
    }
    wanted.iter().copied().filter(|name| found.contains(name)).collect()
}

/// How much of a folder is asked for at once.
const LISTING: usize = 8192;

/// Makes sure that a folder is there which only the user can look into. The folders above it are made as needed.
///
/// One that is there already and that others can write to is closed to them: earlier versions made some under the umask, and
/// whoever can write to it can put files in place of ours. A link in its place is an error: whoever made it would decide where a
/// skill's data goes.
pub fn private_folder(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    let mode = metadata.permissions().mode();
    if mode & 0o022 != 0 && metadata.uid() == rustix::process::geteuid().as_raw() {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn programs_links_and_names_are_found_and_nothing_else() {
        let workspace = Workspace::new()
            .executable("bin/run", "#!/bin/sh\n")
            .file("bin/notes", "x")
            .dir("bin/folder")
            .fifo("bin/pipe")
            .symlink("bin/alias", "run")
            .symlink("bin/broken", "nowhere");
        let at = |name: &str| workspace.join("bin").join(name);
        for (name, expect) in [
            ("run", true),
            ("alias", true),
            ("notes", false),
            ("folder", false),
            ("pipe", false),
            ("broken", false),
            ("none", false),
        ] {
            assert_eq!(is_program(&at(name)), expect, "{name}");
        }
        assert_eq!(link_target(&at("alias")), Some("run".into()));
        assert_eq!(link_target(&at("run")), None);
        assert_eq!(names_in(&workspace.join("bin"), 100).len(), 6);
        assert_eq!(names_in(&workspace.join("none"), 100), [""; 0]);
        let wanted = ["run", "alias", "none", "a"];
        assert_eq!(which_in(&workspace.join("bin"), &wanted, 100), ["run", "alias"]);
        assert_eq!(which_in(&workspace.join("none"), &wanted, 100), [""; 0]);
        // It may have all of them: that was not looked at to its end.
        assert_eq!(which_in(&workspace.join("bin"), &wanted, 5), wanted);
    }

    #[test]
    fn a_private_folder_is_made_once_and_never_through_a_link() {
        let workspace = Workspace::new().dir("elsewhere").symlink("link", "elsewhere").file("file", "x");
        let folder = workspace.join("data/a/b");
        for _ in 0..2 {
            private_folder(&folder).unwrap();
            assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        private_folder(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(private_folder(&workspace.join("link")).is_err());
        assert!(private_folder(&workspace.join("file")).is_err());
    }
}
