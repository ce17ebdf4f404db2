//! The overlay through which a call sees the project. It is made when the call is known and never before: what changes in a
//! lower layer while an overlay is mounted on it has no defined effect.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, Stat, StatVfsMountFlags, Uid, XattrFlags, fchmod, fchown, fsetxattr,
    fstat, fstatvfs, futimens, mkdirat, openat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};

use super::failure::During;
use super::folder_move::times;
use super::identity::Owners;
use super::root::{LAYERS, MAX_LAYERS, attach, cover};
use super::sources::{Sources, clone_exactly};
use super::view::View;
use crate::command::LayerMount;
use crate::folder::{open_base, open_folder};
use crate::kernel::{Attributes, set_attributes, set_owners_too};
use crate::wire::{Failure, FailureOf};

/// A folder that is made and removed to see whether the overlay works.
const PROBE: &str = ".metier-layer-probe";

/// The layers of a call, opened where they lie: copies of mounts that are attached nowhere.
#[derive(Debug)]
pub(crate) struct LayerTrees {
    at: PathBuf,
    /// The folder that has the upper layer and the working folder: the kernel wants both in one mount.
    own: OwnedFd,
    /// Their names in it.
    upper: OsString,
    work: OsString,
    /// The topmost first, the project's own folder last.
    lower: Vec<OwnedFd>,
}

/// Whether an overlay is tried out before a call gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    Needed,
    /// Another one on the same file systems has worked.
    Done,
}

/// An overlay that is mounted.
#[derive(Debug)]
pub(crate) struct MountedLayer {
    /// The folder that is shown through it.
    pub(crate) at: PathBuf,
    /// The folder that takes what is written, by a descriptor: no path leads to it any more.
    pub(crate) upper: OwnedFd,
}

impl LayerTrees {
    /// Opens the layers. This process sees their paths.
    pub(crate) fn open(layer: &LayerMount) -> Result<Self, Failure> {
        let LayerMount { at, above, upper, .. } = layer;
        let open = |path: &Path| clone_exactly(path).during(|| format!("opening {}", path.display()));
        let own = upper.parent().unwrap_or(upper);
        let trees = [own].into_iter().chain(above.iter().map(PathBuf::as_path)).chain([at.as_path()]);
        let trees = trees.map(open).collect::<Result<Vec<_>, _>>();
        trees.and_then(|trees| Self::receive(layer, trees)).map_err(|failure| of_layer(failure, at))
    }

