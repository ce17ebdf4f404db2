//! A user id that no other process on the machine has.

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

use crate::kernel::has_processes;

/// Where ids are chosen: above every range that systemd, `useradd`, `/etc/subuid` and container managers give out, and below
/// the ids that some file systems take for negative numbers. Nothing but metier gives these out.
///
/// The ids of root in `/etc/subuid` are not used: the containers that root starts have them.
const PRIVATE: RangeInclusive<u32> = 0x7000_0000..=0x7ffd_ffff;

/// Where ids are chosen in a container that has no higher ones: those that systemd gives to services for as long as they run.
const PRIVATE_IN_CONTAINER: RangeInclusive<u32> = 61_184..=65_519;

/// How many ids are tried. The first one is free unless something is wrong; an older kernel counts processes differently and
/// calls every id taken, and then chance and the name have to do.
const MAX_TRIED: u32 = 8;

/// The ids that root can choose from, or nothing where its user namespace has none to spare.
pub(crate) fn private_ids() -> Option<RangeInclusive<u32>> {
    let maps = ["/proc/self/uid_map", "/proc/self/gid_map"].map(read_map);
    [PRIVATE, PRIVATE_IN_CONTAINER]
        .into_iter()
        .find(|range| maps.iter().all(|map| map.iter().any(|mapped| holds(mapped, range))))
}

/// Whether an id is one that a call of root's has or had.
pub(crate) fn is_private(id: u32) -> bool {
    PRIVATE.contains(&id) || PRIVATE_IN_CONTAINER.contains(&id)
}

fn holds(outer: &RangeInclusive<u64>, inner: &RangeInclusive<u32>) -> bool {
    outer.contains(&u64::from(*inner.start())) && outer.contains(&u64::from(*inner.end()))
}

/// The ids that exist in this process's user namespace.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, about this process")]
fn read_map(path: &str) -> Vec<RangeInclusive<u64>> {
    let map = fs::read_to_string(path).unwrap_or_default();
    map.lines().filter_map(mapped).collect()
}

/// One line of a map: the first id inside, the first id outside, and how many there are.
fn mapped(line: &str) -> Option<RangeInclusive<u64>> {
    let mut numbers = line.split_whitespace().map(str::parse::<u64>);
    let (first, _, count) = (numbers.next()?.ok()?, numbers.next(), numbers.next()?.ok()?);
    Some(first..=first.checked_add(count)?.checked_sub(1)?)
}

/// A user id that no other process has, for as long as a process holds this.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) id: u32,
    /// A socket that is bound to a name with the id in it. Two processes cannot have one name, and the kernel frees it with
    /// the last process that holds it. Nobody can connect to it, since it does not listen.
    #[expect(dead_code, reason = "it does its work by being open")]
    name: Option<OwnedFd>,
}

impl Claim {
    /// Claims an id that no process has.
    pub(crate) fn fresh(ids: &RangeInclusive<u32>) -> io::Result<Self> {
        let mut last = None;
        for _ in 0..MAX_TRIED {
            let id = ids.start() + u32::from_le_bytes(random()?) % (ids.end() - ids.start() + 1);
            let claim = match name(id) {
                Ok(name) => Self { id, name: Some(name) },
                Err(Errno::ADDRINUSE) => continue,
                // No sockets here: the count of processes still holds.
                Err(_) => Self { id, name: None },
            };
            if !has_processes(id)? {
                return Ok(claim);
            }
            last = Some(claim);
        }
        last.ok_or_else(|| io::Error::other("no free user id"))
    }

    /// Claims the id that a data folder has already, together with other calls that have the same folder.
    pub(crate) fn shared(id: u32) -> Self {
        Self { id, name: name(id).ok() }
    }
}

fn name(id: u32) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrUnix::new_abstract_name(format!("metier-uid-{id}").as_bytes())?)?;
    Ok(socket)
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> rustix::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let file = openat(CWD, "/dev/urandom", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::read(&file, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_as_ranges_of_ids_inside() {
        assert_eq!(mapped("         0          0 4294967295"), Some(0..=4_294_967_294));
        assert_eq!(mapped("1 100000 65536"), Some(1..=65_536));
        for bad in ["", "0 0", "0 0 0", "a 0 1"] {
            assert_eq!(mapped(bad), None, "{bad}");
        }
        assert!(holds(&(0..=4_294_967_294), &PRIVATE) && !holds(&(1..=65_536), &PRIVATE));
        assert!(holds(&(1..=65_536), &PRIVATE_IN_CONTAINER) && !holds(&(0..=0), &PRIVATE_IN_CONTAINER));
    }

    #[test]
    fn claims_that_are_held_at_once_differ_and_a_dropped_one_is_free_again() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT TRIED: only root claims ids");
            return;
        }
        // Two ids only, in a range that nothing else uses: the second claim has to be the other one.
        let first = 0x6ffe_0000 | (std::process::id() & 0x7fff) << 1;
        let ids = first..=first + 1;
        // One of two may be missed eight times in a row, which is no free id.
        let claim = || (0..20).find_map(|_| Claim::fresh(&ids).ok()).unwrap();
        let one = claim();
        let two = claim();
        assert_ne!(one.id, two.id);
        assert!(Claim::fresh(&ids).is_err(), "both are taken");
        let freed = one.id;
        drop(one);
        assert_eq!(claim().id, freed);
    }
}
