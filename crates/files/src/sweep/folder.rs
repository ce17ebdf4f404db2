use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::root::OpenRoot;

/// A folder whose folders are being looked at.
pub(super) struct Folder<'a> {
    pub(super) root: &'a OpenRoot<'a>,
    /// Everything in it is opened relative to this.
    pub(super) fd: OwnedFd,
    /// Relative to the root, with `/` between the parts; empty for the root.
    pub(super) path: Vec<u8>,
    /// 0 for the root.
    pub(super) depth: u16,
    /// Its real path, when it was reached through a link below the root.
    pub(super) real: Option<PathBuf>,
}

impl Folder<'_> {
    /// The part that is the same for the paths of all its folders.
    pub(super) fn write_prefix(&self, path: &mut Vec<u8>) {
        path.clear();
        path.extend_from_slice(&self.path);
        if !path.is_empty() {
            path.push(b'/');
        }
    }
}

/// A folder that may be a skill.
#[derive(Clone, Copy)]
pub(super) struct Spot<'s, 'a> {
    pub(super) root: &'a OpenRoot<'a>,
    /// Relative to the root.
    pub(super) path: &'s [u8],
    /// Its real path, when it was reached through a link below the root.
    pub(super) real: Option<&'s Path>,
}

impl Spot<'_, '_> {
    /// The last part of the path; empty for the root, whatever it is called.
    pub(super) fn name(&self) -> &[u8] {
        self.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
    }

    /// The path as the user knows it.
    pub(super) fn shown(&self) -> PathBuf {
        self.root.given.path.join(as_path(self.path))
    }

    /// The real path, links or not.
    pub(super) fn real(&self) -> PathBuf {
        self.real.map_or_else(|| self.root.real_below(self.path), Path::to_owned)
    }
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

pub(super) fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
