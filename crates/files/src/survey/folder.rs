//! One folder of a project, as it was read.

use std::ffi::{CStr, CString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::SystemTime;

use rustix::fs::{AtFlags, FileType, fstat, statat};
use rustix::io::Errno;

use super::below;
use crate::document_name::DocumentName;
use crate::entries::each_entry;
use crate::open::{FILE, FOLDER, open_unlinked};
use crate::protected::{Presence, ProtectedRule, is_holder, rule_for};
use crate::secrets::{Proof, SecretRule, Shape, rules_for};
use crate::{OsError, Stamp};

/// One folder of a project.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// What it looked like when it was read, if it could be.
    pub(super) stamp: Option<Stamp>,
    /// Whether a later change is sure to show in the stamp.
    pub(super) settled: bool,
    /// How many entries it has.
    pub(super) entries: usize,
    /// Whether there are more of them than there was space for.
    pub(super) cut: bool,
    /// Folders in it that are looked at.
    pub(super) below: Vec<CString>,
    /// How many folders in it are not, for being too deep.
    pub(super) too_deep: usize,
    /// What in it matters.
    pub(super) found: Vec<(CString, What)>,
    /// Names in it of secrets that have a telling name elsewhere.
    pub(super) other_names: Vec<CString>,
    /// Why it could not be read.
    pub(super) error: Option<OsError>,
}

