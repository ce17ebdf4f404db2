//! Folders whose every byte is known beforehand: what a program carries along and has to have on the disk.

mod difference;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

pub use self::difference::{Difference, How};
use crate::names_in;

/// The date that everything written here bears, in seconds since 1970. Whoever changes a file, or makes or removes one in a
/// folder, leaves another date behind, so one look without opening anything tells. A whole and even second: every file
/// system has it.
const DATE: i64 = 1_000_000_000;

/// One file of an imprint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ImprintFile {
    /// Where it is, relative, `/` between the parts.
    pub path: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
    /// Whether it may be executed.
    pub executable: bool,
}

impl fmt::Debug for ImprintFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} bytes)", self.path, self.bytes.len())
    }
}

/// A folder as it has to be: these files, the folders they lie in, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imprint {
    files: &'static [ImprintFile],
    /// How many bytes of each path lie above this folder.
    above: usize,
}

impl Imprint {
    /// The imprint of these files, which have to be in the order of their paths. A path that leads anywhere else, or that
    /// is out of order, ends the list: they come with the program, and its tests hold them.
    pub fn new(files: &'static [ImprintFile]) -> Self {
        let is_inside =
            |path: &str| path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        let fine = |at: usize| is_inside(files[at].path) && (at == 0 || files[at - 1].path < files[at].path);
        let count = (0..files.len()).take_while(|at| fine(*at)).count();
        Self { files: &files[..count], above: 0 }
    }

    /// A folder of it; without files where there is no such folder.
    #[must_use]
    pub fn part(&self, folder: &Path) -> Self {
        let Some(folder) = folder.to_str().filter(|folder| !folder.is_empty()) else { return *self };
        let inside = |file: &ImprintFile| {
            file.path[self.above..].strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        // In the order of their paths, the files of one folder stand together.
        let first = self.files.iter().position(inside).unwrap_or(self.files.len());
        let count = self.files[first..].iter().take_while(|file| inside(file)).count();
        Self { files: &self.files[first..first + count], above: self.above + folder.len() + 1 }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Looks whether `folder` is as it was written, by sizes and dates; only what bears another date is read. Cheap enough
    /// for every start: one look for each file and folder. Whoever sets dates back can deceive it, so before anything of
    /// it runs, [`Imprint::compare`] is asked.
    pub fn glance(&self, folder: &Path) -> Result<(), Difference> {
        self.examine(folder, Care::Dates)
    }

    /// Reads every file below `folder` and compares it.
    pub fn compare(&self, folder: &Path) -> Result<(), Difference> {
        self.examine(folder, Care::Bytes)
    }

    fn examine(&self, folder: &Path, care: Care) -> Result<(), Difference> {
        for (inside, names) in self.folders() {
            let path = at(folder, inside);
            let metadata = look(&path)?;
            if !metadata.is_dir() {
                return Err(Difference::new(path, How::Kind));
            }
            if care == Care::Dates && is_dated(&metadata) {
                continue;
            }
            // One more than belongs there is asked for, which is enough to see that there are more.
            let found = names_in(&path, names.len() + 1);
            if let Some(other) =
                found.iter().find(|name| name.to_str().is_none_or(|name| !names.contains(name)))
            {
                return Err(Difference::new(path.join(other), How::Added));
            }
        }
        for file in self.files {
            let path = folder.join(&file.path[self.above..]);
            let metadata = look(&path)?;
            if !metadata.is_file() {
                return Err(Difference::new(path, How::Kind));
            }
            if (metadata.mode() & 0o100 != 0) != file.executable {
                return Err(Difference::new(path, How::Mode));
            }
            if metadata.len() != file.bytes.len() as u64 {
                return Err(Difference::new(path, How::Content));
            }
            if care == Care::Dates && is_dated(&metadata) {
                continue;
            }
            match is_equal(&path, file.bytes) {
                Ok(true) => {}
                Ok(false) => return Err(Difference::new(path, How::Content)),
                Err(error) => return Err(Difference::new(path, How::Unreadable(error))),
            }
        }
        Ok(())
    }

    /// Every folder of it, the topmost first, with the names in it.
    fn folders(&self) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::from([("", BTreeSet::new())]);
        for file in self.files {
            let mut path = &file.path[self.above..];
            loop {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                let is_known = !folders.entry(folder).or_default().insert(name);
                if is_known || folder.is_empty() {
                    break;
                }
                path = folder;
            }
        }
        folders
    }
}

/// How closely a folder is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// What bears our date and has the right size counts as ours.
    Dates,
    /// Nothing counts but the bytes.
    Bytes,
}

