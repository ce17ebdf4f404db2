//! How much a folder holds.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Dir, FileType, accessat, statat};
use rustix::io::Errno;

use super::failure::During;
use crate::folder::open_folder;
use crate::report::{Overrun, OverrunOf};
use crate::wire::Failure;

/// How deep folders may lie in each other. Each level takes a descriptor while it is walked through.
const MAX_DEPTH: usize = 256;

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) bytes: u64,
    pub(crate) files: u32,
}

impl Amount {
    /// What a folder that holds this has too much of, if anything.
    pub(crate) fn over(self, most: Self, folder: &Path) -> Option<Overrun> {
        let (of, held, most) = if self.bytes > most.bytes {
            (OverrunOf::Bytes, self.bytes, most.bytes)
        } else if self.files > most.files {
            (OverrunOf::Files, self.files.into(), most.files.into())
        } else {
            return None;
        };
        Some(Overrun { folder: folder.to_owned(), of, held, most })
    }
}

/// How much a folder or file holds, in bytes on disk and in entries; one more than `most` stands for all beyond. What is
/// removed meanwhile holds nothing. What the call can write to and nobody can read is an error: it could hold anything.
pub(crate) fn held(path: &Path, most: u32) -> Result<Amount, Failure> {
    let what = || format!("measuring {}", path.display());
    let folder = match open_folder(CWD, path) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(Amount::default()),
        Err(Errno::NOTDIR) => {
            let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).during(what)?;
            return Ok(Amount { bytes: blocks(&stat), files: 1 });
        }
        Err(error) => return Err(error).during(what),
    };
    walk(folder, path, most)
}

/// The same of an open folder. `path` is its name in what goes wrong.
pub(crate) fn held_below(folder: &OwnedFd, path: &Path, most: u32) -> Result<Amount, Failure> {
    let again = open_folder(folder, c".").during(|| format!("measuring {}", path.display()))?;
    walk(again, path, most)
}

fn walk(folder: OwnedFd, top: &Path, most: u32) -> Result<Amount, Failure> {
    let mut walk = Walk { top, most, amount: Amount::default(), folders: Vec::new() };
    walk.enter(folder, Path::new(""))?;
    while walk.step()? {}
    Ok(walk.amount)
}

/// A walk depth first: only the folders on the way to where it is are open.
struct Walk<'a> {
    top: &'a Path,
    most: u32,
    amount: Amount,
    /// The folders that it is in, with their paths below the top.
    folders: Vec<(Dir, PathBuf)>,
}

impl Walk<'_> {
    fn enter(&mut self, folder: OwnedFd, path: &Path) -> Result<(), Failure> {
        if self.folders.len() >= MAX_DEPTH {
            return Err(Errno::NAMETOOLONG).during(|| self.what(path));
        }
        let entries = Dir::new(folder).during(|| self.what(path))?;
        self.folders.push((entries, path.to_owned()));
        Ok(())
    }

    /// Goes on by one entry; false at the end.
    fn step(&mut self) -> Result<bool, Failure> {
        let Some((entries, at)) = self.folders.last_mut() else { return Ok(false) };
        let entry = match entries.next() {
            Some(Ok(entry)) => entry,
            // The folder is through, or was removed.
            None | Some(Err(Errno::NOENT)) => {
                self.folders.pop();
                return Ok(true);
            }
            Some(Err(error)) => {
                let at = at.clone();
                return Err(error).during(|| self.what(&at));
            }
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            return Ok(true);
        }
        self.amount.files += 1;
        if self.amount.files > self.most {
            return Ok(false);
        }
        let path = at.join(name.to_string_lossy().as_ref());
        let failed = |walk: &Self, error: Errno| Err(error).during(|| walk.what(&path));
        let folder = match entries.fd() {
            Ok(folder) => folder,
            Err(error) => return failed(self, error),
        };
        let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(true),
            Err(error) => return failed(self, error),
        };
        self.amount.bytes += blocks(&stat);
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Ok(true);
        }
        match open_folder(folder, name) {
            Ok(inner) => self.enter(inner, &path)?,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            // A folder of somebody else's that the call cannot write to either grows by nothing that it does.
            Err(Errno::ACCESS) if is_out_of_reach(folder, name.to_bytes(), &stat) => {}
            Err(error) => return failed(self, error),
        }
        Ok(true)
    }

    fn what(&self, path: &Path) -> String {
        format!("measuring {}", self.top.join(path).display())
    }
}

/// Whether the call, which is who this process is, can neither write to a folder nor give itself the right to.
fn is_out_of_reach(at: BorrowedFd<'_>, name: &[u8], stat: &rustix::fs::Stat) -> bool {
    let own = stat.st_uid == rustix::process::geteuid().as_raw();
    !own && accessat(at, name, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) == Err(Errno::ACCESS)
}

fn blocks(stat: &rustix::fs::Stat) -> u64 {
    u64::try_from(stat.st_blocks).unwrap_or(0) * 512
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn width_does_not_matter_and_depth_has_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..2000 {
            std::fs::create_dir(folder.path().join(number.to_string())).unwrap();
        }
        std::fs::write(folder.path().join("1999/file"), vec![1; 1 << 20]).unwrap();
        let amount = held(folder.path(), 10_000).unwrap();
        assert!(amount.files == 2001 && amount.bytes >= 1 << 20, "{amount:?}");
        assert_eq!(held(folder.path(), 100).unwrap().files, 101);
        let mut deep = folder.path().to_owned();
        for _ in 0..=MAX_DEPTH {
            deep.push("d");
            std::fs::create_dir(&deep).unwrap();
        }
        assert!(held(folder.path(), 10_000).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_it() {
        if rustix::process::geteuid().is_root() {
            eprintln!("NOT TRIED: root reads everything");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("file"), "x").unwrap();
        for mode in [0o000, 0o300, 0o400, 0o100] {
            std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(mode)).unwrap();
            let failure = held(folder.path(), 100).unwrap_err();
            assert!(failure.what.contains("inner"), "{mode:o}: {failure}");
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(held(folder.path(), 100).is_err(), "{mode:o}");
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(held(folder.path(), 100).unwrap().files, 2);
    }

    #[test]
    fn a_file_holds_what_it_holds_and_what_is_missing_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), vec![1; 1 << 20]).unwrap();
        assert!(held(&folder.path().join("file"), 10).unwrap().bytes >= 1 << 20);
        assert_eq!(held(&folder.path().join("missing"), 10).unwrap(), Amount::default());
    }
}