/// Something that matters.
#[derive(Debug)]
pub(super) enum What {
    /// A file whose name may be a secret's.
    File(File),
    /// A folder that is a secret whole.
    Folder(&'static SecretRule),
    /// A link whose name may be a secret's.
    Link(Vec<&'static SecretRule>),
    /// A socket, a pipe, a device.
    Channel,
    /// A place that stays read-only.
    Protected(&'static ProtectedRule, Presence),
    /// Git's folder (`None`), or what stands in its place.
    Repository(Option<Presence>),
    /// A link with the name of a folder that holds places that stay read-only.
    HolderLink,
    /// A skill's document.
    Document,
}

/// A file whose name may be a secret's.
#[derive(Debug)]
pub(super) struct File {
    rules: Vec<&'static SecretRule>,
    /// The rule by which it is a secret.
    pub(super) proven: Option<&'static SecretRule>,
    stamp: Option<Stamp>,
    settled: bool,
    /// How many names it has.
    names: u64,
}

/// Folders whose files nobody writes by hand: packages that were fetched, programs that were built. What lies in them
/// directly is looked at, and no folder of theirs; they are most of the files of most projects. With a second name, only
/// where that is in the folder: `target` is also an ordinary word.
const PASSED_OVER: &[(&str, Option<&str>)] = &[
    ("node_modules", None),
    ("bower_components", None),
    (".pnpm-store", None),
    ("target", Some("CACHEDIR.TAG")),
    (".venv", Some("pyvenv.cfg")),
    ("venv", Some("pyvenv.cfg")),
    ("env", Some("pyvenv.cfg")),
    (".env", Some("pyvenv.cfg")),
    (".tox", None),
    (".nox", None),
    ("__pycache__", None),
];

/// What git keeps beside a configuration: objects, names and notes, none of them a secret's place and most of them many.
const GITS_OWN: &[&str] = &["objects", "refs", "logs", "hooks", "info", "lfs", "rr-cache", "worktrees"];

impl Folder {
    /// Reads the folder at `path`; nothing if there is none any more.
    pub(super) fn read(
        root: BorrowedFd<'_>,
        path: &CStr,
        space: usize,
        buffer: &mut Vec<u8>,
    ) -> Option<Self> {
        match Self::try_read(root, path, space, buffer) {
            Ok(folder) => Some(folder),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            Err(error) => {
                let name = if path.is_empty() { c"." } else { path };
                let stamp = statat(root, name, AtFlags::SYMLINK_NOFOLLOW).ok();
                let stamp = stamp.map(|stat| Stamp::of_stat(&stat));
                Some(Self { stamp, settled: true, error: Some(error.into()), ..Self::default() })
            }
        }
    }

    fn try_read(
        root: BorrowedFd<'_>,
        path: &CStr,
        space: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<Self, Errno> {
        let now = SystemTime::now();
        let handle = open_unlinked(root, if path.is_empty() { c"." } else { path }, FOLDER)?;
        // Taken before the entries are read: what changes in between shows at the next look.
        let stamp = Stamp::of_stat(&fstat(&handle)?);
        let mut folder = Self { stamp: Some(stamp), settled: stamp.is_settled(now), ..Self::default() };
        let own = path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let mut passed_over = PASSED_OVER.iter().any(|(name, mark)| mark.is_none() && is(own, name));
        each_entry(handle.as_fd(), buffer, |name, kind| {
            if folder.entries >= space {
                folder.cut = true;
                return ControlFlow::Break(());
            }
            folder.entries += 1;
            passed_over |= PASSED_OVER
                .iter()
                .any(|(parent, mark)| is(own, parent) && mark.is_some_and(|mark| is(name.to_bytes(), mark)));
            folder.take(path, name, kind);
            ControlFlow::Continue(())
        })?;
        if passed_over {
            folder.below.clear();
        }
        folder.below.sort_unstable();
        for (name, what) in &mut folder.found {
            if let What::File(file) = what {
                file.look_again(root, path, name, now);
            }
        }
        Ok(folder)
    }

    fn take(&mut self, path: &CStr, name: &CStr, kind: FileType) {
        let (folder, bytes) = (path.to_bytes(), name.to_bytes());
        let mut keep = |what| self.found.push((name.to_owned(), what));
        if is(bytes, ".git") {
            keep(What::Repository(match kind {
                FileType::Directory => None,
                FileType::Symlink => Some(Presence::Link),
                _ => Some(Presence::Existing),
            }));
        }
        if let Some(rule) = rule_for(folder, bytes) {
            let presence = if kind == FileType::Symlink { Presence::Link } else { Presence::Existing };
            keep(What::Protected(rule, presence));
        }
        match kind {
            FileType::Directory => {
                if let Some(rule) = rules_for(folder, bytes, Shape::Folder).first() {
                    keep(What::Folder(rule));
                } else if is_walked(folder, bytes) {
                    self.below.push(name.to_owned());
                }
            }
            FileType::RegularFile => {
                let rules = rules_for(folder, bytes, Shape::File);
                if !rules.is_empty() {
                    keep(What::File(File { rules, proven: None, stamp: None, settled: false, names: 1 }));
                }
                if bytes.eq_ignore_ascii_case(DocumentName::CANONICAL.as_bytes()) {
                    keep(What::Document);
                }
            }
            FileType::Symlink => {
                let mut rules = rules_for(folder, bytes, Shape::File);
                rules.extend(rules_for(folder, bytes, Shape::Folder));
                if !rules.is_empty() {
                    keep(What::Link(rules));
                }
                if is_holder(folder, bytes) {
                    keep(What::HolderLink);
                }
            }
            // What is gone by now has no type, and is seen at the next look by the folder's stamp.
            FileType::Unknown => {}
            _ => keep(What::Channel),
        }
    }
}

fn is(name: &[u8], word: &str) -> bool {
    name.eq_ignore_ascii_case(word.as_bytes())
}

/// Inside git's folder only submodules are walked, for their configurations.
fn is_walked(folder: &[u8], name: &[u8]) -> bool {
    let mut parts = folder.split(|&byte| byte == b'/');
    if !parts.any(|part| is(part, ".git")) {
        return true;
    }
    match parts.next() {
        None => is(name, "modules"),
        Some(_) => !GITS_OWN.iter().any(|own| is(name, own)),
    }
}

impl File {
    /// Looks at the file again if it changed. Whether it is other than before in anything that matters.
    pub(super) fn look_again(
        &mut self,
        root: BorrowedFd<'_>,
        folder: &CStr,
        name: &CStr,
        now: SystemTime,
    ) -> bool {
        let path = below(folder, name);
        let Ok(stat) = statat(root, &path, AtFlags::SYMLINK_NOFOLLOW) else {
            // Its folder's stamp tells that it is gone.
            return false;
        };
        let stamp = Stamp::of_stat(&stat);
        if self.settled && self.stamp == Some(stamp) {
            return false;
        }
        #[allow(clippy::useless_conversion, reason = "the type differs between systems")]
        let names = stat.st_nlink.into();
        let before = (self.proven, self.names, self.stamp.map(|stamp| stamp.identity()));
        self.proven = self.prove(root, &path);
        self.names = names;
        self.settled = stamp.is_settled(now);
        self.stamp = Some(stamp);
        before != (self.proven, self.names, Some(stamp.identity()))
    }

    /// Which file it is, if it is a secret that has other names.
    pub(super) fn linked(&self) -> Option<(u64, u64)> {
        self.proven?;
        self.stamp.filter(|_| self.names > 1).map(|stamp| stamp.identity())
    }

    fn prove(&self, root: BorrowedFd<'_>, path: &CStr) -> Option<&'static SecretRule> {
        prove(&self.rules, root, path)
    }
}

/// The first rule that holds for the file. One that cannot be read counts as a secret: nobody can prove that it is none.
pub(super) fn prove(
    rules: &[&'static SecretRule],
    root: BorrowedFd<'_>,
    path: &CStr,
) -> Option<&'static SecretRule> {
    let first = *rules.first()?;
    if first.proof == Proof::Name {
        return Some(first);
    }
    let Ok(head) = read_head(root, path) else {
        return Some(first);
    };
    rules.iter().copied().find(|rule| rule.proof.holds(&head))
}

/// The beginning of a regular file; nothing of anything else, and no waiting.
fn read_head(root: BorrowedFd<'_>, path: &CStr) -> Result<Vec<u8>, Errno> {
    let file = open_unlinked(root, path, FILE)?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(Vec::new());
    }
    let mut head = vec![0; Proof::HEAD];
    let mut filled = 0;
    while filled < head.len() {
        match rustix::io::read(&file, &mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    Ok(head)
}
