//! The file system of a room: a new root with the places of a view in it, and nothing else.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, statat, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use super::failure::During;
use super::scratch::ScratchFolder;
use super::sources::{Source, Sources, System, clone_tree};
use super::view::{Place, SCRATCH, SHARED_MEMORY, View};
use crate::folder::open_base;
use crate::kernel::{Attributes, seal, set_attributes};
use crate::wire::Failure;

/// What masks a file: it is empty, and nobody may open it.
const MASK_FILE: &str = ".masked-file";
/// What masks a folder.
const MASK_FOLDER: &str = ".masked-folder";

/// Where the layers of a call are mounted while its overlay is made, in folders with numbers for names; then it is masked.
pub(super) const LAYERS: &str = "/.layers";
/// How many layers there can be.
pub(super) const MAX_LAYERS: usize = 16;

/// A new root in the making. What is the same for every view is in it already, so it can be begun before the view is known.
#[derive(Debug)]
pub(crate) struct Root {
    tree: OwnedFd,
    /// Folders that were made in it and on which nothing is mounted, seen from it. Nobody else can have put a link there, so
    /// the way to them needs no looking at: most steps on the way to a place are such.
    made: BTreeSet<OsString>,
}

impl Root {
    /// Where it hangs until it is entered. No view shows anything of it, so what lies there is not missed meanwhile.
    const HOOK: &str = "/proc";

