//! What a call keeps on disk: its data folders, its layer, places that may not grow, its scratch folder where that is a real
//! one, and files without a name that it holds. No kernel limit sums these up, so they are walked through several times a second.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{fstatvfs, statvfs};

use super::descriptors::Descriptors;
use super::failure::During;
use super::folder_size::{Amount, held, held_below};
use super::layer::MountedLayer;
use super::processes::{Proc, Process};
use crate::profile::{Limits, Profile};
use crate::report::{Overrun, OverrunOf, Stop};
use crate::wire::Failure;

/// How often folders are looked at, at most: it means walking through them.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// A walk is followed by a pause of so many times its own length, so that watching takes a fifth of the time at most.
const PAUSE: u32 = 4;

/// How many entries a folder may hold. Each takes room that its bytes do not show, in the file system's own tables, and
/// time whenever somebody lists or removes them. What skills keep are some hundreds; a walk through this many takes a
/// tenth of a second, so that it is noticed soon.
const MAX_FILES: u32 = 20_000;

/// How many entries of a place that only may not grow are counted before a call. A place with more is somebody's archive; it
/// counts as this many, and a call that works in it is stopped at the first look.
const MAX_LOOKED_AT: u32 = 200_000;

/// How many files may be out of sight, and for how many looks: descriptors that wait in sockets, and removed files of a measured
/// folder that are only mapped. Their size cannot be read. Programs hand over a few descriptors at a time, and the receiver takes
/// them at once.
const MAX_HIDDEN: u64 = 16;
const HIDDEN_LOOKS: u32 = 4;

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
    /// For how many looks more files than allowed were out of sight.
    hidden_for: u32,
    /// The folder for which the call was stopped, if one was.
    pub(super) overrun: Option<Overrun>,
}

/// A folder that may not hold more than so much.
#[derive(Debug)]
struct Measured {
    /// Where the call sees it.
    path: PathBuf,
    /// The folder itself, where that is not what the call sees there: the upper layer of an overlay.
    upper: Option<OwnedFd>,
    most: Amount,
    /// How much it may grow, in bytes.
    growth: u64,
    /// Why a call is stopped for it.
    stop: Stop,
    /// The most that its disk had left at any look, with what the folder held then.
    most_room: u64,
}

impl Measured {
    fn new(path: PathBuf, most: Amount, growth: u64) -> Self {
        Self { path, upper: None, most, growth, stop: Stop::Data, most_room: 0 }
    }

    fn held(&self) -> Result<Amount, Failure> {
        match &self.upper {
            Some(upper) => held_below(upper, &self.path, self.most.files),
            None => held(&self.path, self.most.files),
        }
    }

    /// How much of the disk is gone that the folder does not hold, since the look at which most was left: what others free
    /// meanwhile hides nothing for longer than one look. Others use it, too, so this alone means nothing.
    fn unexplained(&mut self, held: u64) -> Result<u64, Failure> {
        let disk = match self.upper.as_ref().map_or_else(|| statvfs(&self.path), fstatvfs) {
            Ok(disk) => disk,
            Err(rustix::io::Errno::NOENT) => return Ok(0),
            Err(error) => {
                return Err(error).during(|| format!("measuring the disk of {}", self.path.display()));
            }
        };
        let room = disk.f_bavail.saturating_mul(disk.f_frsize).saturating_add(held);
        self.most_room = self.most_room.max(room);
        Ok(self.most_room - room)
    }
}

impl Quota {
    pub(crate) fn new(
        profile: &Profile,
        scratch: PathBuf,
        bound: Scratch,
        layer: Option<MountedLayer>,
    ) -> Result<Self, Failure> {
        let limits = profile.limits.clone();
        let mut folders = Vec::new();
        for data in &profile.data {
            // A folder that holds too much already may shrink, or stay as it is: else nobody could clean it up.
            let before = held(&data.path, MAX_LOOKED_AT)?;
            let most = Amount {
                bytes: limits.data.saturating_add(data.spared).max(before.bytes),
                files: MAX_FILES.max(before.files),
            };
            folders.push(Measured::new(data.path.clone(), most, limits.data));
        }
        // What lies there is whoever's whose place it is: only what the call adds to it counts.
        for path in &profile.bounded {
            let before = held(path, MAX_LOOKED_AT)?;
            let most = Amount {
                bytes: before.bytes.saturating_add(limits.data),
                files: before.files.saturating_add(MAX_FILES),
            };
            folders.push(Measured::new(path.clone(), most, limits.data));
        }
        if let Some(MountedLayer { at, upper }) = layer {
            let files = u32::try_from(limits.layer_files).unwrap_or(u32::MAX - 1);
            let most = Amount { bytes: limits.layer, files };
            folders.push(Measured {
                upper: Some(upper),
                stop: Stop::Layer,
                ..Measured::new(at, most, limits.layer)
            });
        }
        Ok(Self { limits, folders, scratch, bound, due: Instant::now(), hidden_for: 0, overrun: None })
    }

