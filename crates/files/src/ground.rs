//! A folder in which somebody works: read, searched and written without ever leaving it.

mod opened;
mod replace;
mod walk;

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::io::Errno;

pub use self::opened::GroundFile;
pub use self::replace::Expected;
pub use self::walk::{Overgrown, WalkBounds, Walked};
use crate::open::{FILE, open_unlinked};
use crate::{Error, RelativePath};

/// A folder in which somebody works, such as a project.
///
/// It is held by its descriptor, and everything happens beneath it. A path that somebody gives may go over links; where it
/// leads is asked once, by [`Ground::resolve`], and that answer is what is judged, opened and written. Both opening and
/// writing refuse every link on the way, so whoever puts one there in between gains nothing but an error.
///
/// ```
/// # use metier_testkit::Workspace;
/// use metier_files::{Error, Expected, Ground};
///
/// # let workspace = Workspace::new().file("app/docs/a.md", "old\n").symlink("app/notes.md", "docs/a.md").symlink("app/out", "/etc");
/// # let folder = workspace.join("app");
/// let ground = Ground::open(&folder)?;
/// let place = ground.resolve(&"notes.md".parse()?)?;
/// assert_eq!(place.to_string(), "docs/a.md");
/// ground.replace(&place, b"new\n", &Expected::bytes(b"old\n"))?;
/// assert_eq!(ground.open_file(&place)?.read(1024)?, b"new\n");
/// assert!(matches!(ground.resolve(&"out/passwd".parse()?), Err(Error::Outside { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Ground {
    dir: Dir,
    path: PathBuf,
}

impl Ground {
    /// Opens the folder. Links on the way to it are followed: which folder may be opened is the caller's decision.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotADirectory => Error::NotAFolder { path: path.to_owned() },
            _ => Error::from_io(path, error),
        };
        let path = std::fs::canonicalize(path).map_err(failed)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(failed)?;
        Ok(Self { dir, path })
    }

    /// Where it is, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a path leads: inside, without links. What is not there yet has a place all the same, below what is there.
    pub fn resolve(&self, path: &RelativePath) -> Result<RelativePath, Error> {
        let failed = |error| Error::from_io(path.as_path(), error);
        let mut missing: Vec<&OsStr> = Vec::new();
        let mut existing = path.as_path();
        while !existing.as_os_str().is_empty() {
            // Asked without following: a link to nothing is there, and its target is not ours to make.
            match self.dir.symlink_metadata(existing) {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
            missing.extend(existing.file_name());
            existing = existing.parent().unwrap_or(Path::new(""));
        }
        let mut real = if existing.as_os_str().is_empty() {
            PathBuf::new()
        } else {
            self.dir.canonicalize(existing).map_err(failed)?
        };
        real.extend(missing.into_iter().rev());
        match RelativePath::parse_os(real.as_os_str()) {
            Ok(real) => Ok(real),
            // A link may lead to the folder itself.
            Err(_) => Err(Error::IsAFolder { path: path.as_path().to_owned() }),
        }
    }

    /// Whether something is at this path. A link is something, wherever it leads.
    pub fn has(&self, path: &RelativePath) -> Result<bool, Error> {
        match self.dir.symlink_metadata(path.as_path()) {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(false)
            }
            Err(error) => Err(Error::from_io(path.as_path(), error)),
        }
    }

    /// Opens a file by the place that [`Ground::resolve`] gave. Only a regular file is opened, and nothing waits.
    pub fn open_file(&self, place: &RelativePath) -> Result<GroundFile, Error> {
        let opened = open_unlinked(self.dir.as_fd(), &c_path(place)?, FILE);
        GroundFile::new(opened.map_err(|error| failed(place, error))?, place)
    }
}

/// An error about a place that has no link on its way, unless somebody has put one there since it was resolved.
fn failed(place: &RelativePath, error: Errno) -> Error {
    match error {
        Errno::LOOP => Error::Changed { path: place.as_path().to_owned() },
        error => Error::from_io(place.as_path(), error.into()),
    }
}

fn c_path(place: &RelativePath) -> Result<CString, Error> {
    CString::new(place.as_bytes()).map_err(|error| Error::from_io(place.as_path(), error.into()))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn a_place_is_where_a_path_leads() {
        let workspace = Workspace::new()
            .file("g/docs/a.md", "a")
            .symlink("g/link.md", "docs/a.md")
            .symlink("g/folder", "docs")
            .symlink("g/self", ".")
            .symlink("g/nowhere", "docs/none")
            .symlink("g/loop", "loop")
            .symlink("g/out", "..")
            .symlink("g/absolute", "/etc/passwd");
        let ground = Ground::open(&workspace.join("g")).unwrap();
        let check = |path: &str, expect: &str| {
            let place = ground.resolve(&path.parse().unwrap());
            let said = place.map_or_else(|error| format!("{error}"), |place| place.to_string());
            assert_eq!(said, expect, "{path}");
        };
        check("docs/a.md", "docs/a.md");
        check("link.md", "docs/a.md");
        check("folder/a.md", "docs/a.md");
        check("folder/new/b.md", "docs/new/b.md");
        check("new", "new");
        check("self/docs/a.md", "docs/a.md");
        check("self", "`self` is a folder");
        check("out/x", "`out/x` leads outside the folder");
        check("out", "`out` leads outside the folder");
        check("absolute", "`absolute` leads outside the folder");
        check("nowhere", "`nowhere` does not exist");
        assert!(ground.resolve(&"loop".parse().unwrap()).is_err());
        assert!(ground.resolve(&"docs/a.md/x".parse().unwrap()).is_err());
    }

    #[test]
    fn only_a_file_is_opened_and_a_link_that_came_later_is_not_followed() {
        let workspace = Workspace::new().file("g/a", "text").fifo("g/pipe").socket("g/socket").dir("g/d");
        let ground = Ground::open(&workspace.join("g")).unwrap();
        let open = |path: &str| ground.open_file(&path.parse().unwrap());
        assert_eq!(open("a").unwrap().read(10).unwrap(), b"text");
        assert!(matches!(open("a").unwrap().read(3), Err(Error::TooLarge { actual: 4, .. })));
        assert!(matches!(open("pipe"), Err(Error::NotAFile { .. })));
        assert!(matches!(open("socket"), Err(Error::NotAFile { .. })));
        assert!(matches!(open("d"), Err(Error::IsAFolder { .. })));
        let place = ground.resolve(&"d/new".parse().unwrap()).unwrap();
        std::fs::remove_dir(workspace.join("g/d")).unwrap();
        std::os::unix::fs::symlink("/etc", workspace.join("g/d")).unwrap();
        assert!(matches!(ground.open_file(&place), Err(Error::Changed { .. })));
    }
}