/// `join` puts a slash behind a path that nothing is joined to.
fn at(folder: &Path, inside: &str) -> PathBuf {
    if inside.is_empty() { folder.to_owned() } else { folder.join(inside) }
}

fn look(path: &Path) -> Result<Metadata, Difference> {
    // Not through links: we make none, so one in the place of a file or folder is somebody else's.
    fs::symlink_metadata(path).map_err(|error| {
        let how = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => How::Missing,
            _ => How::Unreadable(error),
        };
        Difference::new(path.to_owned(), how)
    })
}

fn is_dated(metadata: &Metadata) -> bool {
    (metadata.mtime(), metadata.mtime_nsec()) == (DATE, 0)
}

/// Reads at most one byte more than expected, without following a link or waiting for anybody.
fn is_equal(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut found = Vec::with_capacity(bytes.len() + 1);
    file.take(bytes.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(found == bytes)
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    const fn file(path: &'static str, text: &'static str, executable: bool) -> ImprintFile {
        ImprintFile { path, bytes: text.as_bytes(), executable }
    }

    const FILES: &[ImprintFile] = &[
        file("a/SKILL.md", "text of a", false),
        file("a/scripts/run.sh", "#!/bin/sh\n", true),
        file("a-b/SKILL.md", "text of a-b", false),
        file("c/d/SKILL.md", "text of d", false),
    ];

    /// Sorted as the program sorts them.
    fn imprint() -> Imprint {
        let mut files = FILES.to_vec();
        files.sort_by_key(|file| file.path);
        Imprint::new(Box::leak(files.into_boxed_slice()))
    }

    fn written() -> (Workspace, PathBuf) {
        let workspace = Workspace::new();
        let folder = workspace.join("cache/x");
        fs::create_dir(workspace.join("cache")).unwrap();
        imprint().write(&folder).unwrap();
        (workspace, folder)
    }

    fn how(result: Result<(), Difference>) -> Option<String> {
        result.err().map(|difference| difference.to_string())
    }

    /// Gives a file our date, as whoever wants to deceive would.
    fn date(path: &Path) {
        let date = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::open(path).unwrap().set_modified(date).unwrap();
    }

    #[test]
    fn what_was_written_is_as_it_has_to_be() {
        let (_workspace, folder) = written();
        assert_eq!(how(imprint().glance(&folder)), None);
        assert_eq!(how(imprint().compare(&folder)), None);
        assert_eq!(how(imprint().part(Path::new("a")).compare(&folder.join("a"))), None);
        assert_eq!(how(imprint().part(Path::new("c/d")).compare(&folder.join("c/d"))), None);
        assert!(imprint().part(Path::new("nothing")).is_empty());
        assert!(imprint().part(Path::new("a/SKILL")).is_empty());
    }

    #[test]
    fn every_change_is_noticed_at_a_glance() {
        type Change = fn(&Path);
        let table: &[(&str, Change)] = &[
            ("a/SKILL.md` has other bytes", |folder| {
                fs::remove_file(folder.join("a/SKILL.md")).unwrap();
                fs::write(folder.join("a/SKILL.md"), "text of b").unwrap();
            }),
            ("a/SKILL.md` has other bytes", |folder| {
                fs::remove_file(folder.join("a/SKILL.md")).unwrap();
                fs::write(folder.join("a/SKILL.md"), "longer than it was").unwrap();
            }),
            ("a/scripts/run.sh` is missing", |folder| {
                fs::remove_file(folder.join("a/scripts/run.sh")).unwrap();
            }),
            ("a/scripts/evil.sh` does not belong there", |folder| {
                fs::write(folder.join("a/scripts/evil.sh"), "").unwrap();
            }),
            ("evil` does not belong there", |folder| fs::create_dir(folder.join("evil")).unwrap()),
            ("a/SKILL.md` is of another kind", |folder| {
                fs::remove_file(folder.join("a/SKILL.md")).unwrap();
                std::os::unix::fs::symlink("/etc/passwd", folder.join("a/SKILL.md")).unwrap();
            }),
            ("may be executed", |folder| {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(folder.join("a/scripts/run.sh"), fs::Permissions::from_mode(0o444))
                    .unwrap();
            }),
            ("x` is missing", |folder| fs::remove_dir_all(folder).unwrap()),
        ];
        for (expected, change) in table {
            let (_workspace, folder) = written();
            change(&folder);
            let found = how(imprint().glance(&folder)).unwrap_or_default();
            assert!(found.contains(expected), "{expected}: {found}");
            assert!(imprint().compare(&folder).is_err(), "{expected}");
            // Written anew it is as it has to be.
            imprint().write(&folder).unwrap();
            assert_eq!(how(imprint().compare(&folder)), None, "{expected}");
            assert_eq!(
                names_in(folder.parent().unwrap(), 9).len(),
                1,
                "{expected}: nothing is left beside it"
            );
        }
    }

    #[test]
    fn whoever_sets_the_date_back_deceives_a_glance_and_not_a_comparison() {
        let (_workspace, folder) = written();
        fs::remove_file(folder.join("a/SKILL.md")).unwrap();
        fs::write(folder.join("a/SKILL.md"), "text of b").unwrap();
        date(&folder.join("a/SKILL.md"));
        date(&folder.join("a"));
        assert_eq!(how(imprint().glance(&folder)), None);
        assert!(imprint().compare(&folder).is_err());
        assert!(imprint().part(Path::new("a")).compare(&folder.join("a")).is_err());
        assert_eq!(how(imprint().part(Path::new("a-b")).compare(&folder.join("a-b"))), None);
    }

    #[test]
    fn other_dates_alone_are_no_difference() {
        let (_workspace, folder) = written();
        for path in ["", "a", "a/SKILL.md"] {
            fs::File::open(at(&folder, path)).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
        }
        assert_eq!(how(imprint().glance(&folder)), None);
    }

    #[test]
    fn many_that_write_at_once_leave_one_whole_folder() {
        let workspace = Workspace::new().dir("cache");
        let folder = workspace.join("cache/x");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        imprint().write(&folder).unwrap();
                        // At no time is there less than the whole.
                        assert_eq!(how(imprint().glance(&folder)), None);
                    }
                });
            }
        });
        assert_eq!(how(imprint().compare(&folder)), None);
        assert_eq!(names_in(&workspace.join("cache"), 99), ["x"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_stays_empty() {
        let workspace = Workspace::new().file("cache", "a file");
        assert!(imprint().write(&workspace.join("cache/x")).is_err());
        assert!(imprint().write(&workspace.join("none/x")).is_err());
    }

    #[test]
    fn paths_that_lead_elsewhere_or_are_out_of_order_end_the_list() {
        const BAD: &[ImprintFile] =
            &[file("a", "", false), file("b/../../c", "", false), file("d", "", false)];
        const MIXED: &[ImprintFile] = &[file("b", "", false), file("a", "", false)];
        assert_eq!(Imprint::new(BAD).files.len(), 1);
        assert_eq!(Imprint::new(MIXED).files.len(), 1);
    }
}
