//! Descriptors that the caller left open. The test leaves a file, a folder and a socket open on purpose.

use std::io;

use crate::answer::{Answer, held};
use crate::arguments::{Arguments, read_canary, sings};
use crate::attacks::reads::read_descriptor;
use crate::kernel::{at, c_text, call};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Descriptors, "fd-open", "finds any descriptor beside the three", open),
    Probe::plain(Class::Descriptors, "fd-read", "reads a file that was left open", read),
    Probe::plain(Class::Descriptors, "fd-folder", "opens a file below a folder that was left open", folder),
    Probe::plain(Class::Descriptors, "fd-dev", "opens what was left open through /dev/fd", dev),
    Probe::plain(Class::Descriptors, "fd-stdin", "reads what the caller's standard input holds", stdin),
];

/// Descriptors are tried up to this number.
const LAST: usize = 4096;

fn leftovers() -> impl Iterator<Item = usize> {
    (3..LAST).filter(|descriptor| call(libc::SYS_fcntl, &[*descriptor, libc::F_GETFD as usize]).is_ok())
}

fn open(_: &Arguments) -> Answer {
    let found: Vec<String> = leftovers()
        .map(|descriptor| {
            let place = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap_or_default();
            format!("{descriptor} {}", place.display())
        })
        .collect();
    if found.is_empty() { held("none is open") } else { Ok(found.join(", ")) }
}

fn first(attempt: impl Fn(usize) -> Answer) -> Answer {
    for descriptor in leftovers() {
        if let Ok(how) = attempt(descriptor) {
            return Ok(how);
        }
    }
    held("none of what is open leads out")
}

fn read(_: &Arguments) -> Answer {
    first(read_descriptor)
}

fn folder(_: &Arguments) -> Answer {
    let name = c_text("canary");
    first(|descriptor| {
        read_descriptor(call(libc::SYS_openat, &[descriptor, at(&name), libc::O_RDONLY as usize])?)
    })
}

fn dev(_: &Arguments) -> Answer {
    for descriptor in 3..64 {
        if let Ok(how) = read_canary(format!("/dev/fd/{descriptor}")) {
            return Ok(how);
        }
    }
    held("nothing behind /dev/fd")
}

fn stdin(_: &Arguments) -> Answer {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(io::stdin(), 4096), &mut bytes)?;
    if sings(&bytes) {
        Ok("read it".to_owned())
    } else {
        held(format!("{} bytes and no canary", bytes.len()))
    }
}
