use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::fstat;
use rustix::io::{pread, retry_on_intr};

use crate::document_name::DocumentName;
use crate::{Extent, OsError, Stamp};

/// A skill as the visitor of a sweep sees it: where it is and how its document begins.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// Which of the roots it is in.
    pub root: usize,
    /// Its folder, relative to the root; empty when the root is itself the skill.
    pub folder: &'a Path,
    /// The folder's real path, when it was reached through a link below the root.
    pub real: Option<&'a Path>,
    /// The name its document was found by.
    pub document_name: DocumentName,
    /// The document's real path, when the document is itself a link. It need not be in the skill's folder, and
    /// [`crate::SkillDir`] then does not read it.
    pub document_target: Option<&'a Path>,
    /// How the document begins.
    pub head: &'a [u8],
    /// Whether the head is all of the document.
    pub extent: Extent,
    pub(super) file: BorrowedFd<'a>,
}

impl Candidate<'_> {
    /// What the document looks like to somebody who does not read it, asked of the opened file: nobody can exchange it in between.
    pub fn stamp(&self) -> Option<Stamp> {
        fstat(self.file).ok().map(|stat| Stamp::of_stat(&stat))
    }

    /// Replaces `bytes` with the document from its beginning, up to `limit` bytes, and says whether that is all of it.
    pub fn read_up_to(&self, limit: usize, bytes: &mut Vec<u8>) -> Result<Extent, OsError> {
        /// Documents have a few kilobytes; one read takes most of them.
        const STEP: usize = 16 * 1024;

        bytes.clear();
        bytes.extend_from_slice(&self.head[..self.head.len().min(limit)]);
        if self.extent.is_whole() {
            let extent = if self.head.len() <= limit { Extent::Whole } else { Extent::Truncated };
            return Ok(extent);
        }
        loop {
            let start = bytes.len();
            // At the limit one more byte is asked for, which tells whether there is more.
            let ask = (limit - start).clamp(1, STEP);
            bytes.reserve(ask);
            let room = bytes.capacity() - start;
            // The system writes into memory that nobody has filled with zeros before.
            let count = retry_on_intr(|| pread(self.file, spare_capacity(bytes), start as u64))?;
            if bytes.len() > limit {
                bytes.truncate(limit);
                return Ok(Extent::Truncated);
            }
            // A file gives less than there is room for only at its end, here as for the head.
            if count < room {
                return Ok(Extent::Whole);
            }
        }
    }
}