    /// Begins one: the system's folders, devices and processes. Needs a mount namespace of its own.
    pub(crate) fn begin(processes: Processes) -> Result<Self, Failure> {
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
            .during(|| "keeping mounts private".into())?;
        let system = System::open()?;
        // The kernel shows processes in a new place only where they can be seen already, so this comes before they are
        // covered. In a container that covers parts of /proc it is refused.
        let proc =
            new_proc(processes).during(|| "showing processes (is a part of /proc covered here?)".into())?;
        let options = [("size", "1m"), ("nr_inodes", "1000"), ("mode", "0755")];
        let tree = new_tmpfs(&options).during(|| "making a new root".into())?;
        let mut root = Self { tree, made: BTreeSet::new() };
        move_mount(&root.tree, "", CWD, Self::HOOK, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
            .during(|| "hanging up the new root".into())?;
        root.fill(system, &proc).during(|| "furnishing the new root".into())?;
        Ok(root)
    }

    fn fill(&mut self, system: System, proc: &OwnedFd) -> io::Result<()> {
        for folder in ["proc", "tmp", "dev", "var", "run"] {
            mkdirat(&self.tree, folder, Mode::from_raw_mode(0o755))?;
            self.made.insert(folder.into());
        }
        let none = Mode::empty();
        openat(&self.tree, MASK_FILE, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, none)?;
        mkdirat(&self.tree, MASK_FOLDER, none)?;
        let layers = relative(Path::new(LAYERS));
        mkdirat(&self.tree, layers, Mode::from_raw_mode(0o755))?;
        for number in 0..MAX_LAYERS {
            mkdirat(&self.tree, layers.join(number.to_string()), Mode::from_raw_mode(0o755))?;
        }
        for (link, target) in system.links {
            symlinkat(target, &self.tree, relative(Path::new(link)))?;
        }
        for source in system.places {
            self.show(&source)?;
        }
        self.hang(Path::new("proc"), proc)?;
        Ok(())
    }

    /// Adds what a view shows, and moves this process into it.
    pub(crate) fn enter(mut self, sources: Sources, view: &View) -> Result<(), Failure> {
        self.complete(sources, view)?;
        self.leave_old()?.seal()
    }

    /// Moves this process into it while it is still in the making: for whoever needs nothing of the old root any more, since
    /// what is to be shown is handed in. Dropping the old root means waiting for every processor, and this process may have
    /// time for that now.
    pub(crate) fn leave_old(self) -> Result<Entered, Failure> {
        fchdir(&self.tree).during(|| "entering the new root".into())?;
        pivot_root(".", ".").during(|| "leaving the old root".into())?;
        unmount(".", UnmountFlags::DETACH).during(|| "dropping the old root".into())?;
        chdir("/").during(|| "entering the new root".into())?;
        Ok(Entered(self))
    }

    /// Adds what a view shows.
    fn complete(&mut self, sources: Sources, view: &View) -> Result<(), Failure> {
        self.add(sources, view).during(|| "furnishing the new root".into())?;
        for mask in view.masks.iter().filter(|mask| !view.is_layered(mask)) {
            cover(&self.tree, mask).during(|| format!("masking {}", mask.display()))?;
        }
        Ok(())
    }

    fn add(&mut self, sources: Sources, view: &View) -> io::Result<()> {
        for (link, target) in convenient_links(view) {
            symlinkat(target, &self.tree, relative(Path::new(link)))?;
        }
        for source in sources.0 {
            self.show(&source)?;
        }
        // What is mounted there comes with the call.
        if let Some(folder) = view.layered.as_deref().filter(|folder| !View::is_late(folder)) {
            self.make_folders(relative(folder))?;
        }
        Ok(())
    }

    fn show(&mut self, source: &Source) -> io::Result<()> {
        let path = relative(&source.path);
        let folder = if source.is_folder { path } else { path.parent().unwrap_or(path) };
        let is_ours = self.make_folders(folder)?;
        if !source.is_folder {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let mode = Mode::from_raw_mode(0o444);
            // In a folder that was shown it is there already, and could be a link that is no concern of ours.
            if is_ours || statat(&self.tree, path, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                openat(&self.tree, path, flags, mode)?;
            }
        }
        if is_ours {
            self.hang(path, &source.tree)?;
        } else {
            attach(self.tree.as_fd(), path, &source.tree)?;
        }
        if source.attributes == Attributes::Writable {
            // Mounted inside a read-only one it would take over nothing, but what is below it may have been read-only.
            set_attributes(source.tree.as_fd(), source.attributes)?;
        }
        Ok(())
    }

    /// Makes a path's folders where they are missing. True if all of them are ours.
    fn make_folders(&mut self, path: &Path) -> rustix::io::Result<bool> {
        let mut way = PathBuf::new();
        for component in path.components() {
            way.push(component);
            if self.made.contains(way.as_os_str()) {
                continue;
            }
            match mkdirat(&self.tree, &way, Mode::from_raw_mode(0o755)) {
                Ok(()) => self.made.insert(way.as_os_str().to_owned()),
                // Something else is there or something was shown above: from here on each step is looked at.
                Err(_) => return make_folders(self.tree.as_fd(), path).map(|()| false),
            };
        }
        Ok(true)
    }

    /// Hangs a mount up at a path that is ours.
    fn hang(&mut self, path: &Path, tree: &OwnedFd) -> rustix::io::Result<()> {
        self.made.retain(|made| !Path::new(made).starts_with(path));
        move_mount(tree, "", &self.tree, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }
}

/// A root that this process is in, and to which things can still be added.
#[derive(Debug)]
pub(crate) struct Entered(Root);

impl Entered {
    /// Adds what a view shows, and closes it.
    pub(crate) fn finish(mut self, sources: Sources, view: &View) -> Result<(), Failure> {
        self.0.complete(sources, view)?;
        self.seal()
    }

    /// Nothing can be added from now on.
    fn seal(self) -> Result<(), Failure> {
        seal(self.0.tree.as_fd()).during(|| "sealing the new root".into())
    }
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
pub(super) fn attach(root: BorrowedFd<'_>, path: &Path, tree: &OwnedFd) -> rustix::io::Result<()> {
    attach_to(&place_below(root, path)?, tree)
}

/// Hangs a mount up at a place that was opened.
fn attach_to(place: &OwnedFd, tree: &OwnedFd) -> rustix::io::Result<()> {
    let by_descriptors = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", place, "", by_descriptors)
}

fn place_below(root: BorrowedFd<'_>, path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(root, relative(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags)
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Covers a file or folder so that it cannot be opened. What is gone since it was found needs no cover.
pub(super) fn cover(root: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    let place = match place_below(root.as_fd(), path) {
        Ok(place) => place,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error),
    };
    let is_folder = FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Directory;
    let mask = clone_tree(root.as_fd(), Path::new(if is_folder { MASK_FOLDER } else { MASK_FILE }))?;
    attach_to(&place, &mask)
}

/// Covers again what is not covered any more. A program that replaces a file of the system, as `passwd` does, takes the mount
/// away that lay on it.
pub(crate) fn cover_again(hidden: &[PathBuf]) -> Result<(), Failure> {
    if hidden.is_empty() {
        return Ok(());
    }
    let root = open_base("/").during(|| "opening the root".into())?;
    for path in hidden {
        let is_covered = match statat(&root, relative(path), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Mode::from_raw_mode(stat.st_mode).is_empty(),
            Err(_) => true,
        };
        if !is_covered {
            cover(&root, path).during(|| format!("hiding {}", path.display()))?;
        }
    }
    Ok(())
}

pub(super) fn new_tmpfs(options: &[(&str, &str)]) -> rustix::io::Result<OwnedFd> {
    new_file_system("tmpfs", options, MountAttrFlags::empty())
}

/// Makes a file system that has neither set-user-id programs nor devices, and is attached nowhere yet.
fn new_file_system(
    kind: &str,
    options: &[(&str, &str)],
    more: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&context, *key, *value)?;
    }
    fsconfig_create(&context)?;
    let attributes = more | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// The processes of this namespace. Read-only for a call: some of what lies there changes the machine.
pub(super) fn new_proc(processes: Processes) -> rustix::io::Result<OwnedFd> {
    let writing = match processes {
        Processes::OfCall => MountAttrFlags::MOUNT_ATTR_RDONLY,
        Processes::OfRoom => MountAttrFlags::empty(),
    };
    new_file_system("proc", &[], writing | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// What each call has for itself: its processes, its scratch folder, and in it what lies where scratch folders do.
pub(crate) fn furnish(view: &View, scratch: &ScratchFolder, shown: Processes) -> Result<(), Failure> {
    let is_late = |place: &&Place| View::is_late(&place.path) && !view.is_layered(&place.path);
    let late: Vec<_> = view.places.iter().filter(is_late).collect();
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
    let scratch = scratch.show()?;
    for (path, tree) in kept {
        let what = || format!("showing {}", path.display());
        let inner = path.strip_prefix(SCRATCH).unwrap_or(path);
        let is_folder = FileType::from_raw_mode(fstat(&tree).during(what)?.st_mode) == FileType::Directory;
        let folder = if is_folder { Some(inner) } else { inner.parent() };
        make_folders(scratch, folder.unwrap_or(inner)).during(what)?;
        if !is_folder {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC;
            openat(scratch, inner, flags, Mode::from_raw_mode(0o400)).during(what)?;
        }
        attach(scratch, inner, &tree).during(what)?;
    }
    if let Some(folder) = view.layered.as_deref().filter(|folder| View::is_late(folder)) {
        let inner = folder.strip_prefix(SCRATCH).unwrap_or(folder);
        make_folders(scratch, inner).during(|| format!("showing {}", folder.display()))?;
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
