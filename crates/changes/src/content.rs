//! What a file holds, as a digest. Holes are not read, and count against a limit: a file of a terabyte can be one hole.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

use metier_files::FileDigest;
use rustix::fs::{OFlags, SeekFrom, Stat, fstat, seek};
use rustix::io::{Errno, pread};

use crate::beneath::Tree;
use crate::change::EntryKind;
use crate::path::LayerPath;
use crate::stamp::Stamp;

/// How many bytes of holes the files of one set may have. To hash them takes a second for each GiB.
pub(crate) const MAX_HOLES: u64 = 4 << 30;

/// Up to this size a file is read at once. Most files of projects are smaller.
const SMALL_FILE: usize = 64 << 10;

/// Reads a file. A small one in one piece: another call only to see its end takes as long as reading it. The buffer is the
/// caller's, so that thousands of files share one.
pub(crate) fn digest(file: &File, size: u64, buffer: &mut Vec<u8>) -> io::Result<FileDigest> {
    let Some(size) = usize::try_from(size).ok().filter(|size| *size <= SMALL_FILE) else {
        return FileDigest::of_reader(SparseReader::new(file)?);
    };
    buffer.resize(SMALL_FILE + 1, 0);
    match rustix::io::read(file, &mut buffer[..])? {
        read if read == size => Ok(FileDigest::of(&buffer[..read])),
        read => FileDigest::of_reader(io::Cursor::new(&buffer[..read]).chain(file)),
    }
}

/// Reads a file or link of a tree.
pub(crate) fn digest_at(
    tree: &Tree,
    path: &LayerPath,
    stat: &Stat,
    buffer: &mut Vec<u8>,
) -> io::Result<FileDigest> {
    let state = Stamp::of(stat);
    if state.kind == Some(EntryKind::Link) {
        return Ok(FileDigest::of(tree.read_link(path)?.to_bytes()));
    }
    let file = tree.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    digest(&file.into(), state.size, buffer)
}

/// How many bytes of a file are holes, up to a limit.
pub(crate) fn holes(file: &File, stat: &Stat, limit: u64) -> io::Result<u64> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let stored = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
    if stored >= size {
        return Ok(0);
    }
    let (mut at, mut holes) = (0, 0);
    while at < size && holes <= limit {
        let data = next_data(file, at, size)?;
        holes += data.start - at;
        at = data.end;
    }
    Ok(holes)
}

/// Where a file has data next, from an offset on. An empty range at its end where there is none.
pub(crate) fn next_data(file: impl AsFd, at: u64, size: u64) -> io::Result<std::ops::Range<u64>> {
    match seek(&file, SeekFrom::Data(at)) {
        Ok(start) if start < size => Ok(start..seek(&file, SeekFrom::Hole(start))?.clamp(start, size)),
        // Nothing but a hole is left.
        Ok(_) | Err(Errno::NXIO) => Ok(size..size),
        // This file system knows nothing of holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(at..size),
        Err(error) => Err(error.into()),
    }
}

/// Gives the zeros of holes without asking the file system for them.
struct SparseReader<'a> {
    file: &'a File,
    at: u64,
    size: u64,
    data: std::ops::Range<u64>,
}

impl<'a> SparseReader<'a> {
    fn new(file: &'a File) -> io::Result<Self> {
        let size = u64::try_from(fstat(file)?.st_size).unwrap_or(0);
        Ok(Self { file, at: 0, size, data: 0..0 })
    }
}

impl Read for SparseReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.size {
            return Ok(0);
        }
        if self.at >= self.data.end {
            self.data = next_data(self.file, self.at, self.size)?;
        }
        let is_hole = self.at < self.data.start;
        let end = if is_hole { self.data.start } else { self.data.end };
        let length = buffer.len().min(usize::try_from(end - self.at).unwrap_or(usize::MAX));
        let read = if is_hole {
            buffer[..length].fill(0);
            length
        } else {
            pread(self.file, &mut buffer[..length], self.at)?
        };
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn holes_are_counted_and_hashed_as_zeros() {
        let workspace = Workspace::new().file("sparse", "start");
        let path = workspace.join("sparse");
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        file.set_len(5 << 20).unwrap();
        file.write_all_at(b"middle", 2 << 20).unwrap();
        let found = digest(&file, 5 << 20, &mut Vec::new()).unwrap();
        assert_eq!(found, FileDigest::of(&std::fs::read(&path).unwrap()));
        let holes = holes(&file, &fstat(&file).unwrap(), u64::MAX).unwrap();
        assert!(holes > 4 << 20 && holes < 5 << 20, "{holes}");
    }
}
