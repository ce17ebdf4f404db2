//! What a call keeps on disk: its data folders, places that may not grow, its scratch folder where that is a real one, and files without a name that
//! it holds open. No kernel limit sums these up, so they are walked through several times a second.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};

use crate::profile::{Limits, Profile};
use crate::report::{Overrun, OverrunOf, Stop};

/// How often folders are looked at, at most: it means walking through them.
const TICK: Duration = Duration::from_millis(250);

/// A walk is followed by a pause of so many times its own length, so that watching takes a fifth of the time at most.
const PAUSE: u32 = 4;

/// How many entries a folder may hold. Each takes room that its bytes do not show, in the file system's own tables, and
/// time whenever somebody lists or removes them. What skills keep are some hundreds; a walk through this many takes a
/// tenth of a second, so that it is noticed soon.
const MOST_FILES: u32 = 20_000;

/// How many entries of a place that only may not grow are counted before a call. A place with more is somebody's archive; it
/// counts as this many, and a call that works in it is stopped at the first look.
const MOST_LOOKED_AT: u32 = 200_000;

/// How many descriptors are looked at in one go. Several hundred processes with a full table of them would be needed to
/// have more, and that is nothing that a script does.
const MOST_DESCRIPTORS: u32 = 100_000;

/// What bounds the scratch folder already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scratch {
    /// A file system of its own, with a size and a number of files.
    Bounded,
    /// A file system of its own, with a size only.
    Sized,
    /// Nothing: a folder on disk.
    OnDisk,
}

/// What a call may keep on disk.
#[derive(Debug)]
pub(crate) struct Quota {
    limits: Limits,
    /// The folders that are measured, each by itself.
    folders: Vec<Measured>,
    scratch: PathBuf,
    bound: Scratch,
    due: Instant,
    /// The folder for which it was stopped.
    overrun: Option<Overrun>,
}

/// A folder that may not hold more than so much.
#[derive(Debug)]
struct Measured {
    path: PathBuf,
    most: Amount,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    bytes: u64,
    files: u32,
}

impl Amount {
    /// What a folder that holds this has too much of, if anything.
    fn over(self, most: Self, folder: &Path) -> Option<Overrun> {
        let (of, held, most) = if self.bytes > most.bytes {
            (OverrunOf::Bytes, self.bytes, most.bytes)
        } else if self.files > most.files {
            (OverrunOf::Files, self.files.into(), most.files.into())
        } else {
            return None;
        };
        Some(Overrun { folder: folder.to_owned(), of, held, most })
    }
}

impl Quota {
    pub(crate) fn new(profile: &Profile, scratch: PathBuf, bound: Scratch) -> Self {
        let limits = profile.limits.clone();
        let kept = profile.data.iter().map(|data| Measured {
            path: data.path.clone(),
            most: Amount { bytes: limits.data.saturating_add(data.spared), files: MOST_FILES },
        });
        // What lies there is whoever's whose place it is: only what the call adds to it counts.
        let grown = profile.bounded.iter().map(|path| {
            let before = held(path, MOST_LOOKED_AT);
            let most = Amount {
                bytes: before.bytes.saturating_add(limits.data),
                files: before.files.saturating_add(MOST_FILES),
            };
            Measured { path: path.clone(), most }
        });
        let folders = kept.chain(grown).collect();
        Self { limits, folders, scratch, bound, due: Instant::now(), overrun: None }
    }

    /// Looks once, if it is time.
    pub(crate) fn look(&mut self, proc: &OwnedFd, processes: &[u32]) -> Option<Stop> {
        let began = Instant::now();
        if began < self.due {
            return None;
        }
        let stop = self.measure(proc, processes);
        self.due = began + TICK.max(began.elapsed() * (PAUSE + 1));
        stop
    }

    /// The folder for which the call was stopped, if one was.
    pub(crate) fn overrun(&self) -> Option<&Overrun> {
        self.overrun.as_ref()
    }

