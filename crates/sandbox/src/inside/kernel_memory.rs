//! Memory that the kernel keeps for a call and no process maps. A control group counts it; where there is none, it is
//! bounded here by what each object can hold at most.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::socket_send_buffer_size;

use super::descriptors::Descriptors;
use super::failure::During;
use super::processes::{Proc, Process, field};
use crate::tier::Tier;
use crate::wire::Failure;

/// What a socket can hold beside its queue: the message that overfills it, its own record, a filter for packets.
const SOCKET_EXTRA: u64 = 128 << 10;

/// What a connection over the gateway holds at each end. The kernel lets a queue grow with the speed of the line.
const TCP_SOCKET: u64 = 2 << 20;

/// What a pipe holds: sixteen pages, since the filter lets nobody make it larger.
const PIPE: u64 = 64 << 10;

/// What a watch for changes of files holds: 16,384 events with a name.
const WATCH: u64 = 5 << 20;

/// What the kernel keeps for any other descriptor: counters, timers, lists of what is waited for.
const OTHER: u64 = 4 << 10;

/// What the kernel keeps for each mapping of a process.
const MAPPING: u64 = 256;

/// How little memory the machine may have left, as a part of all, and at most. With less, the kernel would soon end
/// processes; it would take the call first.
const MIN_LEFT: (u64, u64) = (64, 256 << 20);

/// How sockets of a call are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sockets {
    /// Whether the network namespace is the call's own, which then knows of all sockets: also those that wait in another
    /// one to be received or accepted, and those that are closed and whose messages were not read.
    own_network: bool,
    /// What one can hold.
    each: u64,
}

impl Sockets {
    /// For a tier. `line` is a local socket like those of the call: how much one holds is for the machine to say.
    pub(crate) fn new(tier: Tier, line: &OwnedFd) -> Result<Self, Failure> {
        let queue =
            socket_send_buffer_size(line.as_fd()).during(|| "asking for the size of a socket".into())?;
        Ok(Self { own_network: tier != Tier::Landlock, each: queue as u64 + SOCKET_EXTRA })
    }
}

/// The kernel's memory of a call.
#[derive(Debug)]
pub(crate) struct KernelMemory {
    sockets: Sockets,
    /// The machine with the least in use that was seen at a close look.
    least_used: Option<Machine>,
}

/// Numbers of the whole machine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    total: u64,
    available: u64,
    shared: u64,
}

impl KernelMemory {
    pub(crate) fn new(sockets: Sockets) -> Self {
        Self { sockets, least_used: None }
    }

    /// What sockets can hold, by their number.
    pub(crate) fn look(&self, proc: &Proc) -> Result<u64, Failure> {
        if !self.sockets.own_network {
            return Ok(0);
        }
        let path = "self/net/sockstat";
        let text = proc.read(path)?.ok_or(Errno::NOENT).during(|| "counting sockets".into())?;
        let used =
            number_after(&text, "sockets: used").ok_or(Errno::BADMSG).during(|| "counting sockets".into())?;
        let tcp = number_after(&text, "TCP: inuse").unwrap_or(0);
        Ok(used.saturating_sub(tcp) * self.sockets.each + tcp * TCP_SOCKET)
    }

    /// What other objects hold, and what was shared, is mapped and shows in no process. `most` is what the call may hold.
    pub(crate) fn look_closely(
        &mut self,
        proc: &Proc,
        processes: &[Process],
        descriptors: &Descriptors,
        most: u64,
    ) -> Result<u64, Failure> {
        let Descriptors { pipes, sockets, watches, others, .. } = descriptors;
        let sockets = if self.sockets.own_network { 0 } else { sockets * self.sockets.each };
        let mut held = pipes * PIPE + sockets + watches * WATCH + others * OTHER;
        let now = Machine::of(&proc.read("meminfo")?.unwrap_or_default())?;
        let least_used = *self.least_used.insert(self.least_used.map_or(now, |seen| seen.least(now)));
        let lost = least_used.available.saturating_sub(now.available);
        // Reading what each process maps takes long, so it is done only where the machine lost memory that this may explain.
        if lost > most / 2 || now.shared.saturating_sub(least_used.shared) > most / 4 {
            held += unseen(proc, processes)?;
        }
        let (part, least) = MIN_LEFT;
        let scarce = lost > most / 2 && now.available < (now.total / part).min(least);
        Ok(if scarce { held.max(most.saturating_add(1)) } else { held })
    }
}

