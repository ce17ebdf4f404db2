//! What a new root shows, opened where it lies: from there on no path of it is looked up again.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat, statat};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use super::claim::is_private;
use super::data::hand_over;
use super::failure::During;
use super::identity::Owners;
use super::view::{DEVICES, Place, Rights, SETTINGS, SYSTEM, View};
use crate::kernel::{Attributes, set_attributes, set_owners_too};
use crate::wire::Failure;

/// A place that has been opened: from here on no path of it is looked up again.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) tree: OwnedFd,
    pub(super) attributes: Attributes,
    pub(super) is_folder: bool,
}

/// The places of a view, opened.
#[derive(Debug)]
pub(crate) struct Sources(pub(super) Vec<Source>);

impl Sources {
    /// Opens all of them but those of a layered project. `owners` shows root's files as the call's, where the file system
    /// can do that.
    pub(crate) fn open(view: &View, owners: Option<&Owners>) -> Result<Self, Failure> {
        let places = view.opened().filter(|place| !view.is_layered(&place.path));
        Self::with(places.map(|place| open(place, owners)))
    }

    /// Opens those that lie in the layered project and are mounted above it.
    pub(crate) fn open_layered(view: &View, owners: Option<&Owners>) -> Result<Self, Failure> {
        let places = view.opened().filter(|place| view.is_layered(&place.path));
        Self::with(places.map(|place| open(place, owners)))
    }

    /// Takes those apart that lie in the layered project.
    pub(crate) fn split_layered(self, view: &View) -> (Self, Self) {
        let (layered, rest) = self.0.into_iter().partition(|source| view.is_layered(&source.path));
        (Self(rest), Self(layered))
    }

    /// Takes what was opened by who still saw it: with each of the view's places whether that is among the descriptors.
    pub(crate) fn receive(
        view: &View,
        given: &[bool],
        descriptors: Vec<OwnedFd>,
        owners: &Owners,
    ) -> Result<Self, Failure> {
        let mut descriptors = descriptors.into_iter();
        let mut take = |place: &Place| {
            let tree = descriptors.next().ok_or(Errno::BADF).during(|| "taking over places".into())?;
            Source::new(place, tree, Some(owners))
        };
        let places = view.opened().zip(given);
        Self::with(places.map(|(place, given)| given.then(|| take(place)).transpose()))
    }

    /// Opens the places of a view for somebody else, who restricts them.
    pub(crate) fn open_for(view: &View) -> Result<Vec<Option<OwnedFd>>, Failure> {
        view.opened().map(copy).collect()
    }

    /// The id that a data folder among these descriptors has for good, since it cannot be mounted with another owner.
    pub(crate) fn own_id(view: &View, given: &[bool], descriptors: &[OwnedFd]) -> Option<u32> {
        let places = view.opened().zip(given).filter(|(_, given)| **given).map(|(place, _)| place);
        let owned = places.zip(descriptors).filter(|(place, _)| place.owned);
        let mut owners = owned.filter_map(|(_, tree)| fstat(tree).ok()).map(|stat| stat.st_uid);
        owners.find(|owner| is_private(*owner))
    }

    fn with(places: impl Iterator<Item = Result<Option<Source>, Failure>>) -> Result<Self, Failure> {
        places.filter_map(Result::transpose).collect::<Result<_, _>>().map(Self)
    }
}

/// The folders of the system that are there, and where one leads that is a link, such as `/bin` into `/usr` on many systems.
pub(super) fn system_folders() -> Result<Vec<(&'static str, Option<PathBuf>)>, Failure> {
    let mut folders = Vec::new();
    for folder in SYSTEM.iter().copied().chain([SETTINGS]) {
        let Ok(stat) = statat(CWD, folder, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                let target = readlinkat(CWD, folder, Vec::new()).during(|| format!("reading {folder}"))?;
                let target = PathBuf::from(OsStr::from_bytes(target.to_bytes()));
                folders.push((folder, Some(target)));
            }
            FileType::Directory => folders.push((folder, None)),
            _ => {}
        }
    }
    Ok(folders)
}

