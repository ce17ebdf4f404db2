//! The way to a bus's socket, without waiting and to nobody else's.

use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::KeyringError;
use super::address::Address;

/// Connects, if the bus is this user's.
pub(super) fn dial(address: &Address) -> Result<UnixStream, KeyringError> {
    let lost = |error: Errno| KeyringError::Lost { reason: std::io::Error::from(error).to_string() };
    let place = match address {
        Address::Path(path) => SocketAddrUnix::new(path.as_slice()),
        Address::Abstract(name) => SocketAddrUnix::new_abstract_name(name),
    };
    // A name that no socket can have has nobody behind it.
    let place = place.map_err(|_| KeyringError::Absent)?;
    // Without waiting: where nobody takes connections any more, a connection would wait for ever.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(lost)?;
    match connect(&socket, &place) {
        Ok(()) => {}
        Err(Errno::AGAIN | Errno::INPROGRESS) => return Err(KeyringError::Silent),
        Err(Errno::NOENT | Errno::CONNREFUSED | Errno::NOTDIR | Errno::ACCESS) => {
            return Err(KeyringError::Absent);
        }
        Err(error) => return Err(lost(error)),
    }
    // An abstract name, or one in a shared folder, can be taken by any user once the bus is gone; secrets must not go there.
    let peer = socket_peercred(&socket).map_err(lost)?;
    if peer.uid != rustix::process::geteuid() {
        return Err(KeyringError::AnotherUser);
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false).map_err(|error| KeyringError::Lost { reason: error.to_string() })?;
    Ok(stream)
}
