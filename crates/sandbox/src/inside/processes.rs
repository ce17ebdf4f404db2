//! What `/proc` tells of processes. A process that ends while it is read is no error; everything else is.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::failure::During;
use crate::folder::open_base;
use crate::wire::Failure;

/// The longest file that is read: the memory map of a process with as many mappings as the kernel allows.
const MAX_FILE: u64 = 16 << 20;

/// `/proc`, opened once.
#[derive(Debug)]
pub(crate) struct Proc(OwnedFd);

/// A process that holds memory and descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) number: u32,
    /// Its folder below `/proc`. Where its first thread has ended, that thread's folder shows neither memory nor
    /// descriptors, though the others still have both: then it is the folder of another one.
    pub(crate) folder: String,
    pub(crate) status: String,
}

impl Proc {
    pub(crate) fn open() -> Result<Self, Failure> {
        open_base("/proc").during(|| "opening /proc".into()).map(Self)
    }

    /// Opens a file or folder; `None` where the process is gone.
    pub(crate) fn open_at(&self, path: &str, flags: OFlags) -> Result<Option<OwnedFd>, Errno> {
        match openat(&self.0, path, flags | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT | Errno::SRCH) => Ok(None),
            Err(Errno::ACCESS | Errno::PERM) if self.has_ended(path) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the process or thread that a path is about has given up its memory. From then on the kernel shows its files
    /// as root's, though it may still be closing its descriptors.
    pub(crate) fn has_ended(&self, path: &str) -> bool {
        let steps = if path.contains("/task/") { 3 } else { 1 };
        let folder: Vec<&str> = path.split('/').take(steps).collect();
        let status = openat(&self.0, format!("{}/status", folder.join("/")), OFlags::RDONLY, Mode::empty());
        let Ok(file) = status else { return true };
        let mut buffer = [0; 8192];
        rustix::io::read(&file, &mut buffer)
            .is_ok_and(|read| !has_memory(&String::from_utf8_lossy(&buffer[..read])))
    }

    /// The names in a folder; none where the process is gone.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<u32>, Failure> {
        let what = || format!("listing /proc/{path}");
        let Some(folder) = self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY).during(what)? else {
            return Ok(Vec::new());
        };
        let mut numbers = Vec::new();
        for entry in Dir::new(folder).during(what)? {
            match entry {
                Ok(entry) => {
                    let number = entry.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok());
                    numbers.extend(number);
                }
                Err(Errno::NOENT | Errno::SRCH) => break,
                Err(error) => return Err(error).during(what),
            }
        }
        Ok(numbers)
    }

    /// The whole text of a file; `None` where the process is gone.
    pub(crate) fn read(&self, path: &str) -> Result<Option<String>, Failure> {
        let what = || format!("reading /proc/{path}");
        let Some(file) = self.open_at(path, OFlags::RDONLY).during(what)? else { return Ok(None) };
        let mut text = Vec::new();
        match File::from(file).take(MAX_FILE + 1).read_to_end(&mut text) {
            Ok(read) if read as u64 > MAX_FILE => Err(Errno::FBIG).during(what),
            Ok(_) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENOENT)) => Ok(None),
            Err(error) => Err(error).during(what),
        }
    }

    /// A process as it is to be measured; `None` where it holds nothing any more.
    pub(crate) fn process(&self, number: u32) -> Result<Option<Process>, Failure> {
        let folder = number.to_string();
        let Some(status) = self.read(&format!("{folder}/status"))? else { return Ok(None) };
        if has_memory(&status) {
            return Ok(Some(Process { number, folder, status }));
        }
        if field(&status, "Threads:") <= 1 {
            return Ok(None);
        }
        for thread in self.names(&format!("{number}/task"))? {
            let folder = format!("{number}/task/{thread}");
            if let Some(status) = self.read(&format!("{folder}/status"))?
                && has_memory(&status)
            {
                return Ok(Some(Process { number, folder, status }));
            }
        }
        Ok(None)
    }

    /// All children of a process: each of its threads has its own.
    pub(crate) fn children(&self, number: u32) -> Result<Vec<u32>, Failure> {
        let mut children = Vec::new();
        for thread in self.names(&format!("{number}/task"))? {
            if let Some(text) = self.read(&format!("{number}/task/{thread}/children"))? {
                children.extend(text.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
            }
        }
        Ok(children)
    }

    /// All that came from a process and did not leave it.
    pub(crate) fn descendants(&self, number: u32) -> Result<Vec<u32>, Failure> {
        let mut found = self.children(number)?;
        let mut at = 0;
        while let Some(process) = found.get(at).copied() {
            for child in self.children(process)? {
                // A process that changes its parent meanwhile may be met twice.
                if !found.contains(&child) {
                    found.push(child);
                }
            }
            at += 1;
        }
        Ok(found)
    }
}

/// Sends processes the signal that cannot be refused.
pub(crate) fn kill_each(processes: &[u32]) {
    for process in processes {
        if let Some(process) = i32::try_from(*process).ok().and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// Whether a status has numbers about memory. A thread that has ended has none, and a process that is about to.
fn has_memory(status: &str) -> bool {
    status.contains("\nRssAnon:")
}

/// A number of a status or of `meminfo`, or zero where it has none.
pub(crate) fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_a_status() {
        let status = "Name:\tThreads: 9\nVmSwap:\t       4 kB\nRssAnon:\t    1000 kB\nThreads:\t12\n";
        assert_eq!(field(status, "Threads:"), 12);
        assert_eq!(field(status, "RssAnon:"), 1000);
        assert_eq!(field(status, "Missing:"), 0);
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_is_read_through_another() {
        let proc = Proc::open().unwrap();
        // A child of a thread that is not the first one.
        let parent = std::thread::spawn(move || {
            let line = "sleep 60 & wait";
            #[expect(clippy::disallowed_methods, reason = "a test starts a process of its own")]
            let mut child = std::process::Command::new("/bin/sh").args(["-c", line]).spawn().unwrap();
            let found = proc.descendants(std::process::id()).unwrap();
            assert!(found.contains(&child.id()), "{found:?}");
            let process = proc.process(child.id()).unwrap().unwrap();
            assert_eq!(process.folder, child.id().to_string());
            for process in proc.descendants(child.id()).unwrap() {
                kill_each(&[process]);
            }
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(proc.process(child.id()).unwrap(), None);
        });
        parent.join().unwrap();
    }
}
