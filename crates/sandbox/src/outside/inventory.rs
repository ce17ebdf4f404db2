//! Which files lie in the folders that a call can write to, before it and after it.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, openat2, statat};

use crate::changes::{Change, ChangeKind, Changes};
use crate::profile::Profile;

/// How many files and folders are looked at before a call: as many as take some ten milliseconds. Those nearest to the top
/// come first, since what lies below is more often made by tools than by people.
const MOST: usize = 10_000;

/// How many are looked at after it: the call may have made as many again.
const MOST_AFTER: usize = 2 * MOST;

/// What lay in the writable folders of a profile.
#[derive(Debug)]
pub(crate) struct Inventory {
    /// The folders and files that can be written, none inside another.
    places: Vec<PathBuf>,
    before: Found,
}

impl Inventory {
    /// Looks now. `None` where nothing can be written.
    pub(crate) fn take(profile: &Profile) -> Option<Self> {
        let project = profile.project.iter().flat_map(|project| &project.writable);
        let mut places: Vec<PathBuf> = profile.writable.iter().chain(project).cloned().collect();
        places.sort_unstable();
        // An outer folder comes before what lies in it.
        places.dedup_by(|inner, outer| inner.starts_with(&*outer));
        if places.is_empty() {
            return None;
        }
        let before = Found::look(&places, MOST, |_| true);
        Some(Self { places, before })
    }

    /// What is other now.
    pub(crate) fn changes(self) -> Changes {
        // What was too much to look at before would all seem to be new, so it is left out now, too.
        let before = &self.before;
        let after = Found::look(&self.places, MOST_AFTER, |folder| {
            before.listed.contains(folder) || !before.entries.contains_key(folder)
        });
        let mut entries = Vec::new();
        for (path, look) in &after.entries {
            let kind = match before.entries.get(path) {
                Some(known) if known.is_same(look) => continue,
                Some(_) => ChangeKind::Changed,
                None => ChangeKind::New,
            };
            entries.push(Change { path: path.clone(), kind, size: look.size });
        }
        let gone = before.entries.keys().filter(|path| after.is_gone(path, before));
        entries.extend(gone.map(|path| Change { path: path.clone(), kind: ChangeKind::Removed, size: 0 }));
        entries.sort_unstable();
        Changes { entries, is_partial: before.is_partial || after.is_partial }
    }
}

/// What was found in one look.
#[derive(Debug, Default)]
struct Found {
    entries: BTreeMap<PathBuf, Look>,
    /// Folders of which every entry is known.
    listed: HashSet<PathBuf>,
    is_partial: bool,
}

/// What a file looks like without opening it. The time of the last change of its own record counts as well, for that one
/// nobody can set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    is_folder: bool,
    device: u64,
    number: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Look {
    #[expect(
        clippy::cast_possible_wrap,
        clippy::unnecessary_cast,
        reason = "the kernel's own numbers, whose types differ between architectures, are only compared"
    )]
    fn new(stat: &Stat) -> Self {
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        Self {
            is_folder,
            device: stat.st_dev as u64,
            number: stat.st_ino,
            size: if is_folder { 0 } else { u64::try_from(stat.st_size).unwrap_or(0) },
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other || self.is_folder && other.is_folder
    }
}

