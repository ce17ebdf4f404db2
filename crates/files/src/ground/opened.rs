use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::skill_dir::read_whole;
use crate::{Error, RelativePath};

/// A regular file that was opened beneath a [`super::Ground`]. What is judged and what is read are one file, whatever
/// happens to its name meanwhile.
#[derive(Debug)]
pub struct GroundFile {
    file: File,
    path: PathBuf,
    size: u64,
}

impl GroundFile {
    pub(super) fn new(opened: OwnedFd, place: &RelativePath) -> Result<Self, Error> {
        let path = place.as_path().to_owned();
        let file = File::from(opened);
        let metadata = file.metadata().map_err(|error| Error::from_io(&path, error))?;
        if metadata.is_dir() {
            return Err(Error::IsAFolder { path });
        }
        if !metadata.is_file() {
            return Err(Error::NotAFile { path });
        }
        Ok(Self { file, path, size: metadata.len() })
    }

    /// How large it was when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn metadata(&self) -> Result<Metadata, Error> {
        self.file.metadata().map_err(|error| Error::from_io(&self.path, error))
    }

    /// All of it, or [`Error::TooLarge`] when it has more than `limit` bytes.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, Error> {
        read_whole(&self.file, &self.path, self.size, limit)
    }

    /// At most `length` bytes from `offset`; fewer only at the end.
    pub fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            let Some(rest) = bytes.get_mut(filled..) else { break };
            match self.file.read_at(rest, offset.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from_io(&self.path, error)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}
