//! A folder that goes with whoever made it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the folders of one process apart.
static MADE: AtomicU64 = AtomicU64::new(0);

/// How often another name is tried where one is taken. Names hold the process, the time and a number, so a second try is
/// one too many already unless somebody takes names on purpose.
const TRIES: usize = 8;

/// A folder that only its user can look into, and that is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct PassingFolder(PathBuf);

impl PassingFolder {
    /// Makes one below `base`, which is there and may be anybody's: never one that somebody else has made, nor what a link
    /// leads to.
    pub fn make(base: &Path) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let path = base.join(format!("metier-{}-{time:x}-{number}", std::process::id()));
            // Not with the folders above: this call fails where anything has the name.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PassingFolder {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clear away, as with everything in its temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn it_is_private_and_goes_with_what_is_in_it() {
        let workspace = Workspace::new().dir("temp");
        let base = workspace.join("temp");
        let (one, two) = (PassingFolder::make(&base).unwrap(), PassingFolder::make(&base).unwrap());
        assert_ne!(one.path(), two.path());
        assert_eq!(fs::metadata(one.path()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(one.path().join("a"), "x").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && two.path().exists());
        assert!(PassingFolder::make(&base.join("missing")).is_err());
    }
}
