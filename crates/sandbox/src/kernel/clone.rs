//! Processes in namespaces of their own.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::process::Pid;

/// Which namespaces a new process gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// Those of this process.
    Same,
    /// Its own mounts and processes: enough for root to build a root.
    ByRoot,
    /// And its own users, without whom nobody else can build one.
    Building,
    /// All of its own but users and the names of control groups: both come later, once it has mounted what it needs its
    /// rights among the present users for.
    AllButUsers,
    /// All of its own but for the names of control groups, which it hides itself once it is in its own one
    /// ([`hide_groups`]): else the path to that one would show.
    All,
}

impl Namespaces {
    #[expect(clippy::cast_sign_loss, reason = "the flags are bits, and the kernel takes them as unsigned")]
    const fn flags(self) -> u64 {
        let by_root = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        let building = by_root | libc::CLONE_NEWUSER;
        let flags = match self {
            Self::Same => 0,
            Self::ByRoot => by_root,
            Self::Building => building,
            Self::AllButUsers => by_root | REST,
            Self::All => building | REST,
        };
        flags as u32 as u64
    }
}

/// What a process that can build a root still shares with others.
const REST: libc::c_int = libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// Gives a process that has the namespaces for building a root the rest of them, but for users. Making a network takes
/// longer than all others together, so it is better done by a process that nobody waits for.
pub(crate) fn leave_the_rest() -> io::Result<()> {
    leave(REST | libc::CLONE_NEWCGROUP)
}

/// Gives this process users of its own. It has every right among them, and to nothing that was made before.
pub(crate) fn leave_users() -> io::Result<()> {
    leave(libc::CLONE_NEWUSER)
}

/// Gives this process mounts of its own, a copy of those it has.
pub(crate) fn leave_mounts() -> io::Result<()> {
    leave(libc::CLONE_NEWNS)
}

/// From now on the control group that this process is in looks to it like the topmost one.
pub(crate) fn hide_groups() -> io::Result<()> {
    leave(libc::CLONE_NEWCGROUP)
}

/// Leaves the namespaces of these flags for new ones.
fn leave(namespaces: libc::c_int) -> io::Result<()> {
    // SAFETY: the flags above unshare neither memory nor descriptors. They change who this process is to others and what paths
    // and names mean to it, and nothing of this program's own values.
    done(unsafe { libc::unshare(namespaces) })
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Which of the two processes this is.
#[derive(Debug)]
pub(crate) enum Forked {
    /// The one that was there before.
    Parent { child: Pid },
    /// The new one.
    Child,
}

/// `CLONE_INTO_CGROUP`. The bindings have it in a type that is too small for it.
const INTO_GROUP: u64 = 0x2_0000_0000;

/// Makes a copy of this process in new namespaces, and in a control group where one is given (its folder, opened). Born
/// there it costs nothing; moved there later it would wait until every processor of the machine has taken note.
///
/// Only a process with a single thread may do this: the locks of other threads would stay locked in the copy. This is
/// checked, since a library cannot know who calls it.
pub(crate) fn fork_into(namespaces: Namespaces, group: Option<BorrowedFd<'_>>) -> io::Result<Forked> {
    check_alone()?;
    let mut arguments = libc::clone_args {
        flags: namespaces.flags() | if group.is_some() { INTO_GROUP } else { 0 },
        pidfd: 0,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: libc::SIGCHLD as u64,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: group.map_or(0, |group| u64::try_from(group.as_raw_fd()).unwrap_or(0)),
    };
    // SAFETY: the arguments live through the call, and without CLONE_VM the child runs on a copy of this stack, as after
    // `fork`. This thread is the only one, so nothing in the copy is half done.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, std::ptr::from_mut(&mut arguments), size_of::<libc::clone_args>())
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            end_on_panic();
            Ok(Forked::Child)
        }
        pid => {
            let child = i32::try_from(pid)
                .ok()
                .and_then(Pid::from_raw)
                .ok_or_else(|| io::Error::other("the kernel gave a process number that is none"))?;
            Ok(Forked::Parent { child })
        }
    }
}

/// Makes a user namespace, has `map` give it its map by the number of the process in it, and gives it back.
///
/// The process that the namespace needs shares the memory of this one and does nothing but wait, so that making it does
/// not copy a thing.
pub(crate) fn user_namespace(map: impl FnOnce(Pid) -> io::Result<OwnedFd>) -> io::Result<OwnedFd> {
    /// Reads from the first pipe whose number it is given until its other end is closed, of which it has a copy itself.
    extern "C" fn wait(ends: *mut libc::c_void) -> libc::c_int {
        let mut byte = 0_u8;
        // SAFETY: the ends are alive until this process is waited for, or the process that made it is gone; then the memory
        // is this one's alone. It reads into its own stack, from a descriptor of its own. It calls nothing that could take
        // a lock or touch `errno` in a way that matters: the other side does not look at it meanwhile.
        unsafe {
            let [hold, release] = *ends.cast::<[libc::c_long; 2]>();
            libc::syscall(libc::SYS_close, release);
            libc::syscall(libc::SYS_read, hold, &raw mut byte, 1);
            libc::syscall(libc::SYS_exit, 0);
        }
        0
    }
    let (hold, release) = io::pipe()?;
    let mut stack = vec![0_u64; 1024];
    let mut ends = [&hold as &dyn AsRawFd, &release].map(|end| libc::c_long::from(end.as_raw_fd()));
    // SAFETY: the stack and the ends are only this child's and outlive it, since it is waited for below; stacks grow down,
    // so its end is its beginning. Descriptors are copied (no CLONE_FILES): once it has closed its copy of the end that
    // writes, it ends with this process, however that comes about.
    let pid = unsafe {
        libc::clone(
            wait,
            stack.as_mut_ptr().add(stack.len()).cast(),
            libc::CLONE_VM | libc::CLONE_NEWUSER | libc::SIGCHLD,
            (&raw mut ends).cast(),
        )
    };
    let Some(child) = Pid::from_raw(pid.max(0)) else { return Err(io::Error::last_os_error()) };
    let mapped = map(child);
    // Both end it; the signal also before it has come as far as reading.
    drop(release);
    let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
    let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    mapped
}

/// Makes a copy of this process in the same namespaces, by the older call: a filter may deny the newer one. `None` is the
/// copy.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    check_alone()?;
    // SAFETY: this thread is the only one, so nothing in the copy is half done.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            end_on_panic();
            Ok(None)
        }
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// The status of a copy that panicked: that of a process that aborts, as shells show it.
const PANICKED: i32 = 134;

/// Ends a copy of this process when it panics. Unwinding would run destructors of the program that it is a copy of, which remove that
/// program's files, and could return into its code.
fn end_on_panic() {
    std::panic::set_hook(Box::new(|_| end(PANICKED)));
}

/// Refuses a process that has more than one thread. Its count of links is asked for, since that needs no listing: two for
/// every folder, and one for each thread.
fn check_alone() -> io::Result<()> {
    match rustix::fs::stat("/proc/self/task") {
        Ok(stat) if stat.st_nlink == 3 => Ok(()),
        Ok(_) => Err(io::Error::other("a process with several threads cannot be copied safely")),
        // Inside a room there may be no /proc, and the room's own code starts no thread.
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends this process at once, without running what the copied program meant to run at its end.
pub(crate) fn end(status: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Whether others of the same user may look into this process, which also decides who owns its files below `/proc`.
pub(crate) fn set_dumpable(dumpable: bool) -> io::Result<()> {
    // SAFETY: this call takes plain numbers.
    done(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(dumpable), 0, 0, 0) })
}
