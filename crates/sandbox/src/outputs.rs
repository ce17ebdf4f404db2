//! What a call left in its scratch folder.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::folder::{FOLDER, entries, open_folder};

/// How many entries are listed. What makes more is no result that anyone reads.
const MAX_ENTRIES: usize = 10_000;

/// How deep folders are listed.
const MAX_DEPTH: usize = 32;

/// What a call left in its scratch folder. The folder is held open and nobody can change it any more; it is gone when
/// this is dropped.
#[derive(Debug, Default)]
pub struct Outputs {
    folder: Option<OwnedFd>,
    /// The line to whoever removes a folder that lies on disk: it does so when this is closed.
    #[expect(dead_code, reason = "it does its work by being open")]
    line: Option<OwnedFd>,
    /// What is there, by path.
    pub entries: Vec<Output>,
    /// Whether there is more than is listed.
    pub is_truncated: bool,
}

/// One entry of the scratch folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its path, seen from the scratch folder.
    pub path: PathBuf,
    /// What it is.
    pub kind: OutputKind,
    /// How large it is, in bytes; of a folder or a link, zero.
    pub size: u64,
}

/// What an entry of the scratch folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link. It is not followed.
    Link,
    /// Something else: a socket, a pipe.
    Other,
}

/// What happens to a file that lies where a result goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the result is left out: nothing tells whose it is.
    #[default]
    Stay,
    /// It is replaced.
    Replaced,
}

/// Why a result was not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaveOut {
    /// It is a link, which could lead anywhere.
    #[error("it is a link")]
    Link,
    /// It is a socket or a pipe.
    #[error("it is a socket or a pipe")]
    Special,
    /// A file of that name is there.
    #[error("a file of this name exists; pass --force to replace it")]
    Exists,
    /// Its name begins with a dot.
    #[error("its name begins with a dot; pass --with-hidden to copy it")]
    Hidden,
    /// It would be obeyed or run later.
    #[error("the place is protected: {0}")]
    Protected(&'static str),
}

/// What came of copying results.
#[derive(Debug, Default)]
pub struct Copied {
    /// How many files and folders were copied.
    pub entries: usize,
    /// What was left out and why; of a folder without what is in it.
    pub left_out: Vec<(PathBuf, LeaveOut)>,
}

impl OutputKind {
    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

impl Outputs {
    /// Lists the folder. `hidden` are names at its top that are no results, such as the home folder.
    pub(crate) fn list(folder: OwnedFd, line: OwnedFd, hidden: impl Fn(&Path) -> bool) -> io::Result<Self> {
        let mut outputs = Self { line: Some(line), ..Self::default() };
        outputs.walk(folder.as_fd(), Path::new(""), 0, &hidden)?;
        outputs.entries.sort_by(|a, b| a.path.cmp(&b.path));
        outputs.folder = Some(folder);
        Ok(outputs)
    }

