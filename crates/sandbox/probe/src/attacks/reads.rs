//! Reading what was not shown: other folders, the home, other users' files.

use std::path::{Path, PathBuf};

use crate::answer::{Answer, Step, cannot_say, held};
use crate::arguments::{Arguments, read_canary, sings};
use crate::kernel::{HERE, at, c_path, call, close, into, of};
use crate::probe::{Class, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Read, "read-absolute", "reads a file outside by its absolute path", absolute),
    Probe::plain(Class::Read, "read-dotdot", "reads it by `..` from the working directory", dotdot),
    Probe::plain(Class::Read, "read-beyond-root", "reads it by `..` beyond the root", beyond_root),
    Probe::plain(
        Class::Read,
        "read-sibling-prefix",
        "reads a folder whose name begins like the project's",
        sibling,
    ),
    Probe::plain(
        Class::Read,
        "read-parent-listing",
        "lists the folder that the project lies in",
        parent_listing,
    ),
    Probe::plain(
        Class::Read,
        "read-tmp-outside",
        "reads a file in the real folder for temporary files",
        real_tmp,
    ),
    Probe::plain(Class::Read, "read-home-key", "reads a private key below the user's home", home_key),
    Probe::plain(Class::Read, "read-home-listing", "lists the user's home", home_listing),
    Probe::plain(Class::Read, "read-other-user", "reads a file of another user", other_user).by(Who::Root),
    Probe::plain(Class::Read, "read-shadow", "reads the password hashes", shadow).by(Who::Root),
    Probe::plain(
        Class::Read,
        "read-root-descriptor",
        "walks up from a descriptor of the root",
        root_descriptor,
    ),
    Probe::plain(
        Class::Read,
        "read-reopened",
        "opens a path as a mere place, then again through /proc",
        reopened,
    ),
    Probe::plain(Class::Read, "read-openat2", "opens it with openat2 and no limits on the way", openat2),
    Probe::plain(Class::Read, "read-chdir", "changes into the folder outside, then reads by name", chdir),
    Probe::plain(
        Class::Read,
        "read-handle",
        "makes a handle of a visible file and opens it by handle",
        handle,
    )
    .by(Who::Root),
    Probe::plain(Class::Read, "read-handle-name", "makes a handle of the file outside", handle_name),
    Probe::plain(Class::Read, "read-inotify", "watches the folder outside with inotify", inotify),
    Probe::plain(Class::Read, "read-fanotify", "watches the folder outside with fanotify", fanotify),
    Probe::plain(Class::Read, "read-stat", "learns that the file outside exists, and its size", stat),
    Probe::plain(Class::Read, "read-statfs", "learns how full the disk of the file outside is", statfs),
];

fn absolute(arguments: &Arguments) -> Answer {
    read_canary(arguments.path("outside")?)
}

fn dotdot(arguments: &Arguments) -> Answer {
    let here = std::env::current_dir().prepare("the working directory")?;
    read_canary(up(here.components().count(), &arguments.path("outside")?))
}

fn beyond_root(arguments: &Arguments) -> Answer {
    read_canary(Path::new("/").join(up(8, &arguments.path("outside")?)))
}

/// So many steps up, then down to the path.
pub(crate) fn up(steps: usize, path: &Path) -> PathBuf {
    let mut way = PathBuf::new();
    for _ in 0..steps {
        way.push("..");
    }
    way.join(path.strip_prefix("/").unwrap_or(path))
}

fn sibling(arguments: &Arguments) -> Answer {
    read_canary(format!("{}X/canary", arguments.text("project")?))
}

fn parent_listing(arguments: &Arguments) -> Answer {
    let outside = arguments.path("outside")?;
    let (Some(folder), Some(project)) =
        (outside.parent(), arguments.path("project")?.parent().map(Path::to_owned))
    else {
        return cannot_say("the folders have no parents");
    };
    let sought = folder.file_name().unwrap_or_default();
    for entry in std::fs::read_dir(&project).attempt("list")?.flatten() {
        if entry.file_name() == sought {
            return Ok(format!("{} lists {}", project.display(), sought.display()));
        }
    }
    held("the folder outside is not in the list")
}

fn real_tmp(arguments: &Arguments) -> Answer {
    read_canary(arguments.path("outside-tmp")?)
}

fn home_key(arguments: &Arguments) -> Answer {
    read_canary(arguments.path("home")?.join(".ssh/id_ed25519"))
}

fn home_listing(arguments: &Arguments) -> Answer {
    let names = std::fs::read_dir(arguments.path("home")?).attempt("list")?.flatten().count();
    if names == 0 { held("the home is empty") } else { Ok(format!("{names} names in the home")) }
}

fn other_user(arguments: &Arguments) -> Answer {
    read_canary(arguments.path("other")?)
}

fn shadow(_: &Arguments) -> Answer {
    let bytes = std::fs::read("/etc/shadow").attempt("/etc/shadow")?;
    if bytes.is_empty() { held("it is empty") } else { Ok(format!("{} bytes", bytes.len())) }
}

