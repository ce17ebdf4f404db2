//! What an attack leaves: processes, and changes of files that it should not have touched.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::probes::Ending;

/// How often is looked for processes that want to stay: one that changes its number all the time can be missed.
const LOOKS: usize = 10;

/// The processes whose command line holds the token, which every probe is told and hands on to its children.
pub(crate) fn survivors(token: &str, ending: Ending) -> Vec<u32> {
    let looks = if ending == Ending::Outlives { LOOKS } else { 1 };
    (0..looks).map(|_| seen(token)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Those that are there now.
pub(crate) fn seen(token: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process whose first thread has ended shows its line only in the others.
        let threads = std::fs::read_dir(entry.path().join("task")).into_iter().flatten().flatten();
        let mut lines = threads.filter_map(|thread| std::fs::read(thread.path().join("cmdline")).ok());
        if lines.any(|line| line.split(|byte| *byte == 0).any(|word| word == token.as_bytes())) {
            found.push(number);
        }
    }
    found
}

/// Ends processes that a control left on purpose.
pub(crate) fn end(processes: &[u32]) {
    for process in processes {
        let id = i32::try_from(*process).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }
}

/// What files look like from outside. The time of the last change of a file's own record cannot be set back by
/// anybody, so it tells of every change, even one that was undone.
#[derive(PartialEq, Eq)]
pub(crate) struct Picture {
    files: BTreeMap<PathBuf, Look>,
}

#[derive(PartialEq, Eq)]
struct Look {
    inode: u64,
    mode: u32,
    owner: (u32, u32),
    size: u64,
    changed: (i64, i64),
}

/// Folders and files of the system that nobody else changes while a test runs.
const SYSTEM: &[&str] = &["/etc/passwd", "/etc/ld.so.preload", "/usr", "/usr/bin", "/usr/lib", "/opt"];

impl Picture {
    /// Takes one of these folders, without what the test itself changes.
    pub(crate) fn take(folders: &[PathBuf], but: &Path) -> Self {
        let mut files = BTreeMap::new();
        for folder in folders {
            walk(folder, but, &mut files);
        }
        for path in SYSTEM {
            look(Path::new(path), &mut files);
        }
        Self { files }
    }

    /// The paths that differ.
    pub(crate) fn differences(&self, after: &Self) -> Vec<String> {
        let paths: std::collections::BTreeSet<_> = self.files.keys().chain(after.files.keys()).collect();
        paths
            .into_iter()
            .filter(|path| self.files.get(*path) != after.files.get(*path))
            .map(|path| path.display().to_string())
            .collect()
    }
}

fn walk(path: &Path, but: &Path, files: &mut BTreeMap<PathBuf, Look>) {
    if path == but {
        return;
    }
    look(path, files);
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), but, files);
        }
    }
}

fn look(path: &Path, files: &mut BTreeMap<PathBuf, Look>) {
    if let Ok(found) = std::fs::symlink_metadata(path) {
        let look = Look {
            inode: found.ino(),
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        };
        files.insert(path.to_owned(), look);
    }
}
