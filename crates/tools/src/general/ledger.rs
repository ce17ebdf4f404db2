//! What the model has seen of the files it changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use metier_files::FileDigest;

/// How many files are remembered. A session that reads more has forgotten the first ones itself, and reads them again.
const MAX_FILES: usize = 4096;

/// The digests of files as the model last saw or wrote them.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    seen: HashMap<PathBuf, FileDigest>,
}

/// What is known about a file that is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The model has seen these very bytes.
    Seen,
    /// It has seen others.
    Changed,
    /// It has not seen the file.
    Never,
}

impl Ledger {
    /// Remembers what a file holds now.
    pub(super) fn saw(&mut self, path: &Path, digest: FileDigest) {
        if self.seen.len() >= MAX_FILES && !self.seen.contains_key(path) {
            self.seen.clear();
        }
        self.seen.insert(path.to_owned(), digest);
    }

    /// Whether what a file holds now is what the model saw.
    pub(super) fn known(&self, path: &Path, digest: FileDigest) -> Known {
        match self.seen.get(path) {
            Some(seen) if *seen == digest => Known::Seen,
            Some(_) => Known::Changed,
            None => Known::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_bytes() {
        let (mut ledger, path) = (Ledger::default(), Path::new("/p/a"));
        let known = |ledger: &Ledger, bytes: &[u8]| ledger.known(path, FileDigest::of(bytes));
        assert_eq!(known(&ledger, b"a"), Known::Never);
        ledger.saw(path, FileDigest::of(b"a"));
        assert_eq!((known(&ledger, b"a"), known(&ledger, b"b")), (Known::Seen, Known::Changed));
        for number in 0..=MAX_FILES {
            ledger.saw(&PathBuf::from(format!("/p/{number}")), FileDigest::of(b""));
        }
        assert!(ledger.seen.len() <= MAX_FILES);
    }
}
