//! The file system of a room: a new root with the places of a view in it, and nothing else.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

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
use super::sources::{Source, Sources, System, clone_tree};
use super::view::{HOME, Place, SCRATCH, SHARED_MEMORY, View};
use crate::kernel::{Attributes, seal, set_attributes};
use crate::wire::Failure;

/// What masks a file: it is empty, and nobody may open it.
const MASK_FILE: &str = ".masked-file";
/// What masks a folder.
const MASK_FOLDER: &str = ".masked-folder";

/// How many files a scratch folder may hold. Each takes about a kilobyte of the kernel's memory that its size does not
/// count.
const MOST_SCRATCH_FILES: &str = "100000";

/// A new root in the making. What is the same for every view is in it already, so it can be begun before the view is known.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

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
        let root = Self(new_tmpfs("1m", "1000", "0755").during(|| "making a new root".into())?);
        move_mount(&root.0, "", CWD, Self::HOOK, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
            .during(|| "hanging up the new root".into())?;
        root.fill(system, &proc).during(|| "furnishing the new root".into())?;
        Ok(root)
    }

    fn fill(&self, system: System, proc: &OwnedFd) -> io::Result<()> {
        for folder in ["proc", "tmp", "dev", "var", "run"] {
            mkdirat(&self.0, folder, Mode::from_raw_mode(0o755))?;
        }
        let none = Mode::empty();
        openat(&self.0, MASK_FILE, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, none)?;
        mkdirat(&self.0, MASK_FOLDER, none)?;
        for (link, target) in system.links {
            symlinkat(target, &self.0, relative(Path::new(link)))?;
        }
        for source in system.places {
            self.show(&source)?;
        }
        attach(&self.0, Path::new("/proc"), proc)?;
        Ok(())
    }

    /// Adds what a view shows, and moves this process into it.
    pub(crate) fn enter(self, sources: Sources, view: &View) -> Result<(), Failure> {
        self.complete(sources, view)?;
        self.leave_old()?.seal()
    }

    /// Moves this process into it while it is still in the making: for whoever needs nothing of the old root any more, since
    /// what is to be shown is handed in. Dropping the old root means waiting for every processor, and this process may have
    /// time for that now.
    pub(crate) fn leave_old(self) -> Result<Entered, Failure> {
        fchdir(&self.0).during(|| "entering the new root".into())?;
        pivot_root(".", ".").during(|| "leaving the old root".into())?;
        unmount(".", UnmountFlags::DETACH).during(|| "dropping the old root".into())?;
        chdir("/").during(|| "entering the new root".into())?;
        Ok(Entered(self))
    }

    /// Adds what a view shows.
    fn complete(&self, sources: Sources, view: &View) -> Result<(), Failure> {
        self.add(sources, view).during(|| "furnishing the new root".into())?;
        for mask in &view.masks {
            cover(&self.0, mask).during(|| format!("masking {}", mask.display()))?;
        }
        Ok(())
    }

    fn add(&self, sources: Sources, view: &View) -> io::Result<()> {
        for (link, target) in convenient_links(view) {
            symlinkat(target, &self.0, relative(Path::new(link)))?;
        }
        for source in sources.0 {
            self.show(&source)?;
        }
        Ok(())
    }

    fn show(&self, source: &Source) -> io::Result<()> {
        let folder = if source.is_folder { Some(source.path.as_path()) } else { source.path.parent() };
        if let Some(folder) = folder {
            make_folders(self.0.as_fd(), folder)?;
        }
        if !source.is_folder {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = relative(&source.path);
            if statat(&self.0, file, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                openat(&self.0, file, flags, Mode::from_raw_mode(0o444))?;
            }
        }
        attach(&self.0, &source.path, &source.tree)?;
        if source.attributes == Attributes::Writable {
            // Mounted inside a read-only one it would take over nothing, but what is below it may have been read-only.
            set_attributes(source.tree.as_fd(), source.attributes)?;
        }
        Ok(())
    }
}

/// A root that this process is in, and to which things can still be added.
#[derive(Debug)]
pub(crate) struct Entered(Root);

impl Entered {
    /// Adds what a view shows, and closes it.
    pub(crate) fn finish(self, sources: Sources, view: &View) -> Result<(), Failure> {
        self.0.complete(sources, view)?;
        self.seal()
    }

    /// Nothing can be added from now on.
    fn seal(self) -> Result<(), Failure> {
        seal(self.0.0.as_fd()).during(|| "sealing the new root".into())
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
