//! Renames in a layered project, as the supervisor of the call is told of them.
//!
//! An overlay answers the rename of a folder that a lower layer has with `EXDEV`. Many programs do not expect that within
//! one folder, so a child of the supervisor moves such folders ([`Renamer`]). The supervisor itself follows no path of the
//! script's: a folder can be locked for as long as the kernel copies a large file in it, and meanwhile no limit would hold.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, fcntl_setfl, openat, stat};
use rustix::pipe::{PIPE_BUF, PipeFlags, pipe_with};
use rustix::process::Pid;

use super::bpf::{Action, Check};
use super::failure::During;
use super::renamer::{Renamer, Request};
use crate::kernel::{Listener, Notice, Reaped, Replace, Verdict, end, fork};
use crate::wire::Failure;

/// How many renames the supervisor remembers before it looks which of them wait no more.
const MAX_SENT: usize = 1024;

/// The calls that the supervisor is told of where the project is layered: all renames, except those that exchange two
/// files and those that the supervisor's child marks as its own.
pub(crate) fn actions() -> Vec<(libc::c_long, Action)> {
    let exchanges = Check::Not { argument: 4, mask: !libc::RENAME_NOREPLACE, values: vec![0] };
    let marked = Check::Marked { argument: 4 };
    let mut actions = vec![
        (libc::SYS_renameat, Action::Deny),
        (libc::SYS_renameat2, Action::WhenAny(vec![vec![exchanges], vec![marked]])),
    ];
    #[cfg(target_arch = "x86_64")]
    actions.push((libc::SYS_rename, Action::Deny));
    actions
}

/// Hands the renames of one call to the process that answers them.
#[derive(Debug)]
pub(crate) struct Renames {
    /// The device of the overlay, which all of its folders show.
    device: u64,
    /// The process that answers, and the way to it: made with the first rename, since most calls have none.
    renamer: Option<(Pid, OwnedFd)>,
    /// What it was given, and may not have answered yet.
    sent: VecDeque<Notice>,
    /// The process while it finishes, once the program of the call has ended.
    last: Option<Pid>,
    is_closed: bool,
}

impl Renames {
    /// For the overlay that is mounted here.
    pub(crate) fn new(at: &Path) -> Result<Self, Failure> {
        let device = stat(at).during(|| format!("looking at {}", at.display()))?.st_dev;
        Ok(Self { device, renamer: None, sent: VecDeque::new(), last: None, is_closed: false })
    }

    pub(crate) fn are_about(notice: &Notice) -> bool {
        Arguments::of(notice).is_some()
    }

    /// The process that answers, while there is one.
    pub(crate) fn renamer(&self) -> Option<Pid> {
        self.renamer.as_ref().map(|(child, _)| *child).or(self.last)
    }

    /// Begins no other move. Processes that wait for one end with the call.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        if let Some((child, _)) = self.renamer.take() {
            self.last = Some(child);
        }
    }

    /// Has a rename answered.
    pub(crate) fn take(&mut self, listener: &Listener, notice: Notice) {
        if !self.is_closed && self.hand_over(listener, &notice).is_some() {
            self.sent.push_back(notice);
            if self.sent.len() > MAX_SENT {
                self.sent.retain(|notice| listener.is_waiting(notice.id));
            }
        } else {
            // To let a rename pass is no decision about rights: the kernel checks it as if there were no filter. So whatever
            // the process makes of its arguments meanwhile, it gains nothing.
            listener.answer(notice.id, Verdict::Passes);
        }
    }

    /// `None` where it cannot be read, or the renamer cannot take it.
    fn hand_over(&mut self, listener: &Listener, notice: &Notice) -> Option<()> {
        let request = read(notice)?.encode();
        // What was read belongs to this call only if the process still waits: else its number may be another's by now.
        if request.len() > PIPE_BUF || !listener.is_waiting(notice.id) {
            return None;
        }
        let (_, way) = match &mut self.renamer {
            Some(renamer) => renamer,
            none => none.insert(start(listener, self.device)?),
        };
        // A packet is written as a whole or not at all, and a full pipe does not stop the supervisor.
        rustix::io::write(&*way, &request).ok().map(drop)
    }

    /// Answers what the renamer did not, once it has ended: the script can end it, like every process of its own.
    pub(crate) fn child_ended(&mut self, listener: &Listener, reaped: &Reaped) {
        if self.renamer() != Some(reaped.pid) {
            return;
        }
        (self.renamer, self.last) = (None, None);
        for notice in self.sent.drain(..) {
            listener.answer(notice.id, Verdict::Fails(libc::EIO));
        }
    }
}

