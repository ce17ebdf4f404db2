//! The open descriptors of a call's processes.

use std::collections::BTreeSet;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, readlinkat, statat};
use rustix::io::Errno;

use super::failure::During;
use super::processes::{Proc, Process};
use crate::wire::Failure;

/// How many descriptors are looked at in one go. Several hundred processes with a full table of them would be needed to
/// have more, and that is nothing that a script does.
const MAX_DESCRIPTORS: usize = 100_000;

/// What the descriptors of a call are.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    /// Files and folders without a name: they take their room until the last descriptor is closed.
    pub(crate) nameless: Vec<Nameless>,
    /// How many pipes there are.
    pub(crate) pipes: u64,
    /// How many sockets there are.
    pub(crate) sockets: u64,
    /// How many descriptors wait in these sockets to be received.
    pub(crate) in_flight: u64,
    /// How many watches for changes of files.
    pub(crate) watches: u64,
    /// How many others there are that the kernel keeps something for.
    pub(crate) others: u64,
    /// A process whose descriptors cannot be looked at, such as one whose program may be executed and not read.
    pub(crate) closed: Option<u32>,
}

/// A file that was removed and is still open.
#[derive(Debug)]
pub(crate) struct Nameless {
    pub(crate) identity: (u64, u64),
    pub(crate) path: Vec<u8>,
    pub(crate) bytes: u64,
}

impl Descriptors {
    /// Looks at all of them. A process has one table, which its threads share: the filter sees to that.
    pub(crate) fn of(proc: &Proc, processes: &[Process]) -> Result<Self, Failure> {
        let (mut found, mut seen, mut count) = (Self::default(), BTreeSet::new(), 0);
        for process in processes {
            let table = format!("{}/fd", process.folder);
            let what = || format!("looking at the descriptors of process {}", process.number);
            // It ends, or it became closed after its table was opened.
            let closed = || (!proc.has_ended(&process.folder)).then_some(process.number);
            let folder = match proc.open_at(&table, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(Some(folder)) => folder,
                Ok(None) => continue,
                Err(Errno::ACCESS | Errno::PERM) => {
                    found.closed = Some(process.number);
                    continue;
                }
                Err(error) => return Err(error).during(what),
            };
            for entry in Dir::read_from(&folder).during(what)? {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(Errno::NOENT | Errno::SRCH) => break,
                    Err(Errno::ACCESS | Errno::PERM) => {
                        found.closed = closed().or(found.closed);
                        break;
                    }
                    Err(error) => return Err(error).during(what),
                };
                count += 1;
                if count > MAX_DESCRIPTORS {
                    return Err(Errno::NFILE).during(|| "counting the call's descriptors".into());
                }
                let name = entry.file_name();
                if name.to_bytes().starts_with(b".") {
                    continue;
                }
                // Through the link to the file itself, which opens nothing.
                let stat = match statat(&folder, name, AtFlags::empty()) {
                    Ok(stat) => stat,
                    Err(Errno::NOENT | Errno::SRCH) => continue,
                    Err(Errno::ACCESS | Errno::PERM) => {
                        found.closed = closed().or(found.closed);
                        break;
                    }
                    Err(error) => return Err(error).during(what),
                };
                let identity = (stat.st_dev, stat.st_ino);
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Fifo => found.pipes += u64::from(seen.insert(identity)),
                    FileType::Socket if seen.insert(identity) => {
                        found.sockets += 1;
                        let number = name.to_string_lossy();
                        found.in_flight += in_flight(proc, &process.folder, &number)?;
                    }
                    FileType::Unknown => match readlinkat(&folder, name, Vec::new()) {
                        Ok(kind) if kind.to_bytes() == b"anon_inode:inotify" => found.watches += 1,
                        _ => found.others += 1,
                    },
                    _ if stat.st_nlink == 0 && seen.insert(identity) => found.nameless.push(Nameless {
                        identity,
                        path: readlinkat(&folder, name, Vec::new()).unwrap_or_default().into_bytes(),
                        bytes: u64::try_from(stat.st_blocks).unwrap_or(0) * 512,
                    }),
                    _ => {}
                }
            }
        }
        Ok(found)
    }
}

/// How many descriptors wait in a socket.
fn in_flight(proc: &Proc, process: &str, descriptor: &str) -> Result<u64, Failure> {
    let text = proc.read(&format!("{process}/fdinfo/{descriptor}"))?.unwrap_or_default();
    Ok(super::processes::field(&text, "scm_fds:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_counted_by_what_they_are() {
        let proc = Proc::open().unwrap();
        let own = proc.process(std::process::id()).unwrap().unwrap();
        let count = || {
            let found = Descriptors::of(&proc, std::slice::from_ref(&own)).unwrap();
            (found.pipes, found.sockets)
        };
        // Other tests of this program open descriptors at the same time.
        let before = count();
        let pipes: Vec<_> = (0..100).map(|_| std::io::pipe().unwrap()).collect();
        let sockets: Vec<_> = (0..100).map(|_| std::os::unix::net::UnixStream::pair().unwrap()).collect();
        let after = count();
        assert!(after.0 >= before.0 + 80 && after.1 >= before.1 + 180, "{before:?} {after:?}");
        drop((pipes, sockets));
    }
}
