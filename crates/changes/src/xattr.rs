//! Extended attributes of files: the overlay's own notes, and what users keep in them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{Mode, fchmod, fgetxattr, flistxattr, fremovexattr, fstat};
use rustix::io::Errno;

/// The kernel's own limit for the list of names, and for one value.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// Removes the overlay's notes. They mean nothing outside of it, and a script can set some itself.
pub(crate) fn remove_marks(file: impl AsFd) -> io::Result<()> {
    let marks = marks(&file)?;
    if marks.is_empty() {
        return Ok(());
    }
    // Only who may write a file may change these, also among its owner's own: a read-only file is opened for it.
    let mode = Mode::from_raw_mode(fstat(&file)?.st_mode & 0o7777);
    let is_closed = !mode.contains(Mode::WUSR);
    if is_closed {
        fchmod(&file, mode | Mode::WUSR)?;
    }
    let removed = marks.iter().try_for_each(|mark| fremovexattr(file.as_fd(), mark.as_slice()));
    if is_closed {
        fchmod(&file, mode)?;
    }
    Ok(removed?)
}

/// The names of the overlay's notes, those that a script set included.
pub(crate) fn marks(file: impl AsFd) -> io::Result<Vec<Vec<u8>>> {
    Ok(names(file)?.into_iter().filter(|name| is_mark(name)).collect())
}

/// Whether two files have the same attributes of those that a user sets: the user's own and access lists. Labels of security
/// modules are the system's, which gives every copy its own.
pub(crate) fn has_same_attributes(left: impl AsFd, right: impl AsFd) -> io::Result<bool> {
    Ok(attributes(left)? == attributes(right)?)
}

fn attributes(file: impl AsFd) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for name in names(&file)? {
        let is_users = name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_");
        if is_users && !is_mark(&name) {
            let mut value = vec![0; MAX_ATTRIBUTE];
            let length = fgetxattr(&file, name.as_slice(), &mut value[..])?;
            value.truncate(length);
            found.insert(name, value);
        }
    }
    Ok(found)
}

fn is_mark(name: &[u8]) -> bool {
    name.starts_with(b"user.overlay.") || name.starts_with(b"trusted.overlay.")
}

fn names(file: impl AsFd) -> io::Result<Vec<Vec<u8>>> {
    let mut short = [0; 1024];
    let mut long = Vec::new();
    let names = match flistxattr(file.as_fd(), &mut short[..]) {
        Ok(length) => &short[..length],
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Err(Errno::RANGE) => {
            long.resize(MAX_ATTRIBUTE, 0);
            let length = flistxattr(file.as_fd(), &mut long[..])?;
            &long[..length]
        }
        Err(error) => return Err(error.into()),
    };
    Ok(names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}
