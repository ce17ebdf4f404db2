//! A folder that goes with whoever made it.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

/// A folder that only its user can look into, and that is removed with all that is in it when this is dropped. What cannot be
/// removed is the system's to clear away, as with everything in its temporary folder.
#[derive(Debug)]
pub struct PassingFolder(TempDir);

impl PassingFolder {
    /// Makes one below `base`, which is there and may be anybody's: never one that somebody else has made, nor what a link
    /// leads to.
    pub fn make(base: &Path) -> io::Result<Self> {
        let private = Permissions::from_mode(0o700);
        tempfile::Builder::new().prefix("metier-").permissions(private).tempdir_in(base).map(Self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
