//! The file system of a room: a new root with the places of a view in it, and nothing else.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, readlinkat, statat,
    symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
    unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use super::failure::During;
use super::view::{DEVICES, HOME, Place, Rights, SCRATCH, SETTINGS, SHARED_MEMORY, SYSTEM, View};
use crate::kernel::{Attributes, seal, set_attributes, set_owner_map};
use crate::wire::Failure;

/// What masks a file: it is empty, and nobody may open it.
const MASK_FILE: &str = ".masked-file";
/// What masks a folder.
const MASK_FOLDER: &str = ".masked-folder";

/// How many files a scratch folder may hold. Each takes about a kilobyte of the kernel's memory that its size does not
/// count.
const MOST_SCRATCH_FILES: &str = "100000";

/// A place that has been opened: from here on no path of it is looked up again.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    tree: OwnedFd,
    attributes: Attributes,
    is_folder: bool,
}

/// The places of a view and the system's folders, opened.
#[derive(Debug)]
pub(crate) struct Sources {
    places: Vec<Source>,
    devices: Vec<Source>,
    /// Folders of the system that are links here, such as `/bin`.
    links: Vec<(&'static str, PathBuf)>,
}

impl Sources {
    /// Opens everything. `owners` shows root's files as nobody's, where the file system can do that.
    pub(crate) fn open(view: &View, owners: Option<BorrowedFd<'_>>) -> Result<Self, Failure> {
        Self::with(view.places.iter().map(|place| open(place, owners)))
    }

    /// Opens the system's folders, and takes what was opened of the view by who could do more: with each of its places
    /// whether that is among the descriptors.
    pub(crate) fn receive(view: &View, given: &[bool], descriptors: Vec<OwnedFd>) -> Result<Self, Failure> {
        let mut descriptors = descriptors.into_iter();
        let mut take = |place: &Place| {
            let tree = descriptors.next().ok_or(Errno::BADF).during(|| "taking over places".into())?;
            let is_folder = is_folder(&tree).during(|| format!("looking at {}", place.path.display()))?;
            Ok(Source { path: place.path.clone(), tree, attributes: attributes(place), is_folder })
        };
        let places = view.places.iter().zip(given);
        Self::with(places.map(|(place, given)| given.then(|| take(place)).transpose()))
    }

    /// Opens the places of a view for somebody else.
    pub(crate) fn open_for(view: &View, owners: BorrowedFd<'_>) -> Result<Vec<Option<OwnedFd>>, Failure> {
        view.places.iter().map(|place| Ok(open(place, Some(owners))?.map(|source| source.tree))).collect()
    }

    fn with(view: impl Iterator<Item = Result<Option<Source>, Failure>>) -> Result<Self, Failure> {
        let (mut places, mut devices, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for folder in SYSTEM.iter().copied().chain([SETTINGS]) {
            let Ok(stat) = statat(CWD, folder, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => {
                    let target =
                        readlinkat(CWD, folder, Vec::new()).during(|| format!("reading {folder}"))?;
                    links.push((folder, PathBuf::from(target.to_string_lossy().into_owned())));
                }
                FileType::Directory => {
                    let system =
                        Place { path: folder.into(), rights: Rights::Read, required: false, owned: false };
                    places.extend(open(&system, None)?);
                }
                _ => {}
            }
        }
        for place in view {
            places.extend(place?);
        }
        for device in DEVICES {
            let tree = clone_tree(CWD, Path::new(device)).during(|| format!("opening {device}"))?;
            set_attributes(tree.as_fd(), Attributes::Device).during(|| format!("restricting {device}"))?;
            devices.push(Source {
                path: device.into(),
                tree,
                attributes: Attributes::Device,
                is_folder: false,
            });
        }
        Ok(Self { places, devices, links })
    }
}

fn open(place: &Place, owners: Option<BorrowedFd<'_>>) -> Result<Option<Source>, Failure> {
    let path = &place.path;
    let what = || format!("opening {}", path.display());
    // No link on the way: the caller resolved the path, and a link that appears afterwards is somebody's trick.
    let flags = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags) {
        Ok(opened) => opened,
        // Also where a file or a link lies on the way: a protected place that is not there needs no mount.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !place.required => return Ok(None),
        Err(error) => return Err(error).during(what),
    };
    let is_folder = is_folder(&opened).during(what)?;
    let tree = clone_tree(opened.as_fd(), Path::new("")).during(what)?;
    if let Some(owners) = owners.filter(|_| !place.owned) {
        // Not every file system can do this. Without it the script reads what everyone may read.
        let _ = set_owner_map(tree.as_fd(), owners);
    }
    let attributes = attributes(place);
    set_attributes(tree.as_fd(), attributes).during(|| format!("restricting {}", path.display()))?;
    Ok(Some(Source { path: path.clone(), tree, attributes, is_folder }))
}

fn attributes(place: &Place) -> Attributes {
    match place.rights {
        Rights::Read => Attributes::ReadOnly,
        Rights::Write => Attributes::Writable,
    }
}

fn is_folder(place: &OwnedFd) -> rustix::io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(place)?.st_mode) == FileType::Directory)
}

