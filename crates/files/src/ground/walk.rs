//! The files of a folder that its owner works with: what git is told to ignore is passed over.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::ignore::Match;
use ::ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;

use super::{Ground, GroundFile, c_path, failed};
use crate::entries::sorted_entries;
use crate::open::{FILE, FOLDER, open_unlinked};
use crate::{Error, Extent, RelativePath};

/// The largest file of patterns that is read. Real ones have a few kilobytes.
const MAX_PATTERNS: u64 = 256 * 1024;

/// Where a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkBounds {
    /// Files and folders that are looked at.
    pub entries: usize,
    /// Folders inside folders.
    pub depth: usize,
    /// How long it takes.
    pub time: Duration,
}

impl Default for WalkBounds {
    fn default() -> Self {
        // The largest public projects have some 100,000 files, nested 20 deep; a model waits for each search.
        Self { entries: 200_000, depth: 64, time: Duration::from_secs(5) }
    }
}

/// Why a walk ended before it had seen everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Overgrown {
    /// There are more files and folders than the bound.
    #[error("there are more than {0} files and folders")]
    Entries(usize),
    /// Folders are nested too deep.
    #[error("folders are nested deeper than {0}")]
    Depth(usize),
    /// It took too long.
    #[error("looking took longer than {} s", .0.as_secs())]
    Time(Duration),
}

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The regular files, by path, seen from the ground.
    pub files: Vec<RelativePath>,
    /// Why there may be more.
    pub overgrown: Option<Overgrown>,
}

/// The patterns of one folder, and how many bytes of a path lead to it.
type Patterns = Vec<(usize, Arc<Gitignore>)>;

impl Ground {
    /// The regular files below a folder, or below all of it. Links are not followed and `.git` is passed over, as is whatever
    /// the `.gitignore` files from the top down to it say, and the repository's own `info/exclude`.
    ///
    /// A folder that is itself ignored is walked where it is asked for by name.
    pub fn walk(&self, below: Option<&RelativePath>, bounds: &WalkBounds) -> Result<Walked, Error> {
        let mut walk = Walk {
            top: self.dir.as_fd(),
            bounds,
            until: Instant::now() + bounds.time,
            seen: 0,
            found: Walked::default(),
        };
        let mut patterns: Patterns = Vec::new();
        patterns.extend(walk.patterns(None, ".git/info/exclude"));
        patterns.extend(walk.patterns(None, ".gitignore"));
        let mut folder = None;
        for step in below.into_iter().flat_map(|below| below.as_path().components()) {
            let next = RelativePath::below(folder.as_ref(), step.as_os_str());
            patterns.extend(walk.patterns(Some(&next), ".gitignore"));
            folder = Some(next);
        }
        let mut pending = vec![(folder, patterns, 0)];
        let mut is_first = true;
        while let Some((folder, patterns, depth)) = pending.pop() {
            if walk.is_over() {
                break;
            }
            match walk.read(folder.as_ref(), &patterns, depth, &mut pending) {
                Err(error) if is_first => return Err(error),
                // A folder that is gone or closed holds nothing that could be opened.
                Ok(()) | Err(_) => {}
            }
            is_first = false;
        }
        walk.found.files.sort_unstable();
        Ok(walk.found)
    }
}

struct Walk<'a> {
    top: BorrowedFd<'a>,
    bounds: &'a WalkBounds,
    until: Instant,
    seen: usize,
    found: Walked,
}

type Pending = Vec<(Option<RelativePath>, Patterns, usize)>;

impl Walk<'_> {
    fn is_over(&mut self) -> bool {
        if Instant::now() >= self.until {
            self.found.overgrown = Some(Overgrown::Time(self.bounds.time));
        }
        matches!(self.found.overgrown, Some(Overgrown::Time(_) | Overgrown::Entries(_)))
    }

    fn read(
        &mut self,
        folder: Option<&RelativePath>,
        patterns: &Patterns,
        depth: usize,
        pending: &mut Pending,
    ) -> Result<(), Error> {
        let here = RelativePath::below(None, OsStr::new("."));
        let place = folder.unwrap_or(&here);
        let handle = open_unlinked(self.top, &c_path(place)?, FOLDER).map_err(|error| match error {
            rustix::io::Errno::NOTDIR => Error::NotAFolder { path: place.as_path().to_owned() },
            error => failed(place, error),
        })?;
        let room = self.bounds.entries.saturating_sub(self.seen);
        let (names, extent) =
            sorted_entries(handle.as_fd(), &mut Vec::new(), room).map_err(|error| failed(place, error))?;
        self.seen += names.len();
        let mut folders = Vec::new();
        for (name, kind) in names {
            let path = RelativePath::below(folder, OsStr::from_bytes(name.to_bytes()));
            match kind {
                FileType::Directory if !is_ignored(&path, patterns, true) => folders.push(path),
                FileType::RegularFile if !is_ignored(&path, patterns, false) => {
                    self.found.files.push(path);
                }
                _ => {}
            }
        }
        if extent == Extent::Truncated {
            self.found.overgrown = Some(Overgrown::Entries(self.bounds.entries));
        }
        if depth + 1 >= self.bounds.depth && !folders.is_empty() {
            self.found.overgrown.get_or_insert(Overgrown::Depth(self.bounds.depth));
            return Ok(());
        }
        // The first is taken from the end.
        for path in folders.into_iter().rev() {
            let mut patterns = patterns.clone();
            patterns.extend(self.patterns(Some(&path), ".gitignore"));
            pending.push((Some(path), patterns, depth + 1));
        }
        Ok(())
    }

    /// The patterns of a folder. What cannot be read, or is no pattern, hides nothing.
    fn patterns(&self, folder: Option<&RelativePath>, name: &str) -> Option<(usize, Arc<Gitignore>)> {
        let place = RelativePath::below(folder, OsStr::new(name));
        let opened = open_unlinked(self.top, &c_path(&place).ok()?, FILE).ok()?;
        let bytes = GroundFile::new(opened, &place).ok()?.read(MAX_PATTERNS).ok()?;
        let mut builder = GitignoreBuilder::new("");
        for line in String::from_utf8_lossy(&bytes).lines() {
            let _ = builder.add_line(None, line.trim_start_matches('\u{feff}'));
        }
        let ignore = builder.build().ok().filter(|ignore| !ignore.is_empty())?;
        Some((folder.map_or(0, |folder| folder.as_bytes().len() + 1), Arc::new(ignore)))
    }
}

