//! Children that end.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use rustix::process::Pid;

use crate::report::Ended;

/// A child that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    pub(crate) pid: Pid,
    pub(crate) ended: Ended,
    /// Processor time of it and of all its children that it waited for.
    pub(crate) cpu: Duration,
    /// The most memory that it, or one of those, held, in bytes.
    pub(crate) memory: u64,
}

/// Takes one ended child, if there is one; with `wait`, waits for one. `None` when there is nothing to take.
pub(crate) fn reap(wait: Wait) -> Option<Reaped> {
    let options = match wait {
        Wait::No => libc::WNOHANG,
        Wait::Yes => 0,
    };
    loop {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both out-parameters are ours and large enough; `__WALL` takes children of every kind.
        let pid = unsafe { libc::wait4(-1, &raw mut status, options | libc::__WALL, usage.as_mut_ptr()) };
        if pid < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        let pid = Pid::from_raw(pid.max(0))?;
        // SAFETY: the kernel filled it in, and all zeroes is a value of it, too.
        let usage = unsafe { usage.assume_init() };
        let ended = if libc::WIFSIGNALED(status) {
            Ended::Signaled(libc::WTERMSIG(status))
        } else {
            Ended::Exited(libc::WEXITSTATUS(status))
        };
        let cpu = duration(usage.ru_utime) + duration(usage.ru_stime);
        let memory = u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024;
        return Some(Reaped { pid, ended, cpu, memory });
    }
}

/// Whether to wait until there is something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    No,
    Yes,
}

/// In how many parts a second is cut where the kernel tells processor time in such parts.
///
/// The C library knows it from the start of the program. Other ways look it up when they are asked, in a place that a process
/// cannot open any more once it is closed to others, and kernels before 6.4 have no second place.
pub(crate) fn ticks_per_second() -> u64 {
    // SAFETY: this call takes a plain number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).unwrap_or(0).max(1)
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// Children of this process that end are not waited for, and leave nothing behind.
pub(crate) fn ignore_children() {
    // SAFETY: ignoring a signal has no preconditions.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
    }
}

/// Ends every process that this one can see but itself: for the first process of a namespace, that is all of it.
pub(crate) fn kill_all() {
    // SAFETY: this call takes plain numbers. As the first process of a namespace it reaches nobody outside; who calls it
    // made sure of that.
    unsafe {
        libc::kill(-1, libc::SIGKILL);
    }
}

/// A descriptor that becomes readable when a child has ended.
#[derive(Debug)]
pub(crate) struct SignalQueue(OwnedFd);

impl SignalQueue {
    /// From now on the end of a child is no longer delivered as a signal, but here.
    pub(crate) fn for_children() -> io::Result<Self> {
        // SAFETY: the set is initialised before use, and the descriptor is new.
        unsafe {
            let mut set = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            if libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) < 0 {
                return Err(io::Error::last_os_error());
            }
            match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => Err(io::Error::last_os_error()),
                descriptor => Ok(Self(OwnedFd::from_raw_fd(descriptor))),
            }
        }
    }

    /// Forgets what has come, so that only what comes next is seen.
    pub(crate) fn clear(&self) {
        let mut buffer = [0; 512];
        while rustix::io::read(&self.0, &mut buffer).is_ok_and(|read| read > 0) {}
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
