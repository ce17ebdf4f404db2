//! How metier and its helpers talk: messages with a length before them, and descriptors beside them.

mod codec;
mod message;

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recv, recvmsg, send, sendmsg, socketpair,
};

pub(crate) use self::codec::{Garbled, decode, encode, path, paths};
pub(crate) use self::message::{
    Ended, Entering, Failure, FailureOf, Opening, Reply, Start, TO_PREPARE, TO_STOP,
};

/// The most descriptors one message carries: the places of a view; a call has three streams.
pub(crate) const MAX_DESCRIPTORS: usize = 64;

/// The longest message. The kernel takes at most 2 MiB of arguments and environment together, and a profile is smaller.
const MAX_MESSAGE: usize = 8 << 20;

/// What came.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) bytes: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// Two ends of a connection.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Sends one message.
pub(crate) fn deliver(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| Errno::MSGSIZE)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::MSGSIZE.into());
    }
    // The descriptors travel with the first byte, so whatever part of the message this call takes, they are on their way.
    let parts = [IoSlice::new(&length), IoSlice::new(bytes)];
    let sent = retry_on_intr(|| sendmsg(socket, &parts, &mut beside, SendFlags::NOSIGNAL))?;
    let rest = [&length[sent.min(length.len())..], &bytes[sent.saturating_sub(length.len())..]];
    for mut part in rest {
        while !part.is_empty() {
            let sent = retry_on_intr(|| send(socket, part, SendFlags::NOSIGNAL))?;
            part = &part[sent..];
        }
    }
    Ok(())
}

/// Tells the other side what failed, if it is there still.
pub(crate) fn tell_failure(socket: &OwnedFd, done: Result<(), Failure>) {
    if let Err(failure) = done {
        let _ = deliver(socket.as_fd(), &encode(&Reply::Failed(failure)), &[]);
    }
}

/// Waits for one message. `None` is the end: the other side is gone.
pub(crate) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Message>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = {
        let mut parts = [IoSliceMut::new(&mut length)];
        match retry_on_intr(|| recvmsg(socket, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC)) {
            Ok(received) => received.bytes,
            // The other side ended before it had read what was for it.
            Err(Errno::CONNRESET) => 0,
            Err(error) => return Err(error.into()),
        }
    };
    if got == 0 {
        return Ok(None);
    }
    let descriptors = beside
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if !fill(socket, &mut length[got..])? {
        return Ok(None);
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(Errno::MSGSIZE.into());
    }
    let mut bytes = vec![0; length];
    Ok(fill(socket, &mut bytes)?.then_some(Message { bytes, descriptors }))
}

/// Reads exactly this much; false when the other side is gone before.
fn fill(socket: BorrowedFd<'_>, mut buffer: &mut [u8]) -> io::Result<bool> {
    while !buffer.is_empty() {
        let got = retry_on_intr(|| recv(socket, &mut *buffer, RecvFlags::empty()))?.0;
        if got == 0 {
            return Ok(false);
        }
        buffer = &mut buffer[got..];
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_message_larger_than_the_socket_holds_arrives_whole_with_its_descriptors() {
        let (here, there) = pair().unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
        let (mut read, write) = std::io::pipe().unwrap();
        let message = std::thread::scope(|scope| {
            scope.spawn(|| deliver(here.as_fd(), &bytes, &[write.as_fd()]).unwrap());
            receive(there.as_fd()).unwrap().unwrap()
        });
        assert_eq!(message.bytes, bytes);
        let [descriptor] = <[OwnedFd; 1]>::try_from(message.descriptors).unwrap();
        drop(write);
        std::fs::File::from(descriptor).write_all(b"x").unwrap();
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }

    #[test]
    fn the_other_sides_end_is_none_also_in_the_middle_of_a_message() {
        let (here, there) = pair().unwrap();
        drop(here);
        assert!(receive(there.as_fd()).unwrap().is_none());
        let (here, there) = pair().unwrap();
        send(&here, &[9, 0, 0, 0, 1, 2], SendFlags::empty()).unwrap();
        drop(here);
        assert!(receive(there.as_fd()).unwrap().is_none());
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_memory_is_taken() {
        let (here, there) = pair().unwrap();
        send(&here, &[255, 255, 255, 255], SendFlags::empty()).unwrap();
        assert!(receive(there.as_fd()).is_err());
    }
}