/// Whether the innermost pattern that speaks of a path hides it.
fn is_ignored(path: &RelativePath, patterns: &Patterns, is_folder: bool) -> bool {
    let verdicts = patterns.iter().rev().map(|(start, ignore)| {
        let inner = path.as_bytes().get(*start..).unwrap_or_default();
        ignore.matched(Path::new(OsStr::from_bytes(inner)), is_folder)
    });
    let mut spoken = verdicts.filter(|verdict| !matches!(verdict, Match::None));
    matches!(spoken.next(), Some(Match::Ignore(_)))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn names(ground: &Ground, below: Option<&str>, bounds: &WalkBounds) -> (String, Option<Overgrown>) {
        let below = below.map(|below| below.parse().unwrap());
        let walked = ground.walk(below.as_ref(), bounds).unwrap();
        let names: Vec<String> = walked.files.iter().map(ToString::to_string).collect();
        (names.join(" "), walked.overgrown)
    }

    #[test]
    fn what_git_ignores_is_passed_over() {
        let workspace = Workspace::new()
            .file("g/.gitignore", "target/\n*.log\n/only-top\n!keep.log\n")
            .file("g/.git/info/exclude", "private.txt\n")
            .file("g/.git/config", "")
            .file("g/a.rs", "")
            .file("g/a.log", "")
            .file("g/keep.log", "")
            .file("g/only-top", "")
            .file("g/private.txt", "")
            .file("g/target/x", "")
            .file("g/sub/.gitignore", "*.rs\n!a.rs\n")
            .file("g/sub/a.rs", "")
            .file("g/sub/b.rs", "")
            .file("g/sub/only-top", "")
            .file("g/sub/c.log", "")
            .file("g/sub/deep/b.rs", "")
            .symlink("g/link", "a.rs")
            .symlink("g/out", "/etc")
            .fifo("g/pipe");
        let ground = Ground::open(&workspace.join("g")).unwrap();
        let all = ".gitignore a.rs keep.log sub/.gitignore sub/a.rs sub/only-top";
        assert_eq!(names(&ground, None, &WalkBounds::default()), (all.to_owned(), None));
        let sub = "sub/.gitignore sub/a.rs sub/only-top";
        assert_eq!(names(&ground, Some("sub"), &WalkBounds::default()).0, sub);
        assert_eq!(names(&ground, Some("target"), &WalkBounds::default()).0, "target/x");
        let walk = |path: &str| ground.walk(Some(&path.parse().unwrap()), &WalkBounds::default());
        assert!(matches!(walk("a.rs"), Err(Error::NotAFolder { .. })));
        assert!(matches!(walk("out"), Err(Error::Changed { .. })));
        assert!(matches!(walk("none"), Err(Error::NotFound { .. })));
    }

    #[test]
    fn every_bound_is_said() {
        let workspace = Workspace::new().file("g/a/b/c/d", "").file("g/e", "").file("g/f", "");
        let ground = Ground::open(&workspace.join("g")).unwrap();
        let usual = WalkBounds::default();
        let few = WalkBounds { entries: 2, ..usual };
        let (found, over) = names(&ground, None, &few);
        // Which two names of the three come first is the file system's matter.
        assert!(found.split(' ').count() <= 2, "{found}");
        assert_eq!(over, Some(Overgrown::Entries(2)));
        let flat = WalkBounds { depth: 2, ..usual };
        assert_eq!(names(&ground, None, &flat), ("e f".to_owned(), Some(Overgrown::Depth(2))));
        let short = WalkBounds { time: Duration::ZERO, ..usual };
        assert_eq!(names(&ground, None, &short).1, Some(Overgrown::Time(Duration::ZERO)));
    }
}