    /// The descriptors, to be handed to who does not see the paths.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = &OwnedFd> {
        [&self.own].into_iter().chain(&self.lower)
    }

    /// Takes what [`LayerTrees::descriptors`] gave.
    pub(crate) fn receive(layer: &LayerMount, descriptors: Vec<OwnedFd>) -> Result<Self, Failure> {
        let LayerMount { at, upper, work, .. } = layer;
        let mut descriptors = descriptors.into_iter();
        let (Some(own), Some(upper), Some(work)) = (descriptors.next(), upper.file_name(), work.file_name())
        else {
            return Err(Errno::INVAL).during(|| "taking over layers".into());
        };
        let (upper, work) = (upper.to_owned(), work.to_owned());
        Ok(Self { at: at.clone(), own, upper, work, lower: descriptors.collect() })
    }

    /// The project's own folder.
    pub(crate) fn project(&self) -> Option<Stat> {
        fstat(self.lower.last()?).ok()
    }

    /// Mounts the overlay in its place, with what lies in the project above it. `owners` shows root's files as the call's;
    /// this process has root's rights then and the id of the call, so that the kernel finds an owner for what it makes
    /// itself in the layer.
    pub(crate) fn mount(
        self,
        inner: Sources,
        view: &View,
        owners: Option<&Owners>,
        trial: Trial,
    ) -> Result<MountedLayer, Failure> {
        let root = open_base("/").during(|| "opening the root".into())?;
        let upper = self.overlay(&root, owners, trial).map_err(|failure| of_layer(failure, &self.at))?;
        for source in inner.0 {
            // The folder is there: whatever was missing would be a change that the call did not make.
            attach(root.as_fd(), &source.path, &source.tree)
                .during(|| format!("showing {}", source.path.display()))?;
        }
        for mask in view.masks.iter().filter(|mask| view.is_layered(mask)) {
            cover(&root, mask).during(|| format!("masking {}", mask.display()))?;
        }
        // The layers themselves stay mounted, for unmounting waits for every processor; no path leads there any more, and
        // nobody who comes later has the right to unmount this.
        cover(&root, Path::new(LAYERS)).during(|| "hiding the layers".into())?;
        Ok(MountedLayer { at: self.at, upper })
    }

    /// Mounts the overlay, tries it, and gives the upper layer's folder.
    fn overlay(&self, root: &OwnedFd, owners: Option<&Owners>, trial: Trial) -> Result<OwnedFd, Failure> {
        if self.lower.len() >= MAX_LAYERS {
            return Err(Errno::TOOBIG).during(|| format!("mounting {} layers", self.lower.len()));
        }
        let mut paths = Vec::new();
        for (number, tree) in self.descriptors().enumerate() {
            let path = format!("{LAYERS}/{number}");
            let attributes = if number == 0 { Attributes::Writable } else { Attributes::ReadOnly };
            match owners {
                Some(owners) => set_owners_too(tree.as_fd(), attributes, owners.map.as_fd())
                    .during(|| "showing root's files as the call's (this file system cannot)".into())?,
                None => set_attributes(tree.as_fd(), attributes).during(|| "restricting a layer".into())?,
            }
            attach(root.as_fd(), Path::new(&path), tree).during(|| "mounting a layer".into())?;
            paths.push(path);
        }
        let [own, lower @ ..] = paths.as_slice() else {
            return Err(Errno::INVAL).during(|| "taking over layers".into());
        };
        let [upper, work] = [&self.upper, &self.work].map(|name| Path::new(own).join(name));
        let upper_folder = open_folder(CWD, &upper).during(|| "opening the upper layer".into())?;
        let kind = if owners.is_some() { Xattrs::Trusted } else { Xattrs::User };
        // The overlay takes the owner of its top over when it is made, and does not look again.
        self.belong_like_the_project(&upper_folder).during(|| "preparing the upper layer".into())?;
        let overlay = self.make(&upper, &work, &lower.join(":"), kind)?;
        attach(root.as_fd(), &self.at, &overlay).during(|| "showing the overlay".into())?;
        if trial == Trial::Needed {
            try_out(&self.at, &upper_folder, kind)?;
        }
        self.look_like_the_project(&upper_folder).during(|| "preparing the upper layer".into())?;
        Ok(upper_folder)
    }

    fn make(&self, upper: &Path, work: &Path, lower: &str, kind: Xattrs) -> Result<OwnedFd, Failure> {
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)
            .during(|| "this kernel has no overlay file system".into())?;
        let configure = || -> rustix::io::Result<OwnedFd> {
            fsconfig_set_string(&context, "lowerdir", lower)?;
            fsconfig_set_string(&context, "upperdir", upper)?;
            fsconfig_set_string(&context, "workdir", work)?;
            // Alike for everybody: no redirects, no files without contents, no index in the upper layer.
            fsconfig_set_string(&context, "redirect_dir", "nofollow")?;
            fsconfig_set_string(&context, "metacopy", "off")?;
            fsconfig_set_string(&context, "index", "off")?;
            // Unmounting would write out every dirty page of the file system, of other programs, too. After a crash of the
            // machine the layer counts for nothing anyway.
            fsconfig_set_flag(&context, "volatile")?;
            if kind == Xattrs::User {
                fsconfig_set_flag(&context, "userxattr")?;
            }
            fsconfig_create(&context)?;
            let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
            if let Some(project) = self.lower.last()
                && fstatvfs(project)?.f_flag.contains(StatVfsMountFlags::NOEXEC)
            {
                attributes |= MountAttrFlags::MOUNT_ATTR_NOEXEC;
            }
            fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        };
        configure().during(|| format!("mounting an overlay{}", reasons(&context)))
    }

    /// Gives the upper layer's own folder the owner of the project.
    fn belong_like_the_project(&self, upper: &OwnedFd) -> rustix::io::Result<()> {
        let Some(project) = self.lower.last() else { return Ok(()) };
        let (wanted, found) = (fstat(project)?, fstat(upper)?);
        if (wanted.st_uid, wanted.st_gid) != (found.st_uid, found.st_gid) {
            match fchown(upper, Some(Uid::from_raw(wanted.st_uid)), Some(Gid::from_raw(wanted.st_gid))) {
                // An ordinary user's folder may have an owner or a group that the user cannot give away.
                Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The top of an overlay is the upper layer's own folder, which the kernel does not make look like the lower one.
    fn look_like_the_project(&self, upper: &OwnedFd) -> rustix::io::Result<()> {
        let Some(project) = self.lower.last() else { return Ok(()) };
        let wanted = fstat(project)?;
        fchmod(upper, Mode::from_raw_mode(wanted.st_mode & 0o7777))?;
        futimens(upper, &times(&wanted))
    }
}

/// Where the kernel keeps what it notes about files of the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Xattrs {
    /// Where only root can write: nothing that a call does can be mistaken for it.
    Trusted,
    /// Where their owner can write. Through an overlay nobody can.
    User,
}

impl Xattrs {
    const fn opaque(self) -> &'static str {
        match self {
            Self::Trusted => "trusted.overlay.opaque",
            Self::User => "user.overlay.opaque",
        }
    }
}

/// Makes a folder, deletes it and makes it again: an overlay can be read-only without an error, and one whose file system has
/// no extended attributes fails only later. Nothing of it is left.
fn try_out(at: &Path, upper: &OwnedFd, kind: Xattrs) -> Result<(), Failure> {
    let merged = open_base(at).during(|| "opening the overlay".into())?;
    let own = Mode::from_raw_mode(0o700);
    for _ in 0..2 {
        mkdirat(&merged, PROBE, own).during(|| "making a folder in the overlay".into())?;
        let marked =
            openat(upper, PROBE, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .and_then(|folder| fsetxattr(&folder, kind.opaque(), b"y", XattrFlags::empty()));
        unlinkat(&merged, PROBE, AtFlags::REMOVEDIR).during(|| "deleting a folder in the overlay".into())?;
        marked.during(|| "the upper layer's file system has no extended attributes".into())?;
    }
    Ok(())
}

/// What the kernel has to say about a mount that failed.
fn reasons(context: &OwnedFd) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 512]);
    // One message each, until there is none; no kernel keeps more than a few.
    while let Ok(read @ 1..) = rustix::io::read(context, &mut buffer) {
        text.push_str(": ");
        text.push_str(String::from_utf8_lossy(&buffer[..read]).trim_start_matches("e overlay: ").trim());
    }
    text
}

fn of_layer(failure: Failure, at: &Path) -> Failure {
    Failure { of: FailureOf::Layer(at.to_owned()), ..failure }
}
