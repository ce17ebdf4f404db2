//! The process that answers the renames of a call: what the kernel can rename it leaves to the kernel, and it moves folders
//! that an overlay does not rename.
//!
//! Folders are moved one after the other: of two processes that rename the same folder, the second must not find it half
//! moved. Renames of files are answered between the steps of a move.

use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, FileType, fstat, statat};
use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;

use super::folder_move::{Entry, move_folder};
use crate::folder::open_base;
use crate::kernel::{Listener, Replace, Verdict, rename_unnotified};

/// A rename as the supervisor read it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The id of the notice.
    pub(crate) id: u64,
    pub(crate) replace: Replace,
    /// Paths, absolute by now.
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
}

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let replace = u8::from(self.replace == Replace::Yes);
        [&self.id.to_le_bytes()[..], &[replace], &self.from, &[0], &self.to].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (id, rest) = bytes.split_first_chunk::<8>()?;
        let (replace, paths) = rest.split_first()?;
        let zero = paths.iter().position(|byte| *byte == 0)?;
        Some(Self {
            id: u64::from_le_bytes(*id),
            replace: if *replace == 0 { Replace::No } else { Replace::Yes },
            from: paths[..zero].to_vec(),
            to: paths[zero + 1..].to_vec(),
        })
    }
}

/// Answers renames until the supervisor closes the pipe.
pub(crate) struct Renamer<'a> {
    listener: &'a Listener,
    /// The device of the overlay, which all of its folders show.
    device: u64,
    requests: BorrowedFd<'a>,
    /// Folders to be renamed after the one that is being moved.
    waiting: VecDeque<Request>,
}

/// What is in the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Incoming {
    Nothing,
    Request,
    /// The program of the call has ended.
    End,
}

impl<'a> Renamer<'a> {
    pub(crate) fn new(listener: &'a Listener, device: u64, requests: BorrowedFd<'a>) -> Self {
        Self { listener, device, requests, waiting: VecDeque::new() }
    }

    pub(crate) fn serve(mut self) {
        while let Some(request) = self.waiting.pop_front().or_else(|| self.receive()) {
            let Some(rename) = self.resolve(&request) else {
                self.answer(&request, Verdict::Passes);
                continue;
            };
            let renamed = match rename.at_once() {
                // No move begins after the end.
                Err(Errno::XDEV) if self.incoming() == Incoming::End => return,
                Err(Errno::XDEV) => {
                    move_folder(&rename.from, &rename.to, rename.replace, &mut || self.answer_files())
                }
                done => done,
            };
            let verdict =
                renamed.map_or_else(|error| Verdict::Fails(error.raw_os_error()), |()| Verdict::Succeeds);
            self.answer(&request, verdict);
        }
    }

    /// Lets pass what is no rename of a folder; the others wait.
    fn answer_files(&mut self) {
        while self.incoming() == Incoming::Request
            && let Some(request) = self.receive()
        {
            if self.resolve(&request).is_some() {
                self.waiting.push_back(request);
            } else {
                self.answer(&request, Verdict::Passes);
            }
        }
    }

    fn incoming(&self) -> Incoming {
        let mut pipe = [PollFd::from_borrowed_fd(self.requests, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut pipe, Some(&at_once)) {
            Ok(0) | Err(_) => Incoming::Nothing,
            Ok(_) if pipe[0].revents().contains(PollFlags::HUP) => Incoming::End,
            Ok(_) => Incoming::Request,
        }
    }

    /// Waits for a request; `None` at the end.
    fn receive(&self) -> Option<Request> {
        let mut packet = [0; PIPE_BUF];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(self.requests, &mut packet)).ok()?;
        Request::decode(&packet[..read])
    }

    fn answer(&self, request: &Request, verdict: Verdict) {
        self.listener.answer(request.id, verdict);
    }

    /// What is renamed; `None` where it is not a folder of the overlay.
    fn resolve(&self, request: &Request) -> Option<Rename> {
        let Request { from, to, replace, .. } = request;
        if is_own(from) || is_own(to) {
            return None;
        }
        // Most renames are of files: for them one look has to be enough.
        let found = statat(CWD, OsStr::from_bytes(trimmed(from)), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory || found.st_dev != self.device {
            return None;
        }
        let rename = Rename { from: entry(from)?, to: entry(to)?, replace: *replace };
        // Both have to lie in the overlay. A path can lead through descriptors of this process, which are closed to the script
        // (`/proc/1/fd`), and none of these is of the overlay.
        let is_inside = |entry: &Entry| fstat(&entry.folder).is_ok_and(|stat| stat.st_dev == self.device);
        // The paths led through the process by its number, which is its own as long as it waits.
        let is_right =
            is_inside(&rename.from) && is_inside(&rename.to) && self.listener.is_waiting(request.id);
        is_right.then_some(rename)
    }
}

/// A folder with its old and its new name.
struct Rename {
    from: Entry,
    to: Entry,
    replace: Replace,
}

impl Rename {
    /// Has the kernel do it: it knows all errors, and can move what the call itself made.
    fn at_once(&self) -> Result<(), Errno> {
        let Self { from, to, replace } = self;
        rename_unnotified((from.folder.as_fd(), &from.name), (to.folder.as_fd(), &to.name), *replace)
    }
}

/// Whether a path means something else to this process than to the one that named it: `/dev/fd`, `/proc/self`.
fn is_own(path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let parts: Vec<&OsStr> = path.iter().collect();
    let names_self = |pair: &[&OsStr]| pair[0] == "proc" && (pair[1] == "self" || pair[1] == "thread-self");
    path.starts_with("/dev") || parts.windows(2).any(names_self)
}

/// A path without the slashes at its end, which a folder may have.
fn trimmed(path: &[u8]) -> &[u8] {
    let length = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    &path[..length]
}

/// Opens the folder in which a path lies.
fn entry(path: &[u8]) -> Option<Entry> {
    let path = trimmed(path);
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let (folder, name) = (&path[..=slash], &path[slash + 1..]);
    if matches!(name, b"" | b"." | b"..") {
        return None;
    }
    Some(Entry { folder: open_base(folder).ok()?, name: CString::new(name).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let request = Request {
            id: u64::MAX - 1,
            replace: Replace::No,
            from: b"/proc/7/cwd/a\xff".to_vec(),
            to: b"/b//".to_vec(),
        };
        assert_eq!(Request::decode(&request.encode()), Some(request));
        assert_eq!(Request::decode(b"short"), None);
    }

    #[test]
    fn paths_that_mean_this_process_are_known() {
        for path in
            ["/proc/self/cwd/a", "//proc/./thread-self/fd/3/a", "/dev/fd/3/a", "/proc/7/cwd/proc/self/a"]
        {
            assert!(is_own(path.as_bytes()), "{path}");
        }
        for path in ["/proc/7/cwd/a", "/home/dev/self", "/x/proc/a/self"] {
            assert!(!is_own(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn only_a_name_in_a_folder_can_be_renamed() {
        let name = |path: &str| entry(path.as_bytes()).map(|entry| entry.name.into_string().unwrap());
        assert_eq!(name("/usr/bin//").as_deref(), Some("bin"));
        assert_eq!(name("/usr").as_deref(), Some("usr"));
        for path in ["/", "/usr/.", "/usr/..", "/missing/a", "", "a"] {
            assert_eq!(name(path), None, "{path}");
        }
    }
}
