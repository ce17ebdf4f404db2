//! A program in the place of a copy of this process.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
use std::ptr;

use rustix::process::Pid;

/// The streams of a process in the order of their numbers: standard input, output and error.
pub(crate) type Streams<'a> = [BorrowedFd<'a>; 3];

/// Texts as the kernel takes them: a list of pointers with a null at the end.
fn pointers(texts: &[CString]) -> Vec<*mut libc::c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// Starts a program in a session of its own, with these streams and no other descriptor, with no signal blocked or
/// ignored. Everything else it inherits: whoever calls this has restricted itself before.
pub(crate) fn spawn(
    program: &CStr,
    arguments: &[CString],
    environment: &[CString],
    streams: Streams<'_>,
) -> io::Result<Pid> {
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    let mut pid = 0;
    // SAFETY: both objects are initialised by their own functions before use and destroyed once; all pointers live
    // until the call returns, and the lists end with a null.
    unsafe {
        let mut actions = MaybeUninit::<libc::posix_spawn_file_actions_t>::uninit();
        check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
        let mut attributes = MaybeUninit::<libc::posix_spawnattr_t>::uninit();
        if let Err(error) = check(libc::posix_spawnattr_init(attributes.as_mut_ptr())) {
            libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
            return Err(error);
        }
        let result = (|| {
            for (number, descriptor) in (0..).zip(streams) {
                check(libc::posix_spawn_file_actions_adddup2(
                    actions.as_mut_ptr(),
                    descriptor.as_raw_fd(),
                    number,
                ))?;
            }
            check(libc::posix_spawn_file_actions_addclosefrom_np(actions.as_mut_ptr(), 3))?;
            let mut none = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), none.as_ptr()))?;
            let mut all = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigfillset(all.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), all.as_ptr()))?;
            let flags = libc::POSIX_SPAWN_SETSIGMASK
                | libc::POSIX_SPAWN_SETSIGDEF
                | i32::from(libc::POSIX_SPAWN_SETSID);
            check(libc::posix_spawnattr_setflags(
                attributes.as_mut_ptr(),
                libc::c_short::try_from(flags).unwrap_or(0),
            ))?;
            check(libc::posix_spawn(
                &raw mut pid,
                program.as_ptr(),
                actions.as_ptr(),
                attributes.as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
            ))
        })();
        libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
        libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
        result?;
    }
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("the kernel gave a process number that is none"))
}

/// Puts a program in the place of this process, which is a copy that was made for it, with no descriptor but these
/// three. Comes back only with an error.
pub(crate) fn replace(
    program: &CStr,
    arguments: &[CString],
    environment: &[CString],
    streams: Streams<'_>,
) -> io::Error {
    // Marked, not closed: what went wrong afterwards still has to be told through one of them.
    // SAFETY: this call takes plain numbers.
    if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) } < 0 {
        return io::Error::last_os_error();
    }
    replace_keeping(program, arguments, environment, streams)
}

/// The same, with the descriptors that are not marked to be closed.
pub(crate) fn replace_keeping(
    program: &CStr,
    arguments: &[CString],
    environment: &[CString],
    streams: Streams<'_>,
) -> io::Error {
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: the descriptors are open, all pointers live until the call takes over, and the lists end with a null.
    unsafe {
        for (number, descriptor) in (0..).zip(streams) {
            if libc::dup2(descriptor.as_raw_fd(), number) < 0 {
                return io::Error::last_os_error();
            }
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        // Rust ignores this signal in every program; what is started expects to be told that nobody reads any more.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::execve(program.as_ptr(), arguments.as_ptr().cast(), environment.as_ptr().cast());
    }
    io::Error::last_os_error()
}

/// Reads what was left in a descriptor with this number, from its beginning. Descriptors that are handed over through a
/// foreign program are known by their numbers only.
pub(crate) fn read_handed_over(number: i32) -> io::Result<Vec<u8>> {
    // SAFETY: the number was given to this process for this purpose; if nothing is open there, reading says so.
    let mut file = unsafe { std::fs::File::from_raw_fd(number) };
    let mut bytes = Vec::new();
    io::Seek::rewind(&mut file)?;
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
