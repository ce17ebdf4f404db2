//! Programs that give whoever runs them the rights of their owner: by every call that can set a mode.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Step, Stop, cannot_say, held};
use crate::arguments::Arguments;
use crate::kernel::{HERE, at, c_path, c_text, call, close, of};
use crate::probe::{Class, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    probe("set-id-chmod", "makes a program set-id by chmod", |arguments| changed(arguments, chmod, SET_ID)),
    probe("set-id-fchmod", "makes it so by fchmod", |arguments| changed(arguments, fchmod, SET_ID)),
    probe("set-id-fchmodat", "makes it so by fchmodat", |arguments| changed(arguments, fchmodat, SET_ID)),
    probe("set-id-fchmodat2", "makes it so by fchmodat2", |arguments| changed(arguments, fchmodat2, SET_ID)),
    probe("set-id-user-only", "sets the bit for the user alone", |arguments| {
        changed(arguments, fchmodat, 0o4755)
    }),
    probe("set-id-group-only", "sets the bit for the group alone", |arguments| {
        changed(arguments, fchmodat, 0o2755)
    }),
    probe("set-id-upper-half", "hides the bits beside ones that the kernel does not read", |arguments| {
        changed(arguments, fchmodat, SET_ID | 1 << 40 | 1 << 20)
    }),
    probe("set-id-open", "makes a new file with the bits by open", |arguments| made(arguments, open)),
    probe("set-id-openat", "makes it by openat", |arguments| made(arguments, openat)),
    probe("set-id-openat2", "makes it by openat2", |arguments| made(arguments, openat2)),
    probe("set-id-creat", "makes it by creat", |arguments| made(arguments, creat)),
    probe("set-id-mknod", "makes it by mknod", |arguments| made(arguments, mknod)),
    probe("set-id-mknodat", "makes it by mknodat", |arguments| made(arguments, mknodat)),
    probe("set-id-nameless", "makes a file without a name, then names it", |arguments| {
        made(arguments, nameless)
    }),
    probe("set-id-of-folder", "makes a folder whose group its files take over", |arguments| {
        let path = place(arguments)?;
        std::fs::create_dir(&path).prepare("make a folder")?;
        let set = fchmodat(&path, 0o2775);
        judge(&path, set)
    }),
    probe("file-capability-kept", "gives a program that stays a capability", file_capability).by(Who::Root),
    probe("file-capability-own", "gives it one for a user namespace", file_capability_own).by(Who::Root),
];

const fn probe(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Privilege, name, tries, run)
}

/// Both bits.
const SET_ID: usize = 0o6755;

/// What a step of an attack gives.
type Done = std::io::Result<usize>;

/// A name in the data folder, whose files stay when the call is over.
fn place(arguments: &Arguments) -> Result<PathBuf, Stop> {
    let path = arguments.path("data")?.join("probe-set-id");
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_dir(&path);
    // Every bit counts.
    let _ = call(libc::SYS_umask, &[0]);
    Ok(path)
}

fn changed(arguments: &Arguments, change: fn(&Path, usize) -> Done, mode: usize) -> Answer {
    let path = place(arguments)?;
    crate::program::make(&path, b"#!/bin/sh\nid -u\n", 0o755).prepare("make a file")?;
    let changed = change(&path, mode);
    judge(&path, changed)
}

fn made(arguments: &Arguments, make: fn(&Path) -> Done) -> Answer {
    let path = place(arguments)?;
    let done = make(&path);
    judge(&path, done)
}

/// The file itself counts, whatever the call said.
fn judge(path: &Path, done: Done) -> Answer {
    let mode = std::fs::symlink_metadata(path).map(|found| found.mode() & 0o7777);
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_dir(path);
    match (mode, done) {
        (Ok(mode), _) if mode & 0o6000 != 0 => Ok(format!("its mode is {mode:04o}")),
        (_, Err(error)) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => cannot_say(error.to_string()),
        (_, Err(error)) => held(error.to_string()),
        (mode, Ok(_)) => held(format!("the call worked and the mode is {mode:?}")),
    }
}

