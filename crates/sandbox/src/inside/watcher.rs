//! Sums up what the processes of a call use, several times a second: the kernel's limits hold for each process alone.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};

use crate::profile::Limits;
use crate::report::Stop;

/// How often memory is looked at. In that time one process can fill some tens of megabytes.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// How often the data folder is looked at, since that means walking through it.
const DATA_TICK: Duration = Duration::from_millis(250);

/// How many files of a data folder are counted. More than these are as bad as too many bytes.
const MOST_DATA_FILES: u32 = 50_000;

/// What the processes of a call use, now and at most.
#[derive(Debug)]
pub(crate) struct Watcher {
    limits: Limits,
    data: Option<PathBuf>,
    proc: Option<OwnedFd>,
    /// The one that watches, which is not counted.
    own: u32,
    data_seen: Option<Instant>,
    pub(crate) most_memory: u64,
}

impl Watcher {
    pub(crate) fn new(limits: Limits, data: Option<PathBuf>) -> Self {
        let proc =
            openat(CWD, "/proc", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
        let own = u32::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap_or(0);
        Self { limits, data, proc, own, data_seen: None, most_memory: 0 }
    }

    /// Looks once. `waited` is the processor time of those that have ended.
    pub(crate) fn look(&mut self, processes: &[u32], waited: Duration) -> Option<Stop> {
        let (mut memory, mut cpu) = (0, waited);
        for process in processes.iter().filter(|process| **process != self.own) {
            memory += self.memory_of(*process);
            cpu += self.cpu_of(*process);
        }
        self.most_memory = self.most_memory.max(memory);
        if memory > self.limits.memory {
            return Some(Stop::Memory);
        }
        if cpu > self.limits.cpu {
            return Some(Stop::Cpu);
        }
        let due = self.data_seen.is_none_or(|seen| seen.elapsed() >= DATA_TICK);
        if due && let Some(data) = &self.data {
            self.data_seen = Some(Instant::now());
            if used(data) > self.limits.data {
                return Some(Stop::Data);
            }
        }
        None
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

    /// What a process alone holds, what it shares in memory, and what of it was swapped out.
    fn memory_of(&self, process: u32) -> u64 {
        let text = self.read(process, "status");
        let kilobytes = |name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
        };
        (kilobytes("RssAnon:") + kilobytes("RssShmem:") + kilobytes("VmSwap:")) * 1024
    }

    /// The processor time of a process and of those of its children that it waited for.
    fn cpu_of(&self, process: u32) -> Duration {
        let text = self.read(process, "stat");
        // The name may hold blanks and parentheses, so counting begins after its last one.
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks: u64 =
            rest.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
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

/// How much a folder holds, in bytes on disk.
fn used(folder: &std::path::Path) -> u64 {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Ok(folder) = openat(CWD, folder, flags, Mode::empty()) else { return 0 };
    let (mut bytes, mut left) = (0, MOST_DATA_FILES);
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        let Ok(entries) = Dir::read_from(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return u64::MAX,
            };
            let Ok(stat) = rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory
                && let Ok(inner) = openat(folder.as_fd(), name, flags, Mode::empty())
            {
                open.push(inner);
            }
        }
    }
    bytes
}
