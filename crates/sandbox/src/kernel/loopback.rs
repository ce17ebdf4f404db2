//! The loopback device of a network namespace.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Takes the loopback device up, if it is down: in a new namespace it is, unless who made the namespace took it up. Any
/// socket of the namespace will do to ask by.
pub(crate) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    const NAME: &[u8] = b"lo";
    // SAFETY: it is plain data, for which all zeroes is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(NAME) {
        *to = from.cast_signed();
    }
    // SAFETY: both calls read and write the request, which lives through them and has a name that ends with a zero; the
    // first one has filled in the flags when the second one is made.
    unsafe {
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) < 0 {
            return Err(io::Error::last_os_error());
        }
        let up = libc::c_short::try_from(libc::IFF_UP).map_err(io::Error::other)?;
        if request.ifr_ifru.ifru_flags & up == 0 {
            request.ifr_ifru.ifru_flags |= up;
            if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}
