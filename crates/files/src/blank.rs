//! Places that are made empty for somebody who may fill them, and taken away again where they stay empty.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file or folder that was made empty. Whoever made it says when it is over.
#[derive(Debug)]
#[must_use = "what stays empty is taken away by `settle`"]
pub struct Blank {
    path: PathBuf,
    is_folder: bool,
}

impl Blank {
    /// Makes a folder. The one above it has to be there.
    pub fn folder(path: &Path) -> io::Result<Self> {
        fs::create_dir(path)?;
        Ok(Self { path: path.to_owned(), is_folder: true })
    }

    /// Makes a file. It is never one that somebody else has made, nor what a link leads to.
    pub fn file(path: &Path) -> io::Result<Self> {
        fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self { path: path.to_owned(), is_folder: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away if it is still empty.
    pub fn settle(self) {
        let Ok(found) = fs::symlink_metadata(&self.path) else { return };
        // What cannot be taken away stays, empty as it is: that harms nobody.
        let _ = match self.is_folder {
            // The call refuses where something is in it.
            true if found.is_dir() => fs::remove_dir(&self.path),
            false if found.is_file() && found.len() == 0 => fs::remove_file(&self.path),
            _ => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn what_stays_empty_goes_and_what_was_filled_stays() {
        let workspace = Workspace::new().file("there", "x").symlink("link", "nowhere");
        let at = |name: &str| workspace.join(name);
        let blanks = [
            Blank::file(&at("kept")).unwrap(),
            Blank::file(&at("gone")).unwrap(),
            Blank::folder(&at("full")).unwrap(),
            Blank::folder(&at("empty")).unwrap(),
        ];
        fs::write(at("kept"), "x").unwrap();
        fs::write(at("full/file"), "x").unwrap();
        blanks.into_iter().for_each(Blank::settle);
        let left: Vec<_> =
            ["kept", "gone", "full", "empty"].into_iter().filter(|name| at(name).exists()).collect();
        assert_eq!(left, ["kept", "full"]);
        for taken in ["there", "link"] {
            assert!(Blank::file(&at(taken)).is_err(), "{taken}");
        }
    }
}
