use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::open_regular;

/// A regular file that is held open, and of which parts are read. Whoever replaces the file replaces it for others: this one goes
/// on reading the old bytes.
#[derive(Debug)]
pub struct HeldFile {
    file: File,
    size: u64,
}

impl HeldFile {
    /// Opens a file; `None` where there is nothing.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Ok(open_regular(path)?.map(|(file, size)| Self { file, size }))
    }

    /// How long it was when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads exactly so many bytes. Nothing beyond the size at its opening is ever asked for, so that a damaged number does not
    /// become a huge piece of memory.
    pub fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = u64::try_from(length).ok().and_then(|length| offset.checked_add(length));
        if end.is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}
