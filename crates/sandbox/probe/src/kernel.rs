//! The way to the kernel: every unsafe line of this program.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A page of memory.
pub(crate) const PAGE: usize = 4096;

/// The folder that relative paths begin at.
pub(crate) const HERE: usize = libc::AT_FDCWD as usize;

/// Makes a system call. Missing arguments are zero.
///
/// It is not marked unsafe, though it can do anything: attacks pass what no wrapper would. Whoever passes an address
/// keeps what is behind it alive for the length of the call.
pub(crate) fn call(number: libc::c_long, given: &[usize]) -> io::Result<usize> {
    let mut words = [0_usize; 6];
    for (word, value) in words.iter_mut().zip(given) {
        *word = *value;
    }
    // SAFETY: addresses are those of live values of the caller, or wrong on purpose and then answered with EFAULT.
    let result = unsafe { libc::syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

/// A path as the kernel takes it.
pub(crate) fn c_path(path: &Path) -> CString {
    c_text(path.as_os_str().as_bytes())
}

/// A text as the kernel takes it, cut at the first zero byte.
pub(crate) fn c_text(bytes: impl AsRef<[u8]>) -> CString {
    let bytes = bytes.as_ref().split(|byte| *byte == 0).next().unwrap_or_default();
    CString::new(bytes).unwrap_or_default()
}

/// The address of a text.
pub(crate) fn at(text: &CString) -> usize {
    text.as_ptr() as usize
}

/// The address of a value.
pub(crate) fn of<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<()>() as usize
}

/// The address of a value that the kernel writes to.
pub(crate) fn into<T: ?Sized>(value: &mut T) -> usize {
    std::ptr::from_mut(value).cast::<()>() as usize
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Exited(i32),
    Signaled(i32),
}

/// Makes a child that is a copy of this process, with these namespaces and flags for the old `clone`.
pub(crate) fn fork_with(flags: usize) -> io::Result<usize> {
    call(libc::SYS_clone, &[flags | libc::SIGCHLD as usize])
}

/// Makes a child.
pub(crate) fn fork() -> io::Result<usize> {
    fork_with(0)
}

/// Ends this process at once.
pub(crate) fn leave(status: i32) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// Waits for a child.
pub(crate) fn wait(child: usize) -> io::Result<Fate> {
    let mut status = 0_i32;
    loop {
        match call(libc::SYS_wait4, &[child, into(&mut status)]) {
            Ok(_) if libc::WIFEXITED(status) => return Ok(Fate::Exited(libc::WEXITSTATUS(status))),
            Ok(_) => return Ok(Fate::Signaled(libc::WTERMSIG(status))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Runs something in a child, whose exit status is what it gives.
pub(crate) fn in_child(work: impl FnOnce() -> i32) -> io::Result<Fate> {
    match fork()? {
        0 => leave(work()),
        child => wait(child),
    }
}

/// Closes a descriptor.
pub(crate) fn close(descriptor: usize) {
    let _ = call(libc::SYS_close, &[descriptor]);
}

/// Maps memory that nobody else sees, or that children share.
pub(crate) fn map(length: usize, sharing: i32, descriptor: Option<usize>) -> io::Result<usize> {
    let anonymous = if descriptor.is_none() { libc::MAP_ANONYMOUS } else { 0 };
    let rights = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let file = descriptor.unwrap_or(usize::MAX);
    call(libc::SYS_mmap, &[0, length, rights, (sharing | anonymous) as usize, file, 0])
}

/// Writes to every page of a mapping, so that it takes real memory.
pub(crate) fn touch(address: usize, length: usize) {
    for offset in (0..length).step_by(PAGE) {
        let place = (address + offset) as *mut u8;
        // SAFETY: the caller mapped `length` bytes at `address`, writable.
        unsafe { place.write_volatile(0x5f) };
    }
}

/// Copies what is mapped somewhere.
pub(crate) fn copy(address: usize, length: usize) -> Vec<u8> {
    // SAFETY: the caller mapped `length` bytes at `address`, readable.
    unsafe { std::slice::from_raw_parts(address as *const u8, length) }.to_vec()
}

/// Puts bytes to where something is mapped.
pub(crate) fn put(address: usize, bytes: &[u8]) {
    // SAFETY: the caller mapped at least so many bytes at `address`, writable.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
}

/// What a signal does from now on: nothing.
pub(crate) fn ignore(signal: i32) {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Makes a system call through the 32-bit entry, where numbers and filters are others. `None` where there is none.
#[cfg(target_arch = "x86_64")]
pub(crate) fn call_32(number: u32, first: u32, second: u32, third: u32) -> Option<io::Result<usize>> {
    let result: i64;
    // SAFETY: the entry keeps every register but the answer; `rbx` is kept by hand, because the compiler owns it. The
    // calls that are made with it take numbers only.
    unsafe {
        std::arch::asm!(
            "xchg {first:r}, rbx",
            "int 0x80",
            "xchg {first:r}, rbx",
            first = inout(reg) u64::from(first) => _,
            inlateout("rax") i64::from(number) => result,
            in("rcx") u64::from(second),
            in("rdx") u64::from(third),
            out("r8") _,
            out("r9") _,
            out("r10") _,
            out("r11") _,
        );
    }
    let result = result as i32;
    Some(if (-4095..0).contains(&result) {
        Err(io::Error::from_raw_os_error(-result))
    } else {
        Ok(result as usize)
    })
}

/// Makes a system call through the 32-bit entry; this processor has none.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn call_32(_number: u32, _first: u32, _second: u32, _third: u32) -> Option<io::Result<usize>> {
    None
}