    fn measure(&mut self, proc: &OwnedFd, processes: &[u32]) -> Option<Stop> {
        let folders = self.folders.iter();
        let mut kept: Vec<Amount> = folders.map(|folder| held(&folder.path, folder.most.files)).collect();
        let mut scratch = match self.bound {
            Scratch::Bounded => Amount::default(),
            Scratch::Sized | Scratch::OnDisk => held(&self.scratch, MOST_FILES),
        };
        if !self.add_nameless(proc, processes, &mut kept, &mut scratch) {
            return Some(Stop::Data);
        }
        // The size of a file system that is the scratch folder's own is the kernel's to hold.
        let bytes = if self.bound == Scratch::OnDisk { self.limits.scratch } else { u64::MAX };
        let full = kept.iter().zip(&self.folders).find_map(|(amount, folder)| {
            amount.over(folder.most, &folder.path).map(|overrun| (Stop::Data, overrun))
        });
        let (stop, overrun) = full.or_else(|| {
            let most = Amount { bytes, files: MOST_FILES };
            scratch.over(most, &self.scratch).map(|overrun| (Stop::Scratch, overrun))
        })?;
        self.overrun = Some(overrun);
        Some(stop)
    }

    /// Adds files that were removed and are still open: they have no name by which a walk would find them, and take their
    /// room until the last descriptor is closed. Gives false where there are too many descriptors to look at.
    fn add_nameless(
        &self,
        proc: &OwnedFd,
        processes: &[u32],
        kept: &mut [Amount],
        scratch: &mut Amount,
    ) -> bool {
        let mut counted = BTreeSet::new();
        let mut left = MOST_DESCRIPTORS;
        for process in processes {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(folder) = openat(proc, format!("{process}/fd"), flags, Mode::empty()) else { continue };
            let Ok(entries) = Dir::read_from(&folder) else { continue };
            for entry in entries.flatten() {
                left = match left.checked_sub(1) {
                    Some(left) => left,
                    None => return false,
                };
                // Through the link to the file itself, which opens nothing.
                let Ok(stat) = statat(&folder, entry.file_name(), AtFlags::empty()) else { continue };
                let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
                if !is_file || stat.st_nlink > 0 || !counted.insert((stat.st_dev, stat.st_ino)) {
                    continue;
                }
                let path = readlinkat(&folder, entry.file_name(), Vec::new()).unwrap_or_default();
                let whose = self.whose(path.to_bytes());
                let amount = whose.and_then(|at| kept.get_mut(at)).unwrap_or(&mut *scratch);
                amount.files += 1;
                amount.bytes += bytes(&stat);
            }
        }
        true
    }

    /// The folder in which a file without a name lay; none for the scratch folder. A data folder may lie in the scratch
    /// folder's place, so it comes first; what lay elsewhere, such as in a project, counts with the first one.
    fn whose(&self, path: &[u8]) -> Option<usize> {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let is_in = |folder: &Measured| path.starts_with(&folder.path);
        let nearest = self.folders.iter().enumerate().filter(|(_, folder)| is_in(folder));
        let nearest = nearest.max_by_key(|(_, folder)| folder.path.components().count());
        match nearest {
            Some((at, _)) => Some(at),
            None if path.starts_with(&self.scratch) => None,
            None => (!self.folders.is_empty()).then_some(0),
        }
    }
}

fn bytes(stat: &rustix::fs::Stat) -> u64 {
    u64::try_from(stat.st_blocks).unwrap_or(0) * 512
}