impl Machine {
    fn of(text: &str) -> Result<Self, Failure> {
        let [total, available, shared] =
            ["MemTotal:", "MemAvailable:", "Shmem:"].map(|name| field(text, name) * 1024);
        if total == 0 {
            return Err(Errno::BADMSG).during(|| "reading /proc/meminfo".into());
        }
        Ok(Self { total, available, shared })
    }

    /// With the smaller use of both. What other programs free must not make up for what the call takes.
    fn least(self, other: Self) -> Self {
        Self {
            available: self.available.max(other.available),
            shared: self.shared.min(other.shared),
            ..other
        }
    }
}

/// Shared memory that is mapped and shows in no process, since pages are dropped from a process and stay in the memory
/// that it shares; and the records of all mappings.
fn unseen(proc: &Proc, processes: &[Process]) -> Result<u64, Failure> {
    let (mut shared, mut seen, mut records) = (BTreeMap::new(), 0, 0);
    for process in processes {
        seen += field(&process.status, "RssShmem:") * 1024;
        let Some(maps) = proc.read(&format!("{}/maps", process.folder))? else { continue };
        for line in maps.lines() {
            records += MAPPING;
            if let Some((inode, end)) = shared_memory(line) {
                let largest = shared.entry(inode).or_insert(0);
                *largest = end.max(*largest);
            }
        }
    }
    Ok(shared.values().sum::<u64>().saturating_sub(seen) + records)
}

/// Which shared memory a mapping shows, and how large that is at least.
fn shared_memory(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let _device = words.next()?;
    let inode = words.next()?.parse().ok()?;
    let is_shared = rights.ends_with('s') && words.next() == Some("/dev/zero");
    let length = u64::from_str_radix(to, 16).ok()?.checked_sub(u64::from_str_radix(from, 16).ok()?)?;
    is_shared.then_some((inode, offset + length))
}

fn number_after(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_kernel_are_read() {
        let text = "sockets: used 12\nTCP: inuse 2 orphan 0 tw 0 alloc 9 mem 0\n";
        assert_eq!(number_after(text, "sockets: used"), Some(12));
        assert_eq!(number_after(text, "TCP: inuse"), Some(2));
        assert_eq!(number_after(text, "UDP: inuse"), None);
        let machine = Machine::of("MemTotal: 10 kB\nMemAvailable: 5 kB\nShmem: 1 kB\n").unwrap();
        assert_eq!(machine, Machine { total: 10240, available: 5120, shared: 1024 });
        assert!(Machine::of("").is_err());
    }

    #[test]
    fn memory_that_others_free_hides_nothing() {
        let of = |available, shared| Machine { total: 100, available, shared };
        // Another program ends between the first and the second look, and the call takes as much until the third.
        let least = of(40, 30).least(of(70, 0)).least(of(40, 30));
        assert_eq!(least, of(70, 0));
    }

    #[test]
    fn shared_memory_is_told_from_other_mappings() {
        let line = "7f0000000000-7f0000010000 rw-s 00001000 00:01 77    /dev/zero (deleted)";
        assert_eq!(shared_memory(line), Some((77, 0x11000)));
        for other in [
            "7f0000000000-7f0000010000 rw-p 00000000 00:00 0",
            "7f0000000000-7f0000010000 rw-s 00000000 08:01 5 /data/file",
            "7f0000000000-7f0000010000 rw-p 00000000 00:05 5 /dev/zero",
        ] {
            assert_eq!(shared_memory(other), None, "{other}");
        }
    }
}
