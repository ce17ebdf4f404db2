//! Local sockets by raw calls, and descriptors that wait in them.

use crate::answer::{Step, Stop};
use crate::kernel::{call, into, of};

const LOCAL: usize = libc::AF_UNIX as usize;

/// Two sockets that are connected.
pub(super) fn pair(kind: i32) -> Result<[usize; 2], Stop> {
    let mut ends = [0_i32; 2];
    let kind = (kind | libc::SOCK_NONBLOCK) as usize;
    call(libc::SYS_socketpair, &[LOCAL, kind, 0, into(&mut ends)]).attempt("socketpair")?;
    Ok(ends.map(|end| end as usize))
}

/// Sends a descriptor over a socket. It waits there until somebody receives it.
pub(super) fn pass(socket: usize, descriptor: i32) -> Result<(), Stop> {
    let byte = [0_u8];
    let vector = [of(&byte), 1];
    // A header of 16 bytes with its length, level and kind, then the number.
    let (length, level_and_kind) = (20_usize, libc::SOL_SOCKET as usize | (libc::SCM_RIGHTS as usize) << 32);
    let control = [length, level_and_kind, descriptor as usize];
    let message = [0, 0, of(&vector), 1, of(&control), 24, 0];
    call(libc::SYS_sendmsg, &[socket, of(&message), 0]).attempt("send a descriptor").map(drop)
}

/// Fills a socket. Gives how many bytes it took.
pub(super) fn stuff(socket: usize) -> usize {
    let chunk = vec![0_u8; 64 << 10];
    let mut taken = 0;
    while let Ok(length) = call(libc::SYS_write, &[socket, chunk.as_ptr() as usize, chunk.len()]) {
        taken += length;
    }
    taken
}

/// An address without a file.
fn address(name: &str) -> Vec<u8> {
    let family = (libc::AF_UNIX as u16).to_ne_bytes();
    family.into_iter().chain([0]).chain(name.bytes().take(100)).collect()
}

/// A socket at an address; one for connections listens.
pub(super) fn listener(name: &str, kind: i32) -> Result<usize, Stop> {
    let socket =
        call(libc::SYS_socket, &[LOCAL, (kind | libc::SOCK_NONBLOCK) as usize, 0]).attempt("socket")?;
    let address = address(name);
    call(libc::SYS_bind, &[socket, address.as_ptr() as usize, address.len()]).attempt("bind")?;
    if kind == libc::SOCK_STREAM {
        call(libc::SYS_listen, &[socket, 4096]).attempt("listen")?;
    }
    Ok(socket)
}

/// A socket that is connected to an address.
pub(super) fn socket_to(name: &str, kind: i32) -> Result<usize, Stop> {
    let socket =
        call(libc::SYS_socket, &[LOCAL, (kind | libc::SOCK_NONBLOCK) as usize, 0]).attempt("socket")?;
    let address = address(name);
    call(libc::SYS_connect, &[socket, address.as_ptr() as usize, address.len()]).attempt("connect")?;
    Ok(socket)
}