/// What every view shows of the system, opened.
#[derive(Debug)]
pub(super) struct System {
    /// Folders and devices.
    pub(super) places: Vec<Source>,
    /// Folders that are links here, such as `/bin`.
    pub(super) links: Vec<(&'static str, PathBuf)>,
}

impl System {
    /// Opens all of it.
    pub(super) fn open() -> Result<Self, Failure> {
        let (mut places, mut links) = (Vec::new(), Vec::new());
        for (folder, target) in system_folders()? {
            match target {
                Some(target) => links.push((folder, target)),
                None => {
                    places.extend(open(&Place::new(Path::new(folder), Rights::Read, false), None)?);
                }
            }
        }
        for device in DEVICES {
            let tree = clone_tree(CWD, Path::new(device)).during(|| format!("opening {device}"))?;
            let attributes = Attributes::Device;
            set_attributes(tree.as_fd(), attributes).during(|| format!("restricting {device}"))?;
            places.push(Source { path: device.into(), tree, attributes, is_folder: false });
        }
        Ok(Self { places, links })
    }
}

fn open(place: &Place, owners: Option<&Owners>) -> Result<Option<Source>, Failure> {
    copy(place)?.map(|tree| Source::new(place, tree, owners)).transpose()
}

/// A copy of the mounts at a place, attached nowhere and with all rights that they have.
fn copy(place: &Place) -> Result<Option<OwnedFd>, Failure> {
    let path = place.source();
    match clone_exactly(path) {
        // Also where a file or a link lies on the way: a protected place that is not there needs no mount.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !place.required => Ok(None),
        cloned => cloned.during(|| format!("opening {}", path.display())).map(Some),
    }
}

/// A copy of the mounts at a path. No link on the way: the caller resolved the path, and a link that appears afterwards is
/// somebody's trick.
pub(super) fn clone_exactly(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags)?;
    clone_tree(opened.as_fd(), Path::new(""))
}

/// Whether a folder can be mounted with another owner.
pub(crate) fn can_map(path: &Path, owners: &Owners) -> bool {
    clone_tree(CWD, path)
        .is_ok_and(|tree| set_owners_too(tree.as_fd(), Attributes::Writable, owners.map.as_fd()).is_ok())
}

impl Source {
    /// Restricts a copy of a place's mounts to what may be done there. `owners` shows root's files as the call's, where the
    /// file system can do that; without it the script reads what everyone may read, and a data folder changes its owner.
    fn new(place: &Place, tree: OwnedFd, owners: Option<&Owners>) -> Result<Self, Failure> {
        let what = || format!("restricting {}", place.path.display());
        let is_folder = FileType::from_raw_mode(fstat(&tree).during(what)?.st_mode) == FileType::Directory;
        let attributes = attributes(place);
        if owners.is_none_or(|owners| set_owners_too(tree.as_fd(), attributes, owners.map.as_fd()).is_err()) {
            if let Some(owners) = owners.filter(|_| place.owned) {
                hand_over(tree.as_fd(), owners.user).during(what)?;
            }
            set_attributes(tree.as_fd(), attributes).during(what)?;
        }
        Ok(Self { path: place.path.clone(), tree, attributes, is_folder })
    }
}

fn attributes(place: &Place) -> Attributes {
    match place.rights {
        Rights::Read => Attributes::ReadOnly,
        Rights::Write => Attributes::Writable,
    }
}

/// A copy of a mount that is attached nowhere yet, with what is mounted below it: without that the kernel refuses where
/// it would uncover what was covered.
pub(super) fn clone_tree(folder: BorrowedFd<'_>, path: &Path) -> rustix::io::Result<OwnedFd> {
    open_tree(
        folder,
        path,
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_EMPTY_PATH,
    )
}
