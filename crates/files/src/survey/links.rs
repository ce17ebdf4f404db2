//! Other ways to a secret: hard links, and symbolic links with a telling name.

use std::collections::HashSet;
use std::ffi::{CString, OsStr};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, statat};

use super::folder::{What, prove};
use super::{Secret, Survey};
use crate::entries::each_entry;
use crate::open::{FOLDER, open_unlinked};
use crate::secrets::SecretRule;
use crate::{Kind, Stamp, kind};

impl Survey {
    /// Finds the other names of secrets that have more than one: a mask covers a name, and the file stays readable by
    /// the others. All folders are asked when there is a new such secret, else only those that were just read.
    pub(super) fn find_other_names(&mut self, read: &HashSet<CString>) {
        let linked: HashSet<(u64, u64)> = self
            .folders
            .values()
            .flat_map(|folder| &folder.found)
            .filter_map(|(_, what)| if let What::File(file) = what { file.linked() } else { None })
            .collect();
        let everywhere = linked != self.linked;
        self.linked = linked;
        if self.linked.is_empty() && !everywhere {
            return;
        }
        let root = self.root.as_fd();
        for (path, folder) in &mut self.folders {
            if !everywhere && !read.contains(path) {
                continue;
            }
            folder.other_names.clear();
            let name = if path.is_empty() { c"." } else { path.as_c_str() };
            let Ok(handle) = open_unlinked(root, name, FOLDER) else {
                continue;
            };
            let linked = &self.linked;
            // A folder that cannot be read to its end is reported by the look at it.
            let _ = each_entry(handle.as_fd(), &mut self.buffer, |name, kind| {
                if kind == FileType::RegularFile
                    && let Ok(stat) = statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW)
                    && linked.contains(&Stamp::of_stat(&stat).identity())
                {
                    folder.other_names.push(name.to_owned());
                }
                ControlFlow::Continue(())
            });
            let found = &folder.found;
            folder.other_names.retain(|name| {
                !found.iter().any(|(known, what)| {
                    known == name && matches!(what, What::File(file) if file.proven.is_some())
                })
            });
        }
    }
}

/// What a link with a telling name leads to, if that is in the project: the file behind `.env` is a secret whatever it is
/// called. What lies outside is not shown to a script in the first place. Nothing is read through the link: its end is
/// looked up, and read like any other file.
pub(super) fn secret_behind(
    project: &Path,
    root: BorrowedFd<'_>,
    link: &Path,
    rules: &[&'static SecretRule],
) -> Option<Secret> {
    let path = std::fs::canonicalize(link).ok()?;
    let inside = path.strip_prefix(project).ok().filter(|inside| !inside.as_os_str().is_empty())?;
    let inside = CString::new(OsStr::as_bytes(inside.as_os_str())).ok()?;
    let folder = match kind(&path) {
        Kind::Folder => true,
        Kind::File => false,
        Kind::Missing | Kind::Other => return None,
    };
    let rules: Vec<_> = rules.iter().copied().filter(|rule| rule.pattern.ends_with('/') == folder).collect();
    let rule = if folder { rules.first().copied() } else { prove(&rules, root, &inside) };
    rule.map(|rule| Secret { path, what: rule.what })
}