impl Found {
    fn look(places: &[PathBuf], most: usize, enter: impl Fn(&Path) -> bool) -> Self {
        let mut found = Self::default();
        let mut waiting = VecDeque::new();
        for place in places {
            let Ok(stat) = statat(CWD, place, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let look = Look::new(&stat);
            // The places themselves are given, not found: only a file has something to compare.
            if look.is_folder {
                waiting.push_back(place.clone());
            } else {
                found.entries.insert(place.clone(), look);
            }
        }
        while let Some(folder) = waiting.pop_front() {
            let left = most.saturating_sub(found.entries.len());
            let Some(entries) = list(&folder, left) else {
                found.is_partial = true;
                continue;
            };
            for (name, look) in entries {
                let path = folder.join(name);
                if look.is_folder {
                    if enter(&path) {
                        waiting.push_back(path.clone());
                    } else {
                        found.is_partial = true;
                    }
                }
                found.entries.insert(path, look);
            }
            found.listed.insert(folder);
        }
        found
    }

    /// Whether something that was known is known to be gone: from a folder whose every entry is known, or with it.
    fn is_gone(&self, path: &Path, before: &Self) -> bool {
        if self.entries.contains_key(path) {
            return false;
        }
        match path.parent() {
            Some(folder) if self.listed.contains(folder) => true,
            Some(folder) if before.entries.contains_key(folder) => self.is_gone(folder, before),
            // A place itself.
            _ => !before.listed.iter().any(|listed| path.starts_with(listed)),
        }
    }
}

/// All entries of a folder, or none where there are too many or it cannot be read. No link is followed.
fn list(folder: &Path, most: usize) -> Option<Vec<(PathBuf, Look)>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(CWD, folder, flags, Mode::empty(), no_links).ok()?;
    let mut entries = Vec::new();
    for entry in Dir::read_from(&opened).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if entries.len() == most {
            return None;
        }
        // What is gone by now was not there.
        let Ok(stat) = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        entries.push((PathBuf::from(OsStr::from_bytes(name.to_bytes())), Look::new(&stat)));
    }
    Some(entries)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use std::fs;

    fn profile(folder: &Path) -> Profile {
        let mut profile = Profile::new("/".into());
        profile.writable = vec![folder.join("a"), folder.join("a/inner"), folder.join("file")];
        profile
    }

    fn shown(folder: &Path, changes: &Changes) -> Vec<String> {
        let line = |change: &Change| {
            let path = change.path.strip_prefix(folder).unwrap().display();
            format!("{} {path} {}", change.kind.word(), change.size)
        };
        changes.entries.iter().map(line).collect()
    }

    #[test]
    fn what_is_new_changed_and_removed_is_told_once() {
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        for folder in ["a/inner", "a/old/deep", "other"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["a/same", "a/inner/same", "a/written", "a/old/deep/x", "file", "other/file"] {
            fs::write(at(file), "1").unwrap();
        }
        std::os::unix::fs::symlink(at("other"), at("a/link")).unwrap();
        let inventory = Inventory::take(&profile(ground.path())).unwrap();
        // Some file systems tell times in ticks of up to ten milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(11));
        fs::write(at("a/written"), "2").unwrap();
        let before = fs::metadata(at("a/same")).unwrap().modified().unwrap();
        fs::File::options().write(true).open(at("a/written")).unwrap().set_modified(before).unwrap();
        fs::write(at("file"), "longer").unwrap();
        fs::write(at("other/file"), "not told").unwrap();
        fs::remove_dir_all(at("a/old")).unwrap();
        fs::create_dir(at("a/new")).unwrap();
        fs::write(at("a/new/file"), "12345").unwrap();
        let changes = inventory.changes();
        assert_eq!(
            shown(ground.path(), &changes),
            [
                "new a/new 0",
                "new a/new/file 5",
                "removed a/old 0",
                "removed a/old/deep 0",
                "removed a/old/deep/x 0",
                "changed a/written 1",
                "changed file 6",
            ]
        );
        assert!(!changes.is_partial);
    }

    #[test]
    fn too_much_is_looked_at_in_part_and_never_mistaken_for_a_change() {
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        fs::create_dir_all(at("a/many/below")).unwrap();
        for number in 0..MOST {
            fs::File::create(at("a/many").join(number.to_string())).unwrap();
        }
        fs::write(at("a/top"), "").unwrap();
        let inventory = Inventory::take(&profile(ground.path())).unwrap();
        fs::remove_file(at("a/top")).unwrap();
        fs::write(at("a/many/new"), "").unwrap();
        let changes = inventory.changes();
        assert_eq!(shown(ground.path(), &changes), ["removed a/top 0"]);
        assert!(changes.is_partial);
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_looked_at() {
        assert!(Inventory::take(&Profile::new("/usr".into())).is_none());
    }
}