    fn walk(
        &mut self,
        folder: BorrowedFd<'_>,
        path: &Path,
        depth: usize,
        hidden: &impl Fn(&Path) -> bool,
    ) -> io::Result<()> {
        for entry in entries(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let path = path.join(as_path(name.to_bytes()));
            if hidden(&path) {
                continue;
            }
            if self.entries.len() == MAX_ENTRIES {
                self.is_truncated = true;
                return Ok(());
            }
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => OutputKind::File,
                FileType::Directory => OutputKind::Folder,
                FileType::Symlink => OutputKind::Link,
                _ => OutputKind::Other,
            };
            let size = if kind == OutputKind::File { u64::try_from(stat.st_size).unwrap_or(0) } else { 0 };
            self.entries.push(Output { path: path.clone(), kind, size });
            if kind == OutputKind::Folder {
                if depth == MAX_DEPTH {
                    self.is_truncated = true;
                    continue;
                }
                // A folder that its maker closed to himself is listed and not entered.
                match open_folder(folder, name) {
                    Ok(inner) => self.walk(inner.as_fd(), &path, depth + 1, hidden)?,
                    Err(Errno::ACCESS) => self.is_truncated = true,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Opens one of the files for reading.
    pub fn open(&self, output: &Output) -> io::Result<std::fs::File> {
        let Some(folder) = &self.folder else { return Err(Errno::NOENT.into()) };
        let file = below(folder.as_fd(), &output.path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC)?;
        Ok(file.into())
    }

    /// Copies files, and the folders they lie in, into a folder, which is made if it is missing. Links and special files are
    /// left out, and so is whatever `leave_out` gives a reason for.
    ///
    /// No link in the folder is followed. Only bytes are copied: a new file has the usual mode, whatever the script set.
    pub fn copy_to(
        &self,
        target: &Path,
        existing: Existing,
        leave_out: &dyn Fn(&Path) -> Option<LeaveOut>,
    ) -> io::Result<Copied> {
        let mut copied = Copied::default();
        let target = make_folder(target)?;
        for output in &self.entries {
            if copied.left_out.last().is_some_and(|(folder, _)| output.path.starts_with(folder)) {
                continue;
            }
            let reason = match output.kind {
                OutputKind::Link => Some(LeaveOut::Link),
                OutputKind::Other => Some(LeaveOut::Special),
                OutputKind::Folder | OutputKind::File => leave_out(&output.path),
            };
            let reason = match reason {
                Some(reason) => Some(reason),
                None => {
                    self.copy_one(&target, output, existing).map_err(|error| about(&output.path, &error))?
                }
            };
            match reason {
                Some(reason) => copied.left_out.push((output.path.clone(), reason)),
                None => copied.entries += 1,
            }
        }
        Ok(copied)
    }

    fn copy_one(
        &self,
        target: &OwnedFd,
        output: &Output,
        existing: Existing,
    ) -> io::Result<Option<LeaveOut>> {
        let parent = output.path.parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        // The target's own folders may hold links of other times; none of them is followed.
        let folder = below(target.as_fd(), parent, FOLDER)?;
        let name = Path::new(output.path.file_name().unwrap_or_default());
        if output.kind == OutputKind::Folder {
            return match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => Ok(None),
                Err(error) => Err(error.into()),
            };
        }
        let mut from = self.open(output)?;
        match new_file(&folder, name, existing)? {
            Some(mut file) => io::copy(&mut from, &mut file).map(|_| None),
            None => Ok(Some(LeaveOut::Exists)),
        }
    }

    /// Puts one more file into a folder that results are copied to, in the same manner. `name` is that of a file in it.
    pub fn put(target: &Path, name: &str, bytes: &[u8], existing: Existing) -> io::Result<Option<LeaveOut>> {
        if name.contains('/') {
            return Err(Errno::INVAL.into());
        }
        let target = make_folder(target)?;
        match new_file(&target, Path::new(name), existing)? {
            Some(mut file) => io::Write::write_all(&mut file, bytes).map(|()| None),
            None => Ok(Some(LeaveOut::Exists)),
        }
    }
}

/// The folder that results are copied to, which is made if it is missing.
fn make_folder(path: &Path) -> io::Result<OwnedFd> {
    match mkdirat(CWD, path, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(openat(CWD, path, FOLDER & !OFlags::NOFOLLOW, Mode::empty())?)
}

/// A new file in a folder; `None` where a file is there already and stays.
///
/// A file that is replaced is removed first: written through, another name of it elsewhere would change as well. What is
/// there and is no file is in the way, whatever is allowed.
fn new_file(folder: &OwnedFd, name: &Path, existing: Existing) -> io::Result<Option<std::fs::File>> {
    let kind = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    match (kind, existing) {
        (None, _) => {}
        (Some(FileType::RegularFile), Existing::Stay) => return Ok(None),
        (Some(FileType::RegularFile), Existing::Replaced) => unlinkat(folder, name, AtFlags::empty())?,
        (Some(FileType::Symlink), _) => return Err(Errno::LOOP.into()),
        (Some(FileType::Directory), _) => return Err(Errno::ISDIR.into()),
        (Some(_), _) => return Err(Errno::NXIO.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(Some(openat(folder, name, flags, Mode::from_raw_mode(0o666))?.into()))
}

/// The same error with the file it is about. What lies in the way of a copy is said in words.
fn about(path: &Path, error: &io::Error) -> io::Error {
    let what = match error.raw_os_error() {
        Some(libc::ELOOP) => "a link lies there, and links are not followed".to_owned(),
        Some(libc::ENOTDIR) => "a link or a file lies where its folder should be".to_owned(),
        Some(libc::ENXIO) => "a pipe or a device lies there".to_owned(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("{}: {what}", path.display()))
}

/// Opens a path below a folder, through no link.
fn below(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    openat2(folder, path, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
}

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