    /// Whether it is time to look.
    pub(crate) fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// A look that began then is over.
    pub(crate) fn looked(&mut self, began: Instant) {
        self.due = began + LOOK_INTERVAL.max(began.elapsed() * (PAUSE + 1));
    }

    /// Looks once.
    pub(crate) fn look(
        &mut self,
        proc: &Proc,
        processes: &[Process],
        descriptors: &Descriptors,
    ) -> Result<Option<Stop>, Failure> {
        let mut kept = Vec::with_capacity(self.folders.len());
        for folder in &self.folders {
            kept.push(folder.held()?);
        }
        let mut scratch = match self.bound {
            Scratch::Bounded => Amount::default(),
            Scratch::Sized => files_in_file_system(&self.scratch)?,
            Scratch::OnDisk => held(&self.scratch, MAX_FILES)?,
        };
        for file in &descriptors.nameless {
            let whose = self.whose(&file.path);
            let amount = whose.and_then(|at| kept.get_mut(at)).unwrap_or(&mut scratch);
            amount.files += 1;
            amount.bytes += file.bytes;
        }
        // The size of a file system that is the scratch folder's own is the kernel's to hold.
        let bytes = if self.bound == Scratch::OnDisk { self.limits.scratch } else { u64::MAX };
        let full = kept.iter().zip(&self.folders).find_map(|(amount, folder)| {
            amount.over(folder.most, &folder.path).map(|overrun| (folder.stop, overrun))
        });
        let full = full.or_else(|| {
            let most = Amount { bytes, files: MAX_FILES };
            scratch.over(most, &self.scratch).map(|overrun| (Stop::Scratch, overrun))
        });
        let full = match full {
            Some(full) => Some(full),
            None => self.hidden(proc, processes, descriptors, &kept)?,
        };
        Ok(full.map(|(stop, overrun)| {
            self.overrun = Some(overrun);
            stop
        }))
    }