#[cfg(target_arch = "x86_64")]
fn chmod(path: &Path, mode: usize) -> Done {
    call(libc::SYS_chmod, &[at(&c_path(path)), mode])
}

#[cfg(not(target_arch = "x86_64"))]
fn chmod(path: &Path, mode: usize) -> Done {
    fchmodat(path, mode)
}

fn fchmod(path: &Path, mode: usize) -> Done {
    let file = call(libc::SYS_openat, &[HERE, at(&c_path(path)), libc::O_RDONLY as usize])?;
    let changed = call(libc::SYS_fchmod, &[file, mode]);
    close(file);
    changed
}

fn fchmodat(path: &Path, mode: usize) -> Done {
    call(libc::SYS_fchmodat, &[HERE, at(&c_path(path)), mode])
}

fn fchmodat2(path: &Path, mode: usize) -> Done {
    let number = 452;
    call(number, &[HERE, at(&c_path(path)), mode, 0])
}

const NEW: usize = (libc::O_CREAT | libc::O_WRONLY) as usize;

#[cfg(target_arch = "x86_64")]
fn open(path: &Path) -> Done {
    call(libc::SYS_open, &[at(&c_path(path)), NEW, SET_ID])
}

#[cfg(not(target_arch = "x86_64"))]
fn open(path: &Path) -> Done {
    openat(path)
}

fn openat(path: &Path) -> Done {
    call(libc::SYS_openat, &[HERE, at(&c_path(path)), NEW, SET_ID])
}

fn openat2(path: &Path) -> Done {
    let how: [u64; 3] = [NEW as u64, SET_ID as u64, 0];
    call(libc::SYS_openat2, &[HERE, at(&c_path(path)), of(&how), size_of_val(&how)])
}

#[cfg(target_arch = "x86_64")]
fn creat(path: &Path) -> Done {
    call(libc::SYS_creat, &[at(&c_path(path)), SET_ID])
}

#[cfg(not(target_arch = "x86_64"))]
fn creat(path: &Path) -> Done {
    openat(path)
}

const FILE: usize = libc::S_IFREG as usize | SET_ID;

#[cfg(target_arch = "x86_64")]
fn mknod(path: &Path) -> Done {
    call(libc::SYS_mknod, &[at(&c_path(path)), FILE, 0])
}

#[cfg(not(target_arch = "x86_64"))]
fn mknod(path: &Path) -> Done {
    mknodat(path)
}

fn mknodat(path: &Path) -> Done {
    call(libc::SYS_mknodat, &[HERE, at(&c_path(path)), FILE, 0])
}

fn nameless(path: &Path) -> Done {
    let folder = c_path(path.parent().unwrap_or(path));
    let flags = (libc::O_TMPFILE | libc::O_WRONLY) as usize;
    let file = call(libc::SYS_openat, &[HERE, at(&folder), flags, SET_ID])?;
    let own = c_text(format!("/proc/self/fd/{file}"));
    let follow = libc::AT_SYMLINK_FOLLOW as usize;
    call(libc::SYS_linkat, &[HERE, at(&own), HERE, at(&c_path(path)), follow])
}

/// Sets the capabilities of a program that stays.
fn capability(arguments: &Arguments, value: &[u32]) -> Answer {
    let path = place(arguments)?;
    crate::program::make(&path, b"#!/bin/sh\n", 0o755).prepare("make a file")?;
    let (place, name) = (c_path(&path), c_text("security.capability"));
    let set = call(libc::SYS_setxattr, &[at(&place), at(&name), of(value), size_of_val(value), 0]);
    let _ = std::fs::remove_file(path);
    set.attempt("setxattr")?;
    Ok("it has a capability".to_owned())
}

fn file_capability(arguments: &Arguments) -> Answer {
    // Version 2, effective: the right to administer the system, number 21.
    capability(arguments, &[0x0200_0001, 1 << 21, 0, 0, 0])
}

fn file_capability_own(arguments: &Arguments) -> Answer {
    // Version 3 counts in the user namespace whose root is this id.
    let user = call(libc::SYS_getuid, &[]).prepare("getuid")?;
    capability(arguments, &[0x0300_0001, 1 << 21, 0, 0, 0, user as u32])
}
