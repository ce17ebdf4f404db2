use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the system says of a file or folder without opening it. Equal stamps mean that nothing was written, renamed into
/// its place or, for a folder, made or removed in it.
///
/// The time of the last change of the inode is part of it: programs that copy or unpack set the time of modification to
/// an old one, and this one cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what is at `path`, links followed; `None` where nothing is or it cannot be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

impl Stamp {
    /// The stamp of what was asked for through a handle.
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        // The types of these fields differ between systems, and every one of them fits.
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_fallible_conversions,
            reason = "not on every system"
        )]
        Self {
            device: u64::try_from(stat.st_dev).unwrap_or_default(),
            inode: u64::try_from(stat.st_ino).unwrap_or_default(),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
            changed: (stat.st_ctime.into(), i64::try_from(stat.st_ctime_nsec).unwrap_or_default()),
        }
    }

    /// The size in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Which file or folder it is, whatever its name.
    pub(crate) const fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether a change after `now` is sure to give another stamp. Times come in ticks: two changes within one have the
    /// same time, so a stamp as young as a tick says nothing about what came after it.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        /// Kernels count in steps of at most 10 milliseconds.
        const CLOCK_STEP: Duration = Duration::from_millis(20);
        /// File systems without fractions of a second count in whole ones or, FAT, in two.
        const COARSE: Duration = Duration::from_secs(2);
        let tick = if self.changed.1 == 0 && self.modified.1 == 0 { COARSE } else { CLOCK_STEP };
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(self.changed.0), u32::try_from(self.changed.1))
        else {
            return false;
        };
        let changed = Duration::new(seconds, nanoseconds);
        now.duration_since(UNIX_EPOCH).is_ok_and(|now| now > changed + tick)
    }
}

/// Whether a link is at `path`, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn a_stamp_changes_with_what_it_stands_for() {
        let workspace = Workspace::new().file("a/file", "1").symlink("link", "a/file");
        let (file, folder) = (workspace.join("a/file"), workspace.join("a"));
        let before = (Stamp::of(&file).unwrap(), Stamp::of(&folder).unwrap());
        assert_eq!((Stamp::of(&file).unwrap(), Stamp::of(&folder).unwrap()), before);
        assert_eq!(Stamp::of(&workspace.join("link")).unwrap(), before.0);
        assert_eq!(Stamp::of(&workspace.join("none")), None);
        fs::write(folder.join("temporary"), "22").unwrap();
        fs::rename(folder.join("temporary"), &file).unwrap();
        assert_ne!(Stamp::of(&file).unwrap(), before.0);
        assert_ne!(Stamp::of(&folder).unwrap(), before.1);
        assert!(is_link(&workspace.join("link")) && !is_link(&file) && !is_link(&workspace.join("none")));
    }
}
