//! Whether a call can have the layer that it brings along, as far as the caller's side sees it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};
use rustix::process::{getegid, geteuid};

use super::mount_table::MountTable;
use crate::command::{Command, LayerMount};
use crate::error::Error;
use crate::folder::{entries, open_folder};
use crate::lock::lock;
use crate::profile::{Profile, Project};
use crate::report::Report;
use crate::tier::Tier;

/// What is known from earlier calls: the file systems on which an overlay has worked, since trying one costs as much as mounting
/// it, and where something is mounted.
#[derive(Debug, Default)]
pub(crate) struct LayersTried {
    worked: Mutex<BTreeSet<Vec<u64>>>,
    mounts: MountTable,
}

impl LayersTried {
    /// Whether one has worked on the file systems of this call's layers.
    pub(crate) fn has_worked(&self, command: &Command) -> bool {
        devices(command).is_some_and(|devices| lock(&self.worked).contains(&devices))
    }

    /// The one of this call works.
    pub(crate) fn note(&self, command: &Command) {
        if let Some(devices) = devices(command) {
            lock(&self.worked).insert(devices);
        }
    }
}

/// The file systems of a call's layers. `None` where it has none, or one cannot be looked at.
fn devices(command: &Command) -> Option<Vec<u64>> {
    let layer = command.layers.first()?;
    let device = |path: &PathBuf| statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_dev);
    [&layer.upper, &layer.at].into_iter().chain(&layer.above).map(device).collect()
}

/// Checks what can be checked before anything is started.
pub(crate) fn check(profile: &Profile, command: &Command, tried: &LayersTried) -> Result<(), Error> {
    match (profile.layered_project(), command.layers.as_slice()) {
        (None, []) => Ok(()),
        (Some(project), [layer]) if layer.at == project.folder => {
            check_layer(profile, project, layer, &tried.mounts)
        }
        (Some(project), []) => refuse(&project.folder, "the call has no layer for it"),
        (_, [layer, ..]) => {
            refuse(&layer.at, "only a project that the profile shows layered has a layer, and only one")
        }
    }
}

fn check_layer(
    profile: &Profile,
    project: &Project,
    layer: &LayerMount,
    mounts: &MountTable,
) -> Result<(), Error> {
    let at = &layer.at;
    if !project.writable.is_empty() {
        return refuse(at, "places in it are to be written in place, which a layer would hide");
    }
    if layer.upper.parent() != layer.work.parent()
        || [&layer.upper, &layer.work].iter().any(|it| !is_plain(it))
    {
        return refuse(at, "its layer and working folder have to lie side by side, under plain names");
    }
    for own in [&layer.upper, &layer.work] {
        // Inside itself the kernel refuses it with a word about links.
        if own.starts_with(at) || at.starts_with(own) {
            return refuse(at, &format!("the layer {} lies inside it or around it", own.display()));
        }
        // Whatever shows the layer itself would let the call write past the overlay, which the kernel leaves undefined.
        if let Some(place) = profile.sources().find(|place| own.starts_with(place)) {
            return refuse(
                at,
                &format!("the layer {} lies in {}, which the call sees", own.display(), place.display()),
            );
        }
    }
    // An overlay shows one file system: what is mounted below the folder would be missing without a word.
    if let Some(inner) = mounts.first_below(at)? {
        return refuse(
            at,
            &format!("another file system is mounted inside it, at {}; unmount it first", inner.display()),
        );
    }
    Ok(())
}

/// Whether a name means itself to the kernel, which reads options of mounts as lists with marks between.
fn is_plain(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// What a call with this layer should know of it. The kernel writes no file whose owner or group it cannot name among the
/// users of the call, and an ordinary user can name none but their own. A call of root's may change what belongs to the owner of
/// the project.
pub(crate) fn note(command: &Command, report: &Report) -> Option<String> {
    let at = &command.layers.first()?.at;
    let stat = statat(CWD, at, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let (user, group) = (geteuid(), getegid());
    let is_foreign = |stat: &Stat| stat.st_uid != user.as_raw() || stat.st_gid != group.as_raw();
    if !user.is_root() && is_foreign(&stat) {
        return Some(format!(
            "{} belongs to another user or group than yours: what in it does so cannot be changed (\"Value too large for defined data type\"); give it to your own group ({}) first",
            at.display(),
            group.as_raw()
        ));
    }
    // Looked for only where something may have gone wrong for that reason.
    let word = if user.is_root() { "Permission denied" } else { "Value too large for defined data type" };
    if report.succeeded() && !report.stderr.text().contains(word) {
        return None;
    }
    let (path, whose) = if user.is_root() {
        (first_entry(at, |entry| entry.st_uid != stat.st_uid)?, format!("than {}", at.display()))
    } else {
        (first_entry(at, is_foreign)?, "or group than yours".to_owned())
    };
    Some(format!(
        "{} belongs to another user {whose}, and a command cannot change what does so (\"{word}\"); change its owner first (chown)",
        path.display()
    ))
}

/// How many entries of a project are looked at for a note.
const MAX_LOOKED_AT: usize = 4096;

/// The first entry in a folder that is meant, those at the top first. What cannot be read is passed over.
fn first_entry(folder: &Path, is_meant: impl Fn(&Stat) -> bool) -> Option<PathBuf> {
    let mut folders = VecDeque::from([folder.to_owned()]);
    let mut left = MAX_LOOKED_AT;
    while let Some(at) = folders.pop_front() {
        let listed = open_folder(CWD, &at).and_then(entries);
        for entry in listed.into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            let path = at.join(OsStr::from_bytes(entry.file_name().to_bytes()));
            match statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if is_meant(&stat) => return Some(path),
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    folders.push_back(path);
                }
                _ => {}
            }
        }
    }
    None
}

/// The answer where the strongest tier that may be used has no mounts of ours.
pub(crate) fn unsupported(tier: Tier, folder: &Path, refused: &BTreeMap<Tier, String>) -> Error {
    let why = refused.get(&Tier::Namespaces).map_or_else(String::new, |reason| format!(" ({reason})"));
    let reason = format!("it needs mount namespaces of metier's own, and this call would use {tier}{why}");
    Error::NoLayer { at: folder.to_owned(), reason }
}

fn refuse(at: &Path, reason: &str) -> Result<(), Error> {
    Err(Error::NoLayer { at: at.to_owned(), reason: reason.to_owned() })
}
