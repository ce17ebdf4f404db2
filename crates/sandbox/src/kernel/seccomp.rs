//! System call filters, and the word about what they denied.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Installs a filter for this process and all that come from it, and gives back where its notices arrive.
pub(crate) fn install(program: &[libc::sock_filter], signals: Signals) -> io::Result<Listener> {
    let plain = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let descriptor = match signals {
        Signals::Interrupt => load(program, plain),
        Signals::Wait => match load(program, plain | WAIT_KILLABLE) {
            // Kernels before 5.19 do not know the flag.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => load(program, plain),
            loaded => loaded,
        },
    }?;
    // SAFETY: with this flag a success is a new descriptor, which nobody else has.
    Ok(Listener(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

/// Installs a filter that tells nobody.
pub(crate) fn install_silent(program: &[libc::sock_filter]) -> io::Result<()> {
    load(program, 0).map(drop)
}

fn load(program: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<libc::c_int> {
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| io::Error::other("filter too long"))?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program lives through the call, which copies and checks it; it is not written to.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, std::ptr::from_ref(&program))
    };
    match i32::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What a signal does to a process that waits for an answer of the listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signals {
    /// It ends the wait, and the kernel may make the call a second time.
    Interrupt,
    /// It arrives after the answer, unless it ends the process: for calls that the listener makes itself, which must not
    /// happen twice.
    Wait,
}

/// `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const CONTINUE: u32 = 1;

/// Where the kernel tells what a filter did not let through. Whoever made the call waits for an answer.
#[derive(Debug)]
pub(crate) struct Listener(OwnedFd);

/// A system call that was not let through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub(crate) id: u64,
    /// Who made it, by the number that it has for whoever listens.
    pub(crate) process: u32,
    pub(crate) call: i32,
    pub(crate) arguments: [u64; 6],
}

/// What becomes of such a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It fails with this error.
    Fails(i32),
    /// It is made after all. Whoever made it may have changed by now what its arguments mean, so this is only for calls
    /// that do no harm with any.
    Passes,
    /// It has been made by the listener.
    Succeeds,
}

impl Listener {
    /// Takes one notice. The process that made the call waits until it is answered.
    pub(crate) fn receive(&self) -> io::Result<Notice> {
        let mut request = MaybeUninit::<libc::seccomp_notif>::zeroed();
        // SAFETY: the kernel demands a zeroed request and fills it in; all zeroes is a value of it.
        let request = unsafe {
            if libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, request.as_mut_ptr()) < 0 {
                return Err(io::Error::last_os_error());
            }
            request.assume_init()
        };
        let libc::seccomp_data { nr, args, .. } = request.data;
        Ok(Notice { id: request.id, process: request.pid, call: nr, arguments: args })
    }

    /// Answers the notice with this id.
    pub(crate) fn answer(&self, id: u64, verdict: Verdict) {
        let (error, flags) = match verdict {
            Verdict::Fails(errno) => (-errno, 0),
            Verdict::Passes => (0, CONTINUE),
            Verdict::Succeeds => (0, 0),
        };
        let mut answer = libc::seccomp_notif_resp { id, val: 0, error, flags };
        // SAFETY: the answer is ours and lives through the call. That the process has died since is no error of ours.
        unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut answer));
        }
    }

    /// Whether the process that made the call with this id still waits. What was read of it before by its number is its own then, and
    /// not that of another process which got the number since.
    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        // SAFETY: the id is ours, lives through the call, and is only read.
        unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, std::ptr::from_ref(&id)) == 0
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
