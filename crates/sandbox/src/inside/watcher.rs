//! Sums up what the processes of a call use, several times a second: the kernel's limits hold for each process alone.
//!
//! Whatever cannot be read is an error, and ends the call: a supervisor that sees nothing would hold no limit.

use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::descriptors::Descriptors;
use super::failure::During;
use super::kernel_memory::{KernelMemory, Sockets};
use super::processes::{Proc, Process, field};
use super::quota::Quota;
use crate::kernel::ticks_per_second;
use crate::profile::Limits;
use crate::report::Stop;
use crate::wire::Failure;

/// How often memory is looked at. In that time one process can fill some tens of megabytes.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// What the processes of a call use, now and at most.
#[derive(Debug)]
pub(crate) struct Watcher {
    limits: Limits,
    pub(super) quota: Quota,
    memory: KernelMemory,
    pub(crate) proc: Proc,
    /// The supervisor itself, which is not counted.
    own: u32,
    /// When was looked last.
    seen: Instant,
    /// Whether a process kept its descriptors to itself at the last close look. One that fails for lack of rights, as
    /// `sudo` does, is gone by the next.
    had_closed: bool,
    pub(crate) most_memory: u64,
}

impl Watcher {
    pub(crate) fn new(limits: Limits, quota: Quota, sockets: Sockets) -> Result<Self, Failure> {
        let own = u32::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap_or(0);
        Ok(Self {
            limits,
            quota,
            memory: KernelMemory::new(sockets),
            proc: Proc::open()?,
            own,
            seen: Instant::now(),
            had_closed: false,
            most_memory: 0,
        })
    }

    /// How long until the next look. Whoever keeps us busy in the meantime does not put it off.
    pub(crate) fn until_due(&self) -> Duration {
        LOOK_INTERVAL.saturating_sub(self.seen.elapsed())
    }

    /// Looks once. `waited` is the processor time of those that have ended.
    pub(crate) fn look(&mut self, processes: &[u32], waited: Duration) -> Result<Option<Stop>, Failure> {
        let (mut memory, mut threads, mut cpu) = (0, 0_u64, waited);
        let mut living = Vec::new();
        for number in processes.iter().copied().filter(|number| *number != self.own) {
            cpu += self.cpu_of(number)?;
            match self.proc.process(number)? {
                Some(process) => {
                    memory += memory_in(&process.status);
                    threads += field(&process.status, "Threads:").max(1);
                    living.push(process);
                }
                // It has ended, or is about to; until its parent takes note it is still one process.
                None => threads += 1,
            }
        }
        if memory > self.limits.memory {
            // One process may end between two others being read, and leave its share to the second: then another look tells.
            memory = self.memory_once(&living)?;
            if memory > self.limits.memory {
                memory = memory.min(self.memory_once(&living)?);
            }
        }
        memory += self.memory.look(&self.proc)?;
        self.most_memory = self.most_memory.max(memory);
        let stop = if memory > self.limits.memory {
            Some(Stop::Memory)
        } else if cpu > self.limits.cpu {
            Some(Stop::Cpu)
        } else if threads > u64::from(self.limits.processes) {
            Some(Stop::Processes)
        } else if self.quota.is_due() {
            self.look_closely(&living, memory)?
        } else {
            None
        };
        // After the work: when a look takes longer than a tick, there is still time for everything else.
        self.seen = Instant::now();
        Ok(stop)
    }

    /// What processes hold, with pages that several of them share counted once, as after a fork. The kernel goes through all
    /// pages for that, so it is asked only where the simple sum is too much.
    fn memory_once(&self, processes: &[Process]) -> Result<u64, Failure> {
        let mut memory = 0;
        for process in processes {
            let path = format!("{}/smaps_rollup", process.folder);
            let sums = match self.proc.open_at(&path, OFlags::RDONLY) {
                Ok(Some(_)) => self.proc.read(&path)?,
                // It has ended meanwhile.
                Ok(None) if self.proc.has_ended(&process.folder) => continue,
                // One that cannot be looked into counts whole. There are no sums of a thread alone.
                Ok(None) | Err(Errno::ACCESS | Errno::PERM) => None,
                Err(error) => return Err(error).during(|| format!("reading /proc/{path}")),
            };
            memory += match sums {
                Some(sums) if sums.contains("Pss_Anon:") => shared_in(&sums, &process.status),
                _ => memory_in(&process.status),
            };
        }
        Ok(memory)
    }

    /// Looks at descriptors and folders, which takes longer.
    fn look_closely(&mut self, processes: &[Process], memory: u64) -> Result<Option<Stop>, Failure> {
        let began = Instant::now();
        let descriptors = Descriptors::of(&self.proc, processes)?;
        let had_closed = std::mem::replace(&mut self.had_closed, descriptors.closed.is_some());
        if let Some(process) = descriptors.closed.filter(|_| had_closed) {
            return Err(rustix::io::Errno::ACCESS)
                .during(|| format!("looking at the descriptors of process {process}"));
        }
        let hidden = self.memory.look_closely(&self.proc, processes, &descriptors, self.limits.memory)?;
        let stop = if memory + hidden > self.limits.memory {
            self.most_memory = self.most_memory.max(memory + hidden);
            Some(Stop::Memory)
        } else {
            self.quota.look(&self.proc, processes, &descriptors)?
        };
        self.quota.looked(began);
        Ok(stop)
    }

    /// The processes of this namespace: all that `/proc` shows.
    pub(crate) fn all(&self) -> Result<Vec<u32>, Failure> {
        self.proc.names(".")
    }

    /// This process's descendants, where there is no namespace that would show exactly the call's own.
    pub(crate) fn descendants(&self) -> Result<Vec<u32>, Failure> {
        self.proc.descendants(self.own)
    }

    /// The processor time of a process and of those of its children that it waited for.
    fn cpu_of(&self, process: u32) -> Result<Duration, Failure> {
        let Some(text) = self.proc.read(&format!("{process}/stat"))? else { return Ok(Duration::ZERO) };
        // The name may hold spaces and parentheses, so counting begins after its last one.
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields = rest.split_whitespace().skip(11).take(4).map(str::parse::<u64>);
        let times = fields.collect::<Result<Vec<_>, _>>().unwrap_or_default();
        if times.len() < 4 {
            return Err(rustix::io::Errno::BADMSG)
                .during(|| format!("reading the processor time of {process}"));
        }
        Ok(Duration::from_millis(times.iter().sum::<u64>() * 1000 / ticks_per_second()))
    }
}

/// What a process alone holds, what it shares in memory, what of it was swapped out, and the tables that say where it
/// lies: those grow by mapping alone, without a byte that is held.
fn memory_in(status: &str) -> u64 {
    ["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"].iter().map(|name| field(status, name)).sum::<u64>() * 1024
}

/// The same of a process's share in pages that it has together with others.
fn shared_in(sums: &str, status: &str) -> u64 {
    let shares = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"].iter().map(|name| field(sums, name)).sum::<u64>();
    (shares + field(status, "VmPTE:")) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_is_held_and_the_tables_for_it() {
        let status = "Name:\tRssAnon: 9\nVmPTE:\t   8 kB\nVmSwap:\t       4 kB\nRssAnon:\t    1000 kB\n";
        assert_eq!(memory_in(status), 1012 * 1024);
        let sums =
            "Rss: 5000 kB\nPss_Anon:             250 kB\nPss_File: 7 kB\nPss_Shmem: 1 kB\nSwapPss: 2 kB\n";
        assert_eq!(shared_in(sums, status), 261 * 1024);
    }
}
