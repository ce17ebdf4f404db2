//! What git's index says, without the times and sizes that git only remembers to be faster.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The length of an object's name: SHA-1, and SHA-256 for repositories that chose it.
const NAME_LENGTHS: [usize; 2] = [20, 32];
/// What comes before an entry's object name: times, device, inode, mode, owner, size.
const STAT_LENGTH: usize = 40;
/// Where in it the mode is.
const MODE_AT: usize = 24;
/// The bit of an entry's flags that says that there are more.
const EXTENDED: u16 = 0x4000;
/// The bits of an entry's flags that hold the length of its path.
const LENGTH_BITS: u16 = 0x0fff;
/// Extensions that git writes to be faster: which files it has not to look at, and where parts begin. The others decide what
/// is committed.
const REMEMBERED: [&[u8; 4]; 4] = [b"UNTR", b"FSMN", b"EOIE", b"IEOT"];

/// What an index says: two are equal if they mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitIndex {
    entries: Vec<IndexEntry>,
    /// Extensions that mean something.
    extensions: Vec<([u8; 4], Vec<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct IndexEntry {
    mode: u32,
    object: Vec<u8>,
    /// The stage of a merge, and what git is told to do with the file.
    flags: (u16, u16),
    path: Vec<u8>,
}

impl GitIndex {
    /// Reads an index of version 2 to 4; `None` where it is anything else.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        NAME_LENGTHS.into_iter().find_map(|length| parse(bytes, length))
    }

    /// Whether git tracks a path.
    pub(crate) fn tracks(&self, path: &Path) -> bool {
        // Git keeps them in the order of their bytes.
        let found = self.entries.binary_search_by(|entry| entry.path[..].cmp(path.as_os_str().as_bytes()));
        found.is_ok()
    }
}

fn parse(bytes: &[u8], name_length: usize) -> Option<GitIndex> {
    // A checksum of everything before it is at the end.
    let end = bytes.len().checked_sub(name_length)?;
    let mut rest = Reader { bytes: bytes.get(..end)?, at: 0 };
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let version = rest.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = rest.number()?;
    let mut entries: Vec<IndexEntry> = Vec::new();
    for _ in 0..count {
        let before = entries.last().map_or(&[][..], |entry| &entry.path);
        let entry = rest.entry(version, name_length, before)?;
        entries.push(entry);
    }
    let mut extensions = Vec::new();
    while rest.at < end {
        let name: [u8; 4] = rest.take(4)?.try_into().ok()?;
        let length = usize::try_from(rest.number()?).ok()?;
        let data = rest.take(length)?;
        if !REMEMBERED.contains(&&name) {
            extensions.push((name, data.to_owned()));
        }
    }
    Some(GitIndex { entries, extensions })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn flags(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn entry(&mut self, version: u32, name_length: usize, before: &[u8]) -> Option<IndexEntry> {
        let start = self.at;
        let mode = self.take(STAT_LENGTH)?.get(MODE_AT..MODE_AT + 4)?;
        let mode = u32::from_be_bytes(mode.try_into().ok()?);
        let object = self.take(name_length)?.to_owned();
        let flags = self.flags()?;
        let extended = if flags & EXTENDED == 0 { 0 } else { self.flags()? };
        // Version 4 leaves out what the path has in common with the one before.
        let mut path = if version == 4 {
            let dropped = self.length()?;
            before.get(..before.len().checked_sub(dropped)?)?.to_owned()
        } else {
            Vec::new()
        };
        let length = self.bytes.get(self.at..)?.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(self.take(length)?);
        // One NUL, and in earlier versions as many more as make the length a multiple of eight.
        let padding = if version == 4 { 1 } else { 8 - (self.at - start) % 8 };
        if self.take(padding)?.iter().any(|byte| *byte != 0) {
            return None;
        }
        Some(IndexEntry { mode, object, flags: (flags & !(LENGTH_BITS | EXTENDED), extended), path })
    }

    /// A number in groups of seven bits, of which each but the last has one added.
    fn length(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An index as git writes it, with one time for all files.
    fn written(version: u32, paths: &[(&str, u16)], time: u8, extension: &[u8]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
        let mut before = "";
        for (path, flags) in paths {
            let start = bytes.len();
            bytes.extend([time; MODE_AT]);
            bytes.extend(0o100_644_u32.to_be_bytes());
            bytes.extend([time; STAT_LENGTH - MODE_AT - 4]);
            bytes.extend([7; 20]);
            bytes.extend((flags | u16::try_from(path.len()).unwrap()).to_be_bytes());
            if version == 4 {
                let common = path.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
                bytes.push(u8::try_from(before.len() - common).unwrap());
                bytes.extend(&path.as_bytes()[common..]);
                bytes.push(0);
                before = path;
            } else {
                bytes.extend(path.as_bytes());
                bytes.resize(bytes.len() + 8 - (bytes.len() - start) % 8, 0);
            }
        }
        bytes.extend(extension);
        bytes.extend([9; 20]);
        bytes
    }

    #[test]
    fn times_mean_nothing_and_everything_else_does() {
        let paths = [("a", 0), ("dir/b", 0), ("dir/c", 0)];
        for version in [2, 4] {
            let index = GitIndex::parse(&written(version, &paths, 1, b"")).unwrap();
            assert!(paths.iter().all(|(path, _)| index.tracks(Path::new(path))));
            assert!(!index.tracks(Path::new("dir")) && !index.tracks(Path::new("dir/d")));
            let refreshed = written(version, &paths, 2, b"FSMN\0\0\0\x01x");
            assert_eq!(GitIndex::parse(&refreshed).unwrap(), index);
            for (flags, extension) in [(0x8000, &b""[..]), (0x1000, b""), (0, b"TREE\0\0\0\x01x")] {
                let other = written(version, &[("a", flags), ("dir/b", 0), ("dir/c", 0)], 1, extension);
                assert_ne!(GitIndex::parse(&other).unwrap(), index, "{flags:x} {extension:?}");
            }
            assert_ne!(GitIndex::parse(&written(version, &paths[..2], 1, b"")).unwrap(), index);
        }
        assert_eq!(
            GitIndex::parse(&written(2, &paths, 1, b"")),
            GitIndex::parse(&written(4, &paths, 1, b""))
        );
        for broken in [&b""[..], b"DIRC", b"DIRC\0\0\0\x05\0\0\0\0aaaaaaaaaaaaaaaaaaaa"] {
            assert_eq!(GitIndex::parse(broken), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0u8..6) {
            let mut index = b"DIRC\0\0\0".to_vec();
            index.push(version);
            index.extend([0, 0, 0, 2]);
            index.extend(&bytes);
            GitIndex::parse(&index);
            GitIndex::parse(&bytes);
        }
    }
}