/// A copy of a mount that is attached nowhere yet, with what is mounted below it: without that the kernel refuses where
/// it would uncover what was covered.
fn clone_tree(folder: BorrowedFd<'_>, path: &Path) -> rustix::io::Result<OwnedFd> {
    open_tree(
        folder,
        path,
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_EMPTY_PATH,
    )
}

/// Builds the root and moves this process into it. Needs a mount namespace of its own.
pub(crate) fn build(sources: Sources, view: &View, processes: Processes) -> Result<(), Failure> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during(|| "keeping mounts private".into())?;
    let root = new_tmpfs("1m", "1000", "0755").during(|| "making a new root".into())?;
    // Any folder will do to hang it up, since nothing of the old root stays visible.
    move_mount(&root, "", CWD, "/usr", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .during(|| "hanging up the new root".into())?;
    fill(&root, sources, view).during(|| "furnishing the new root".into())?;
    for mask in &view.masks {
        cover(&root, mask).during(|| format!("masking {}", mask.display()))?;
    }
    // The kernel shows processes in a new place only where they can be seen already, so this comes before the old root
    // is gone. In a container that covers parts of /proc it is refused.
    new_proc(processes)
        .and_then(|proc| attach(&root, Path::new("/proc"), &proc))
        .during(|| "showing processes (is a part of /proc covered here?)".into())?;
    fchdir(&root).during(|| "entering the new root".into())?;
    pivot_root(".", ".").during(|| "leaving the old root".into())?;
    unmount(".", UnmountFlags::DETACH).during(|| "dropping the old root".into())?;
    chdir("/").during(|| "entering the new root".into())?;
    seal(root.as_fd()).during(|| "sealing the new root".into())
}

fn fill(root: &OwnedFd, sources: Sources, view: &View) -> io::Result<()> {
    for folder in ["proc", "tmp", "dev", "var", "run"] {
        mkdirat(root, folder, Mode::from_raw_mode(0o755))?;
    }
    for (link, target) in convenient_links(view) {
        symlinkat(target, root, relative(Path::new(link)))?;
    }
    let none = Mode::empty();
    openat(root, MASK_FILE, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, none)?;
    mkdirat(root, MASK_FOLDER, none)?;
    for (link, target) in sources.links {
        symlinkat(target, root, relative(Path::new(link)))?;
    }
    for source in sources.places.into_iter().chain(sources.devices) {
        let folder = if source.is_folder { Some(source.path.as_path()) } else { source.path.parent() };
        if let Some(folder) = folder {
            make_folders(root.as_fd(), folder)?;
        }
        if !source.is_folder {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = relative(&source.path);
            if statat(root, file, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                openat(root, file, flags, Mode::from_raw_mode(0o444))?;
            }
        }
        attach(root, &source.path, &source.tree)?;
        if source.attributes == Attributes::Writable {
            // Mounted inside a read-only one it would take over nothing, but what is below it may have been read-only.
            set_attributes(source.tree.as_fd(), source.attributes)?;
        }
    }
    Ok(())
}

/// Links that programs expect, and where they lead. Not where something is shown below one: it has to lie in a folder of
/// its own there.
pub(crate) fn convenient_links(view: &View) -> impl Iterator<Item = (&'static str, String)> {
    let links = [
        ("/var/tmp", SCRATCH.to_owned()),
        ("/dev/shm", format!("{SCRATCH}/{SHARED_MEMORY}")),
        ("/dev/fd", "/proc/self/fd".to_owned()),
        ("/dev/stdin", "/proc/self/fd/0".to_owned()),
        ("/dev/stdout", "/proc/self/fd/1".to_owned()),
        ("/dev/stderr", "/proc/self/fd/2".to_owned()),
    ];
    links.into_iter().filter(|(link, _)| !view.has_below(Path::new(link)))
}

/// Makes a path's folders where they are missing, never through a link: a link of the new root leads, until this process
/// is in it, into the old one.
fn make_folders(root: BorrowedFd<'_>, path: &Path) -> rustix::io::Result<()> {
    let mut folder: Option<OwnedFd> = None;
    for component in path.components() {
        let Component::Normal(name) = component else { continue };
        let at = folder.as_ref().map_or(root, AsFd::as_fd);
        match mkdirat(at, name, Mode::from_raw_mode(0o755)) {
            // A read-only place already has what is needed, or opening it will say that it has not.
            Ok(()) | Err(Errno::EXIST | Errno::ROFS | Errno::ACCESS) => {}
            Err(error) => return Err(error),
        }
        folder = Some(place_below(at, Path::new(name))?);
    }
    Ok(())
}

