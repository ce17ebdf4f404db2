//! Where something is mounted in the namespace of this process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::lock::lock;

/// The mount points, read again when there are others: reading them takes a tenth of a contained start.
#[derive(Debug, Default)]
pub(crate) struct MountTable(Mutex<Option<Known>>);

#[derive(Debug)]
struct Known {
    /// The kernel's table. While it is open, the kernel tells of changes.
    table: File,
    points: Vec<PathBuf>,
}

impl MountTable {
    /// The first mount below a folder, if there is one.
    pub(crate) fn first_below(&self, folder: &Path) -> io::Result<Option<PathBuf>> {
        let mut known = lock(&self.0);
        let known = match &mut *known {
            Some(known) => {
                known.follow()?;
                known
            }
            none => none.insert(Known::read()?),
        };
        let mut points = known.points.iter();
        Ok(points.find(|point| *point != folder && point.starts_with(folder)).cloned())
    }
}

impl Known {
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, about this process")]
    fn read() -> io::Result<Self> {
        let mut known = Self { table: File::open("/proc/self/mountinfo")?, points: Vec::new() };
        known.read_again()?;
        Ok(known)
    }

    /// Reads the table again if it has changed. The kernel notes a change before it can be asked for, so one that comes while
    /// the table is read is told of the next time.
    fn follow(&mut self) -> io::Result<()> {
        let mut waiting = [PollFd::new(&self.table, PollFlags::PRI)];
        let changed = poll(&mut waiting, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        // Where the kernel cannot say, it is read.
        if changed == Ok(0) { Ok(()) } else { self.read_again() }
    }

    fn read_again(&mut self) -> io::Result<()> {
        let mut text = Vec::new();
        self.table.rewind()?;
        self.table.read_to_end(&mut text)?;
        let lines = text.split(|byte| *byte == b'\n');
        self.points =
            lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped).collect();
        Ok(())
    }
}

/// The kernel writes spaces, tabs, newlines and backslashes of paths as three octal digits.
pub(super) fn unescaped(path: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(path.len()), path);
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *first == b'\\').and_then(|it| u8::from_str_radix(it, 8).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_mount_points_are_read_as_the_paths_they_are() {
        assert_eq!(unescaped(br"/a\040b\134c"), Path::new(r"/a b\c"));
        assert_eq!(unescaped(br"/plain\04"), Path::new(r"/plain\04"));
    }

    #[test]
    fn mounts_below_a_folder_are_found_and_the_folder_itself_is_not_one() {
        let table = MountTable::default();
        // The second time nothing is read.
        for _ in 0..2 {
            assert_eq!(table.first_below(Path::new("/proc/self")).unwrap(), None);
            let below = table.first_below(Path::new("/")).unwrap().unwrap();
            assert!(below.starts_with("/") && below != Path::new("/"), "{}", below.display());
        }
    }
}
