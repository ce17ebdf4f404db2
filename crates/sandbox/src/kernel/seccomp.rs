//! System call filters, and the word about what they denied.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Installs a filter for this process and all that come from it, and gives back where its notices arrive.
pub(crate) fn install(program: &[libc::sock_filter]) -> io::Result<Listener> {
    let descriptor = load(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
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

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const CONTINUE: u32 = 1;

/// Where the kernel tells what a filter did not let through. Whoever made the call waits for an answer.
#[derive(Debug)]
pub(crate) struct Listener(OwnedFd);

/// A system call that was not let through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
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
}

impl Listener {
    /// Takes one notice and answers it.
    pub(crate) fn answer_next(
        &self,
        judge: impl FnOnce(&Notice) -> Verdict,
    ) -> io::Result<(Notice, Verdict)> {
        let mut request = MaybeUninit::<libc::seccomp_notif>::zeroed();
        // SAFETY: the kernel demands a zeroed request and fills it in; all zeroes is a value of it.
        let request = unsafe {
            if libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, request.as_mut_ptr()) < 0 {
                return Err(io::Error::last_os_error());
            }
            request.assume_init()
        };
        let notice = Notice { process: request.pid, call: request.data.nr, arguments: request.data.args };
        let verdict = judge(&notice);
        let (error, flags) = match verdict {
            Verdict::Fails(errno) => (-errno, 0),
            Verdict::Passes => (0, CONTINUE),
        };
        let mut answer = libc::seccomp_notif_resp { id: request.id, val: 0, error, flags };
        // SAFETY: the answer is ours and lives through the call. That the process has died since is no error of ours.
        unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut answer));
        }
        Ok((notice, verdict))
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