/// Hangs a mount up at a path below a root.
fn attach(root: &OwnedFd, path: &Path, tree: &OwnedFd) -> rustix::io::Result<()> {
    let place = place_below(root.as_fd(), path)?;
    move_mount(
        tree,
        "",
        &place,
        "",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH,
    )
}

fn place_below(root: BorrowedFd<'_>, path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(root, relative(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags)
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Covers a file or folder so that it cannot be opened. What is gone since it was found needs no cover.
fn cover(root: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    let place = match place_below(root.as_fd(), path) {
        Ok(place) => place,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error),
    };
    let is_folder = FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Directory;
    let mask = clone_tree(root.as_fd(), Path::new(if is_folder { MASK_FOLDER } else { MASK_FILE }))?;
    move_mount(
        &mask,
        "",
        &place,
        "",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH,
    )
}

fn new_tmpfs(size: &str, files: &str, mode: &str) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("size", size), ("nr_inodes", files), ("mode", mode)] {
        fsconfig_set_string(&context, key, value)?;
    }
    fsconfig_create(&context)?;
    fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
    )
}

/// The processes of this namespace. Read-only for a call: some of what lies there changes the machine.
fn new_proc(processes: Processes) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let writing = match processes {
        Processes::OfCall => MountAttrFlags::MOUNT_ATTR_RDONLY,
        Processes::OfRoom => MountAttrFlags::empty(),
    };
    fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        writing
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )
}

/// What each call has for itself: its processes, its scratch folder, and in it what lies where scratch folders do.
pub(crate) fn furnish(view: &View, scratch: u64, shown: Processes) -> Result<(), Failure> {
    let late: Vec<_> = view.places.iter().filter(|place| View::is_late(&place.path)).collect();
    let outermost = |place: &&&Place| {
        !late.iter().any(|other| other.path != place.path && place.path.starts_with(&other.path))
    };
    let mut kept = Vec::new();
    for place in late.iter().filter(outermost) {
        match clone_tree(CWD, &place.path) {
            Ok(tree) => kept.push((&place.path, tree)),
            Err(Errno::NOENT) if !place.required => {}
            Err(error) => return Err(error).during(|| format!("keeping {}", place.path.display())),
        }
    }
    if shown == Processes::OfRoom {
        let proc = new_proc(Processes::OfCall).during(|| "showing the call's own processes".into())?;
        move_mount(&proc, "", CWD, "/proc", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
            .during(|| "showing the call's own processes".into())?;
    }
    let scratch = new_tmpfs(&scratch.to_string(), MOST_SCRATCH_FILES, "0700")
        .during(|| "making the scratch folder".into())?;
    let own = Mode::from_raw_mode(0o700);
    mkdirat(&scratch, HOME, own)
        .and_then(|()| mkdirat(&scratch, SHARED_MEMORY, own))
        .during(|| "furnishing the scratch folder".into())?;
    move_mount(&scratch, "", CWD, SCRATCH, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .during(|| "showing the scratch folder".into())?;
    for (path, tree) in kept {
        let what = || format!("showing {}", path.display());
        let inner = path.strip_prefix(SCRATCH).unwrap_or(path);
        let is_folder = FileType::from_raw_mode(fstat(&tree).during(what)?.st_mode) == FileType::Directory;
        let folder = if is_folder { Some(inner) } else { inner.parent() };
        make_folders(scratch.as_fd(), folder.unwrap_or(inner)).during(what)?;
        if !is_folder {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC;
            openat(&scratch, inner, flags, Mode::from_raw_mode(0o400)).during(what)?;
        }
        attach(&scratch, inner, &tree).during(what)?;
    }
    Ok(())
}

/// Whose processes `/proc` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processes {
    /// Those of one call, which may only look at them.
    OfCall,
    /// Those of a room, which maps users for its calls through it; each call shows its own in the same place.
    OfRoom,
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;

    #[test]
    fn folders_are_never_made_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "elsewhere"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("root/link")).unwrap();
        let root = openat(CWD, folder.path().join("root"), OFlags::PATH, Mode::empty()).unwrap();
        make_folders(root.as_fd(), Path::new("/a/b/c")).unwrap();
        assert!(folder.path().join("root/a/b/c").is_dir());
        assert_eq!(make_folders(root.as_fd(), Path::new("/link/b")), Err(Errno::LOOP));
        assert_eq!(std::fs::read_dir(folder.path().join("elsewhere")).unwrap().count(), 0);
    }
}
