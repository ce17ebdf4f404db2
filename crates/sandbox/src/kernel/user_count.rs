//! Whether a user has processes.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

use super::clone::set_dumpable;

/// What the child is asked, and its answer.
struct Question {
    user: u32,
    /// The error number of the attempt to start a program, or below zero of what came before.
    answer: AtomicI32,
}

/// Whether a process of this user runs, in any process namespace. Only root can ask.
///
/// The kernel keeps a count for each user and compares it with the limit of processes when a process becomes that user. So a
/// child with the limit zero becomes the user and tries to start a program: it is refused with `EAGAIN` if the user had a
/// process before. That costs the same on a machine with many processes; a scan of `/proc` does not.
pub(crate) fn has_processes(user: u32) -> io::Result<bool> {
    /// Runs in the child. It shares the memory of its parent, which waits meanwhile, and only makes system calls.
    extern "C" fn ask(question: *mut libc::c_void) -> libc::c_int {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the question outlives the child, since the parent waits in the call that made it. The texts and the limit
        // live through their calls. A failed call writes `errno`, which the parent reads only after its own next call.
        unsafe {
            let question = &*question.cast::<Question>();
            let user = libc::c_long::from(question.user);
            let failed = libc::syscall(libc::SYS_prlimit64, 0, libc::RLIMIT_NPROC, &raw const none, 0) < 0
                || libc::syscall(libc::SYS_setresuid, user, user, user) < 0;
            let answer = if failed {
                -*libc::__errno_location()
            } else {
                // A folder is no program, so this fails in every case.
                libc::syscall(libc::SYS_execve, c"/".as_ptr(), 0, 0);
                *libc::__errno_location()
            };
            question.answer.store(answer, Ordering::Relaxed);
            libc::syscall(libc::SYS_exit, 0);
        }
        0
    }
    let mut question = Question { user, answer: AtomicI32::new(0) };
    let mut stack = vec![0_u64; 1024];
    // SAFETY: this call takes plain numbers.
    let dumpable = unsafe { libc::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0) };
    // SAFETY: with CLONE_VFORK this thread waits until the child has ended, so that the stack and the question outlive it.
    // Stacks grow down, so its end is its beginning.
    let pid = unsafe {
        libc::clone(
            ask,
            stack.as_mut_ptr().add(stack.len()).cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut question).cast(),
        )
    };
    let Some(child) = rustix::process::Pid::from_raw(pid.max(0)) else {
        return Err(io::Error::last_os_error());
    };
    let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    // A change of user closes the memory to others, and this process shares it.
    set_dumpable(dumpable == 1)?;
    match question.answer.load(Ordering::Relaxed) {
        libc::EAGAIN => Ok(true),
        failed if failed < 0 => Err(io::Error::from_raw_os_error(-failed)),
        // Whatever keeps a folder from being started.
        _ => Ok(false),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test starts processes of its own")]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_user_has_processes_while_one_runs() {
        if !rustix::process::geteuid().is_root() {
            metier_testkit::not_tried("root", "only root can ask for the processes of another user");
            return;
        }
        let user = 0x6fff_0000 | std::process::id() & 0xffff;
        assert!(!has_processes(user).unwrap());
        let mut command = Command::new("/bin/cat");
        let mut child = command.uid(user).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert!(has_processes(user).unwrap());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!has_processes(user).unwrap());
    }
}
