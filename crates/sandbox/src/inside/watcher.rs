//! Sums up what the processes of a call use, several times a second: the kernel's limits hold for each process alone.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

use super::quota::Quota;
use crate::kernel::ticks_per_second;
use crate::profile::Limits;
use crate::report::{Overrun, Stop};

/// How often memory is looked at. In that time one process can fill some tens of megabytes.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// What the processes of a call use, now and at most.
#[derive(Debug)]
pub(crate) struct Watcher {
    limits: Limits,
    quota: Quota,
    proc: Option<OwnedFd>,
    /// The one that watches, which is not counted.
    own: u32,
    /// When was looked last.
    seen: Instant,
    pub(crate) most_memory: u64,
}

impl Watcher {
    pub(crate) fn new(limits: Limits, quota: Quota) -> Self {
        let proc =
            openat(CWD, "/proc", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
        let own = u32::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap_or(0);
        Self { limits, quota, proc, own, seen: Instant::now(), most_memory: 0 }
    }

    /// The folder that held too much, where that is why the call was stopped.
    pub(crate) fn overrun(&self) -> Option<&Overrun> {
        self.quota.overrun()
    }

    /// How long until the next look. Whoever keeps us busy in the meantime does not put it off.
    pub(crate) fn until_due(&self) -> Duration {
        TICK.saturating_sub(self.seen.elapsed())
    }

    /// Looks once. `waited` is the processor time of those that have ended.
    pub(crate) fn look(&mut self, processes: &[u32], waited: Duration) -> Option<Stop> {
        let (mut memory, mut threads, mut cpu) = (0, 0_u64, waited);
        for process in processes.iter().filter(|process| **process != self.own) {
            let status = self.read(*process, "status");
            memory += memory_in(&status);
            threads += field(&status, "Threads:").max(1);
            cpu += self.cpu_of(*process);
        }
        self.most_memory = self.most_memory.max(memory);
        let stop = if memory > self.limits.memory {
            Some(Stop::Memory)
        } else if cpu > self.limits.cpu {
            Some(Stop::Cpu)
        } else if threads > u64::from(self.limits.processes) {
            Some(Stop::Processes)
        } else {
            self.proc.as_ref().and_then(|proc| self.quota.look(proc, processes))
        };
        // After the work: when a look takes longer than a tick, there is still time for everything else.
        self.seen = Instant::now();
        stop
    }

    /// The processes of this namespace: all that `/proc` shows.
    pub(crate) fn all(&self) -> Vec<u32> {
        let Some(proc) = &self.proc else { return Vec::new() };
        let Ok(folder) =
            openat(proc, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        else {
            return Vec::new();
        };
        let Ok(entries) = Dir::new(folder) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()).collect()
    }

    /// The processor time of a process and of those of its children that it waited for.
    fn cpu_of(&self, process: u32) -> Duration {
        let text = self.read(process, "stat");
        // The name may hold blanks and parentheses, so counting begins after its last one.
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks: u64 =
            rest.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 1000 / ticks_per_second())
    }

    fn read(&self, process: u32, file: &str) -> String {
        let mut buffer = [0; 4096];
        let read = self.proc.as_ref().and_then(|proc| {
            let path = format!("{process}/{file}");
            let file = openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
            rustix::io::read(&file, &mut buffer).ok()
        });
        String::from_utf8_lossy(&buffer[..read.unwrap_or(0)]).into_owned()
    }

    /// The direct children of this process, where there is no namespace that would show exactly the call's own.
    pub(crate) fn children(&self) -> Vec<u32> {
        self.read(self.own, &format!("task/{}/children", self.own))
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect()
    }

    /// This process's descendants.
    pub(crate) fn descendants(&self) -> Vec<u32> {
        let mut found = self.children();
        let mut at = 0;
        while let Some(process) = found.get(at).copied() {
            let more = self.read(process, &format!("task/{process}/children"));
            found.extend(more.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
            at += 1;
        }
        found
    }
}

/// What a process alone holds, what it shares in memory, and what of it was swapped out.
fn memory_in(status: &str) -> u64 {
    ["RssAnon:", "RssShmem:", "VmSwap:"].iter().map(|name| field(status, name)).sum::<u64>() * 1024
}

/// A number of a process's status, or zero where it has none.
fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_a_status() {
        let status = "Name:\tThreads: 9\nVmSwap:\t       4 kB\nRssAnon:\t    1000 kB\nThreads:\t12\n";
        assert_eq!(memory_in(status), 1004 * 1024);
        assert_eq!(field(status, "Threads:"), 12);
        assert_eq!(field(status, "Missing:"), 0);
    }
}