    /// A folder whose disk is filled by files that nobody can see: they have no name, and are mapped only or wait in a
    /// socket. That the disk lost room can be anybody's doing, and that something waits is no harm; both together are
    /// held against the call. Many such files are held against it by themselves: another program that frees room at the same
    /// time would hide their size.
    fn hidden(
        &mut self,
        proc: &Proc,
        processes: &[Process],
        descriptors: &Descriptors,
        kept: &[Amount],
    ) -> Result<Option<(Stop, Overrun)>, Failure> {
        let mapped = mapped_only(proc, processes, descriptors)?;
        let is_measured =
            |path: &str| self.folders.iter().any(|folder| Path::new(path).starts_with(&folder.path));
        let in_folders = mapped.values().filter(|path| is_measured(path)).count() as u64;
        let many = descriptors.in_flight + in_folders > MAX_HIDDEN;
        self.hidden_for = if many { self.hidden_for + 1 } else { 0 };
        let parked = self.hidden_for >= HIDDEN_LOOKS;
        let can_hide = !mapped.is_empty() || descriptors.in_flight > 0 || has_unaccepted(proc)?;
        for (folder, amount) in self.folders.iter_mut().zip(kept) {
            let lost = folder.unexplained(amount.bytes)?;
            let filled = lost > folder.growth;
            if parked || filled && can_hide {
                let (path, most) = (folder.path.clone(), folder.most.bytes);
                let held = amount.bytes.saturating_add(lost).max(most.saturating_add(1));
                let overrun = Overrun { folder: path, of: OverrunOf::Bytes, held, most };
                return Ok(Some((folder.stop, overrun)));
            }
        }
        Ok(None)
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

/// How many files a file system holds that is the scratch folder's own. The kernel counts them, whoever may list them.
fn files_in_file_system(scratch: &Path) -> Result<Amount, Failure> {
    let found = statvfs(scratch).during(|| "counting the files of the scratch folder".into())?;
    let files = u32::try_from(found.f_files.saturating_sub(found.f_ffree)).unwrap_or(u32::MAX);
    Ok(Amount { bytes: 0, files })
}

/// Whether files may wait in a connection that was not accepted. Without a network namespace of its own a call cannot listen.
fn has_unaccepted(proc: &Proc) -> Result<bool, Failure> {
    let sockets = proc.read("self/net/unix")?.unwrap_or_default();
    Ok(sockets.lines().skip(1).any(|line| line.split_whitespace().nth(6) == Some("0")))
}

/// Removed files that are mapped and that no descriptor shows: their inodes, and where they were.
fn mapped_only(
    proc: &Proc,
    processes: &[Process],
    descriptors: &Descriptors,
) -> Result<BTreeMap<u64, String>, Failure> {
    let shown: BTreeSet<u64> = descriptors.nameless.iter().map(|file| file.identity.1).collect();
    let mut mapped = BTreeMap::new();
    for process in processes {
        let maps = proc.read(&format!("{}/maps", process.folder))?.unwrap_or_default();
        let removed = maps.lines().filter_map(removed_file).filter(|(inode, _)| !shown.contains(inode));
        mapped.extend(removed.map(|(inode, path)| (inode, path.to_owned())));
    }
    Ok(mapped)
}

/// The inode and the path of a removed file, from a line of `/proc/PID/maps`.
fn removed_file(line: &str) -> Option<(u64, &str)> {
    let path = line.strip_suffix(" (deleted)")?;
    let path = &path[path.find(" /")? + 1..];
    let inode = line.split_whitespace().nth(4)?.parse().ok()?;
    (path != "/dev/zero").then_some((inode, path))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use crate::profile::DataFolder;

    /// Looks once at what this process holds.
    fn look(quota: &mut Quota) -> Option<Stop> {
        let proc = Proc::open().unwrap();
        let own = [proc.process(std::process::id()).unwrap().unwrap()];
        let mut descriptors = Descriptors::of(&proc, &own).unwrap();
        // Other tests of this program hold descriptors of their own.
        descriptors.nameless.retain(|file| {
            quota
                .folders
                .iter()
                .any(|folder| Path::new(std::ffi::OsStr::from_bytes(&file.path)).starts_with(&folder.path))
        });
        descriptors.in_flight = 0;
        quota.look(&proc, &[], &descriptors).unwrap()
    }

    fn profile(folder: &Path) -> Profile {
        let mut profile = Profile::new(folder.to_owned());
        profile.limits = Limits { data: 1 << 20, scratch: 1 << 20, ..Limits::default() };
        profile.data = vec![DataFolder::new(folder.join("data"))];
        profile
    }

    fn quota(folder: &Path, bound: Scratch) -> Quota {
        Quota::new(&profile(folder), folder.join("scratch"), bound, None).unwrap()
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
        let look = |bound| look(&mut quota(folder.path(), bound));
        assert_eq!(look(Scratch::OnDisk), None);
        std::fs::write(folder.path().join("scratch/a"), vec![1; 2 << 20]).unwrap();
        assert_eq!(look(Scratch::OnDisk), Some(Stop::Scratch));
        let mut quota = quota(folder.path(), Scratch::Bounded);
        std::fs::write(folder.path().join("data/a"), vec![1; 2 << 20]).unwrap();
        assert_eq!(super::tests::look(&mut quota), Some(Stop::Data));
    }

    #[test]
    fn a_file_that_was_removed_and_is_still_open_counts_once() {
        let folder = ground();
        let path = folder.path().join("data/a");
        std::fs::write(&path, vec![1; 768 << 10]).unwrap();
        let kept = std::fs::File::open(&path).unwrap();
        let again = kept.try_clone().unwrap();
        std::fs::remove_file(&path).unwrap();
        let look = || look(&mut quota(folder.path(), Scratch::Bounded));
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
        let mut quota = Quota::new(&profile, folder.path().join("scratch"), Scratch::Bounded, None).unwrap();
        fill("data/a", 768);
        fill("shared/a", 1536);
        assert_eq!(look(&mut quota), None, "together it would be too much");
        fill("shared/b", 768);
        assert_eq!(look(&mut quota), Some(Stop::Data));
        let overrun = quota.overrun.as_ref().unwrap();
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
        let mut quota = Quota::new(&profile, folder.path().join("scratch"), Scratch::Bounded, None).unwrap();
        assert_eq!(look(&mut quota), None);
        std::fs::write(place.join("during"), vec![1; 2 << 20]).unwrap();
        assert_eq!(look(&mut quota), Some(Stop::Data));
    }

    #[test]
    fn many_empty_files_are_too_much_without_a_byte_in_them() {
        let folder = ground();
        for number in 0..=MAX_FILES {
            std::fs::File::create(folder.path().join(format!("scratch/{number}"))).unwrap();
        }
        assert_eq!(look(&mut quota(folder.path(), Scratch::OnDisk)), Some(Stop::Scratch));
        assert_eq!(look(&mut quota(folder.path(), Scratch::Bounded)), None);
    }

    #[test]
    fn removed_files_are_read_from_maps() {
        let line = |path: &str| format!("7f0000000000-7f0000001000 rw-s 00000000 fe:00 77    {path}");
        let read = |path: &str| removed_file(&line(path)).map(|(inode, path)| (inode, path.to_owned()));
        assert_eq!(read("/data/a b (deleted)"), Some((77, "/data/a b".to_owned())));
        assert_eq!(read("/data/a b"), None);
        assert_eq!(read("/dev/zero (deleted)"), None);
        assert_eq!(read(""), None);
    }
}
