//! Where the rest of long results lies, so that the model can read it in pages.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use metier_files::{Mode, write_new};

/// How many names are tried. A session that has more results than this has a folder that nobody cleans.
const MAX_TRIES: usize = 100_000;

/// A folder of the session's own.
#[derive(Debug)]
pub(super) struct Outputs {
    folder: PathBuf,
    next: AtomicUsize,
}

impl Outputs {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, next: AtomicUsize::new(1) }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the files of one result. Gives what stands before their names: the folder, and a number that no other result
    /// has, not even one of the same session before it was resumed.
    pub(super) fn keep(&self, tool: &str, files: &[(&str, &[u8])]) -> io::Result<String> {
        'numbers: while self.next.load(Ordering::Relaxed) < MAX_TRIES {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let before = self.folder.join(format!("{tool}-{number}-")).to_string_lossy().into_owned();
            for (name, bytes) in files {
                // What a program printed may be private.
                match write_new(Path::new(&format!("{before}{name}")), bytes, Mode::Private) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue 'numbers,
                    Err(error) => return Err(error),
                }
            }
            return Ok(before);
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}
