//! Mounting, unmounting and moving what is mounted.

use crate::answer::{Answer, Step, Stop, gated, held};
use crate::arguments::{Arguments, read_canary};
use crate::kernel::{HERE, at, c_path, c_text, call, of};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::throwaway(Class::Mount, "mount-tmpfs", "mounts a file system in memory", tmpfs),
    Probe::throwaway(Class::Mount, "mount-proc", "mounts another /proc", proc),
    Probe::throwaway(Class::Mount, "mount-bind", "shows the root again below the scratch folder", bind),
    Probe::throwaway(Class::Mount, "mount-overlay", "lays a writable layer over /usr", overlay),
    Probe::throwaway(
        Class::Mount,
        "mount-writable",
        "makes the skill's folder writable by remounting",
        writable,
    ),
    Probe::throwaway(Class::Mount, "mount-spread", "lets its mounts spread to others", spread),
    Probe::throwaway(Class::Mount, "mount-move", "moves a mount by the old way", move_old),
    Probe::throwaway(
        Class::Mount,
        "umount-mask",
        "takes away whatever lies over the project and /proc",
        unmount,
    ),
    Probe::throwaway(Class::Mount, "mount-fsopen", "opens a file system the new way", fsopen),
    Probe::throwaway(Class::Mount, "mount-fspick", "picks a mounted file system to change it", fspick),
    Probe::throwaway(Class::Mount, "mount-open-tree", "copies a tree of mounts into a descriptor", open_tree),
    Probe::throwaway(Class::Mount, "mount-move-mount", "puts such a copy somewhere", move_mount),
    Probe::throwaway(Class::Mount, "mount-setattr", "makes a mount writable the new way", setattr),
    Probe::throwaway(Class::Mount, "mount-pivot", "changes the root of all processes", pivot),
    Probe::throwaway(Class::Mount, "mount-chroot", "leaves a root by making another", chroot),
];

/// A folder to mount on.
fn place() -> Result<std::ffi::CString, Stop> {
    let folder = Arguments::scratch().join("probe-mount");
    let _ = std::fs::create_dir(&folder);
    Ok(c_path(&folder))
}

fn mount(source: &str, kind: &str, flags: u64, options: &str) -> Answer {
    let place = place()?;
    let (source, kind, options) = (c_text(source), c_text(kind), c_text(options));
    call(libc::SYS_mount, &[at(&source), at(&place), at(&kind), flags as usize, at(&options)])
        .attempt("mount")?;
    Ok("mounted".to_owned())
}

fn tmpfs(_: &Arguments) -> Answer {
    mount("tmpfs", "tmpfs", 0, "size=4k")
}

fn proc(_: &Arguments) -> Answer {
    mount("proc", "proc", 0, "")
}

fn bind(_: &Arguments) -> Answer {
    mount("/", "none", libc::MS_BIND | libc::MS_REC, "")
}

fn overlay(_: &Arguments) -> Answer {
    // The layer must lie in a file system that can hold one: memory of its own.
    let folder = Arguments::scratch().join("probe-mount");
    let _ = mount("tmpfs", "tmpfs", 0, "size=64k");
    for name in ["upper", "work"] {
        let _ = std::fs::create_dir(folder.join(name));
    }
    let folder = folder.display();
    mount("overlay", "overlay", 0, &format!("lowerdir=/usr,upperdir={folder}/upper,workdir={folder}/work"))
}

fn writable(arguments: &Arguments) -> Answer {
    let skill = arguments.path("skill")?;
    let place = c_path(&skill);
    let none = c_text("none");
    // First its own mount, where it is not one already; then without the flag that forbids writing.
    let _ = call(libc::SYS_mount, &[at(&place), at(&place), at(&none), libc::MS_BIND as usize, 0]);
    let flags = (libc::MS_REMOUNT | libc::MS_BIND) as usize;
    call(libc::SYS_mount, &[at(&none), at(&place), at(&none), flags, 0]).attempt("mount")?;
    Ok("remounted".to_owned())
}

fn spread(_: &Arguments) -> Answer {
    let (root, none) = (c_text("/"), c_text("none"));
    let flags = (libc::MS_SHARED | libc::MS_REC) as usize;
    call(libc::SYS_mount, &[at(&none), at(&root), at(&none), flags, 0]).attempt("mount")?;
    Ok("mounts are shared".to_owned())
}

fn move_old(_: &Arguments) -> Answer {
    let (place, none, from) = (place()?, c_text("none"), c_text("/proc"));
    gated("mount", call(libc::SYS_mount, &[at(&from), at(&place), at(&none), libc::MS_MOVE as usize, 0]))
}

fn unmount(arguments: &Arguments) -> Answer {
    let mut answer = held("there was nothing to try");
    for path in [arguments.path("project")?, "/proc".into(), "/dev".into(), "/".into()] {
        let path = c_path(&path);
        answer = gated("umount2", call(libc::SYS_umount2, &[at(&path), libc::MNT_DETACH as usize]));
        if answer.is_ok() {
            return answer;
        }
    }
    answer
}

fn fsopen(_: &Arguments) -> Answer {
    let kind = c_text("tmpfs");
    let context = call(libc::SYS_fsopen, &[at(&kind), 0]).attempt("fsopen")?;
    let create = 6;
    call(libc::SYS_fsconfig, &[context, create, 0, 0, 0]).attempt("fsconfig")?;
    let mount = call(libc::SYS_fsmount, &[context, 0, 0]).attempt("fsmount")?;
    Ok(format!("a file system is open as {mount}"))
}

fn fspick(_: &Arguments) -> Answer {
    let root = c_text("/proc");
    gated("fspick", call(libc::SYS_fspick, &[HERE, at(&root), 0]))
}

const COPY_TREE: usize = 1;

fn open_tree(_: &Arguments) -> Answer {
    let root = c_text("/usr");
    let tree = call(libc::SYS_open_tree, &[HERE, at(&root), COPY_TREE]).attempt("open_tree")?;
    Ok(format!("a copy is open as {tree}"))
}

fn move_mount(_: &Arguments) -> Answer {
    let (root, place, empty) = (c_text("/usr"), place()?, c_text(""));
    // Without the copy the move is tried on nothing: only a refusal of the call itself counts.
    let tree = call(libc::SYS_open_tree, &[HERE, at(&root), COPY_TREE]).unwrap_or(9999);
    let from_empty = 4;
    gated("move_mount", call(libc::SYS_move_mount, &[tree, at(&empty), HERE, at(&place), from_empty]))
}

fn setattr(arguments: &Arguments) -> Answer {
    let skill = c_path(&arguments.path("skill")?);
    // Nothing to set, `read-only` to clear.
    let attributes: [u64; 4] = [0, 1, 0, 0];
    let words = [HERE, at(&skill), 0, of(&attributes), size_of_val(&attributes)];
    gated("mount_setattr", call(libc::SYS_mount_setattr, &words))
}

fn pivot(_: &Arguments) -> Answer {
    let here = c_text(".");
    gated("pivot_root", call(libc::SYS_pivot_root, &[at(&here), at(&here)]))
}

fn chroot(arguments: &Arguments) -> Answer {
    let outside = arguments.path("outside")?;
    let jail = place()?;
    // The working directory stays outside the new root, so `..` never meets it.
    call(libc::SYS_chroot, &[at(&jail)]).attempt("chroot")?;
    for _ in 0..64 {
        std::env::set_current_dir("..").attempt("chdir")?;
    }
    call(libc::SYS_chroot, &[at(&c_text("."))]).attempt("chroot")?;
    read_canary(outside)
}