/// Makes the process that answers renames. It has exactly the rights of the script, as the supervisor has.
fn start(listener: &Listener, device: u64) -> Option<(Pid, OwnedFd)> {
    let (requests, way) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::DIRECT).ok()?;
    fcntl_setfl(&way, OFlags::NONBLOCK | OFlags::DIRECT).ok()?;
    // Where the call has as many processes as it may have there is none, and a rename gets what the kernel says.
    if let Some(child) = fork().ok()? {
        return Some((child, way));
    }
    drop(way);
    Renamer::new(listener, device, requests.as_fd()).serve();
    end(0)
}

/// What a rename was given: descriptors of folders, and addresses of paths.
struct Arguments {
    from: (u64, u64),
    to: (u64, u64),
    replace: Replace,
}

impl Arguments {
    fn of(notice: &Notice) -> Option<Self> {
        let [first, second, third, fourth, fifth, _] = notice.arguments;
        #[cfg(target_arch = "x86_64")]
        if i64::from(notice.call) == libc::SYS_rename {
            let here = |path: u64| (u64::from(libc::AT_FDCWD.cast_unsigned()), path);
            return Some(Self { from: here(first), to: here(second), replace: Replace::Yes });
        }
        let replace = match i64::from(notice.call) {
            libc::SYS_renameat2 if fifth & u64::from(libc::RENAME_NOREPLACE) != 0 => Replace::No,
            libc::SYS_renameat | libc::SYS_renameat2 => Replace::Yes,
            _ => return None,
        };
        Some(Self { from: (first, second), to: (third, fourth), replace })
    }
}

/// Reads the paths in the memory of the process. Only the supervisor can: all processes of the call come from it, which
/// the kernel may demand of one that reads another.
fn read(notice: &Notice) -> Option<Request> {
    let Arguments { from, to, replace } = Arguments::of(notice)?;
    let memory = format!("/proc/{}/mem", notice.process);
    let memory = openat(CWD, memory, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let from = base(notice.process, from.0, text(&memory, from.1)?)?;
    let to = base(notice.process, to.0, text(&memory, to.1)?)?;
    Some(Request { id: notice.id, replace, from, to })
}

/// A path as the supervisor and its children reach it.
fn base(process: u32, folder: u64, path: Vec<u8>) -> Option<Vec<u8>> {
    if path.is_empty() || path.starts_with(b"/") {
        return (!path.is_empty()).then_some(path);
    }
    // The kernel reads a descriptor as 32 bits.
    let folder = folder & 0xffff_ffff;
    let mut reached = if folder == u64::from(libc::AT_FDCWD.cast_unsigned()) {
        format!("/proc/{process}/cwd/")
    } else {
        format!("/proc/{process}/fd/{folder}/")
    }
    .into_bytes();
    reached.extend(path);
    Some(reached)
}

/// The text at an address, up to its zero.
fn text(memory: &OwnedFd, address: u64) -> Option<Vec<u8>> {
    // Together both paths have to fit into one packet.
    let mut text = vec![0; PIPE_BUF];
    let read = rustix::io::pread(memory, &mut text, address).ok()?;
    let length = text[..read].iter().position(|byte| *byte == 0)?;
    text.truncate(length);
    Some(text)
}