/// How much a folder holds, in bytes on disk and in entries; one more than `most` stands for all beyond.
fn held(folder: &Path, most: u32) -> Amount {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Ok(folder) = openat(CWD, folder, flags, Mode::empty()) else { return Amount::default() };
    let mut amount = Amount::default();
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        let Ok(entries) = Dir::read_from(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            amount.files += 1;
            if amount.files > most {
                return amount;
            }
            let Ok(stat) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            amount.bytes += bytes(&stat);
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory
                && let Ok(inner) = openat(folder.as_fd(), name, flags, Mode::empty())
            {
                open.push(inner);
            }
        }
    }
    amount
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use crate::profile::DataFolder;

    fn proc() -> OwnedFd {
        openat(CWD, "/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    fn profile(folder: &Path) -> Profile {
        let mut profile = Profile::new(folder.to_owned());
        profile.limits = Limits { data: 1 << 20, scratch: 1 << 20, ..Limits::default() };
        profile.data = vec![DataFolder::new(folder.join("data"))];
        profile
    }

    fn quota(folder: &Path, bound: Scratch) -> Quota {
        Quota::new(&profile(folder), folder.join("scratch"), bound)
    }

    fn ground() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["data", "shared", "place", "scratch"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        folder
    }

    #[test]
    fn each_folder_has_its_own_bound_and_one_that_the_kernel_holds_is_not_measured() {
        let folder = ground();
        let look = |bound| quota(folder.path(), bound).look(&proc(), &[]);
        assert_eq!(look(Scratch::OnDisk), None);
        std::fs::write(folder.path().join("scratch/a"), vec![1; 2 << 20]).unwrap();
        assert_eq!(look(Scratch::OnDisk), Some(Stop::Scratch));
        assert_eq!(look(Scratch::Sized), None);
        std::fs::write(folder.path().join("data/a"), vec![1; 2 << 20]).unwrap();
        assert_eq!(look(Scratch::Bounded), Some(Stop::Data));
    }

    #[test]
    fn a_file_that_was_removed_and_is_still_open_counts_once() {
        let folder = ground();
        let path = folder.path().join("data/a");
        std::fs::write(&path, vec![1; 768 << 10]).unwrap();
        let kept = std::fs::File::open(&path).unwrap();
        let again = kept.try_clone().unwrap();
        std::fs::remove_file(&path).unwrap();
        let look = || quota(folder.path(), Scratch::Bounded).look(&proc(), &[std::process::id()]);
        assert_eq!(look(), None, "twice would be too much");
        std::fs::write(folder.path().join("data/b"), vec![1; 512 << 10]).unwrap();
        assert_eq!(look(), Some(Stop::Data));
        drop((kept, again));
        assert_eq!(look(), None);
    }

    #[test]
    fn each_data_folder_is_measured_by_itself_and_what_was_spared_does_not_count() {
        let folder = ground();
        let fill = |name: &str, kib: usize| {
            std::fs::write(folder.path().join(name), vec![1; kib << 10]).unwrap();
        };
        let mut profile = profile(folder.path());
        profile.data.push(DataFolder { path: folder.path().join("shared"), spared: 1 << 20 });
        let look = || {
            let mut quota = Quota::new(&profile, folder.path().join("scratch"), Scratch::Bounded);
            quota.look(&proc(), &[])
        };
        fill("data/a", 768);
        fill("shared/a", 1536);
        assert_eq!(look(), None, "together it would be too much");
        fill("shared/b", 768);
        assert_eq!(look(), Some(Stop::Data));
        let mut quota = Quota::new(&profile, folder.path().join("scratch"), Scratch::Bounded);
        quota.look(&proc(), &[]);
        let overrun = quota.overrun().unwrap();
        assert_eq!((&overrun.folder, overrun.of), (&folder.path().join("shared"), OverrunOf::Bytes));
        assert_eq!((overrun.held >= 2304 << 10, overrun.most), (true, 2 << 20));
    }

    #[test]
    fn a_place_that_may_not_grow_may_be_full_already() {
        let folder = ground();
        let place = folder.path().join("place");
        std::fs::write(place.join("before"), vec![1; 3 << 20]).unwrap();
        let mut profile = profile(folder.path());
        profile.bounded = vec![place.clone()];
        let mut quota = Quota::new(&profile, folder.path().join("scratch"), Scratch::Bounded);
        assert_eq!(quota.look(&proc(), &[]), None);
        std::fs::write(place.join("during"), vec![1; 2 << 20]).unwrap();
        quota.due = Instant::now();
        assert_eq!(quota.look(&proc(), &[]), Some(Stop::Data));
    }

    #[test]
    fn many_empty_files_are_too_much_without_a_byte_in_them() {
        let folder = ground();
        for number in 0..=MOST_FILES {
            std::fs::File::create(folder.path().join(format!("scratch/{number}"))).unwrap();
        }
        assert_eq!(quota(folder.path(), Scratch::Sized).look(&proc(), &[]), Some(Stop::Scratch));
        assert_eq!(quota(folder.path(), Scratch::Bounded).look(&proc(), &[]), None);
    }
}