fn root_descriptor(arguments: &Arguments) -> Answer {
    let root =
        call(libc::SYS_openat, &[HERE, at(&c"/".to_owned()), libc::O_PATH as usize]).prepare("open /")?;
    let way = c_path(&up(4, &arguments.path("outside")?));
    let file = call(libc::SYS_openat, &[root, at(&way), libc::O_RDONLY as usize]).attempt("openat")?;
    read_descriptor(file)
}

/// Reads a canary from the beginning of an open file.
pub(crate) fn read_descriptor(descriptor: usize) -> Answer {
    let mut bytes = [0_u8; 4096];
    let length = call(libc::SYS_pread64, &[descriptor, into(&mut bytes), bytes.len()]).attempt("pread")?;
    if sings(&bytes[..length]) {
        Ok(format!("read descriptor {descriptor}"))
    } else {
        held("no canary in it")
    }
}

fn reopened(arguments: &Arguments) -> Answer {
    let path = c_path(&arguments.path("outside")?);
    let place =
        call(libc::SYS_openat, &[HERE, at(&path), libc::O_PATH as usize]).attempt("open as a place")?;
    read_canary(format!("/proc/self/fd/{place}"))
}

fn openat2(arguments: &Arguments) -> Answer {
    let path = c_path(&arguments.path("outside")?);
    let how = [0_u64; 3];
    let file = call(libc::SYS_openat2, &[HERE, at(&path), of(&how), size_of_val(&how)]).attempt("openat2")?;
    read_descriptor(file)
}

fn chdir(arguments: &Arguments) -> Answer {
    let outside = arguments.path("outside")?;
    std::env::set_current_dir(outside.parent().unwrap_or(Path::new("/"))).attempt("chdir")?;
    read_canary(outside.file_name().unwrap_or_default())
}

/// Room for a file handle: its length, its type, and the most bytes one can have.
struct Handle {
    bytes: [u32; 34],
    mount: i32,
}

fn handle_of(path: &Path) -> std::io::Result<Handle> {
    let mut handle = Handle { bytes: [0; 34], mount: 0 };
    handle.bytes[0] = 128;
    let path = c_path(path);
    call(
        libc::SYS_name_to_handle_at,
        &[HERE, at(&path), into(&mut handle.bytes), into(&mut handle.mount), 0],
    )?;
    Ok(handle)
}

fn handle(arguments: &Arguments) -> Answer {
    let skill = arguments.path("skill")?;
    let handle = handle_of(&skill.join("SKILL.md")).attempt("name_to_handle_at")?;
    let folder = c_path(&skill);
    let mount =
        call(libc::SYS_openat, &[HERE, at(&folder), libc::O_RDONLY as usize]).prepare("open the skill")?;
    let file = call(libc::SYS_open_by_handle_at, &[mount, of(&handle.bytes), libc::O_RDONLY as usize])
        .attempt("open_by_handle_at")?;
    close(file);
    Ok("opened a file by its handle; any handle of the disk would do".to_owned())
}

fn handle_name(arguments: &Arguments) -> Answer {
    let handle = handle_of(&arguments.path("outside")?).attempt("name_to_handle_at")?;
    Ok(format!("a handle of type {} on mount {}", handle.bytes[1], handle.mount))
}

fn inotify(arguments: &Arguments) -> Answer {
    let outside = arguments.path("outside")?;
    let folder = c_path(outside.parent().unwrap_or(&outside));
    let watcher = call(libc::SYS_inotify_init1, &[0]).attempt("inotify_init1")?;
    call(libc::SYS_inotify_add_watch, &[watcher, at(&folder), libc::IN_ALL_EVENTS as usize])
        .attempt("inotify_add_watch")?;
    Ok("the folder outside is watched".to_owned())
}

fn fanotify(arguments: &Arguments) -> Answer {
    let outside = arguments.path("outside")?;
    let folder = c_path(outside.parent().unwrap_or(&outside));
    // Reports handles instead of descriptors, which is what needs no privilege.
    let group =
        call(libc::SYS_fanotify_init, &[libc::FAN_REPORT_FID as usize, 0]).attempt("fanotify_init")?;
    let what = (libc::FAN_MODIFY | libc::FAN_CLOSE_WRITE | libc::FAN_EVENT_ON_CHILD) as usize;
    call(libc::SYS_fanotify_mark, &[group, libc::FAN_MARK_ADD as usize, what, HERE, at(&folder)])
        .attempt("fanotify_mark")?;
    Ok("the folder outside is watched".to_owned())
}

fn stat(arguments: &Arguments) -> Answer {
    let found = std::fs::metadata(arguments.path("outside")?).attempt("stat")?;
    Ok(format!("it exists and has {} bytes", found.len()))
}

fn statfs(arguments: &Arguments) -> Answer {
    let path = c_path(&arguments.path("outside")?);
    let mut room = [0_u64; 32];
    call(libc::SYS_statfs, &[at(&path), into(&mut room)]).attempt("statfs")?;
    Ok("the disk behind it answers".to_owned())
}
