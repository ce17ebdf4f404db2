//! Local sockets of others: a docker socket or an agent's socket is a way around everything else.

use std::io::Read;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::time::Duration;

use crate::answer::{Answer, Step, held};
use crate::arguments::{Arguments, sings};
use crate::attacks::reads::read_descriptor;
use crate::kernel::{call, into};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Sockets, "unix-abstract", "connects to an abstract socket outside", abstract_name),
    Probe::plain(Class::Sockets, "unix-outside", "connects to a socket in a folder outside", outside),
    Probe::plain(Class::Sockets, "unix-project", "connects to a socket that lies in the project", project),
    Probe::plain(Class::Sockets, "unix-skill", "connects to a socket that lies in the skill's folder", skill),
    Probe::plain(Class::Sockets, "unix-tmp", "connects to a socket in the real /tmp", tmp),
    Probe::plain(Class::Sockets, "unix-agent", "connects to the socket of the user's agent", agent),
    Probe::plain(Class::Sockets, "unix-datagram", "sends a datagram to an abstract socket outside", datagram),
    Probe::plain(Class::Sockets, "unix-serve", "serves on an abstract name that others outside see", serve),
    Probe::plain(
        Class::Sockets,
        "unix-rights",
        "is sent an open file over an abstract socket",
        rights_abstract,
    ),
    Probe::plain(
        Class::Sockets,
        "unix-rights-project",
        "is sent an open file over the project's socket",
        rights_path,
    ),
    Probe::plain(
        Class::Sockets,
        "unix-rights-inherited",
        "is sent an open file over a socket left open",
        rights_left,
    ),
];

fn listen(mut stream: UnixStream) -> Answer {
    stream.set_read_timeout(Some(Duration::from_secs(2))).prepare("a timeout")?;
    let mut bytes = [0; 256];
    let length = stream.read(&mut bytes).attempt("receive")?;
    if sings(&bytes[..length]) { Ok("the server answered".to_owned()) } else { held("no answer") }
}

fn named(arguments: &Arguments) -> Result<SocketAddr, crate::answer::Stop> {
    SocketAddr::from_abstract_name(arguments.text("abstract")?).prepare("a name")
}

fn abstract_name(arguments: &Arguments) -> Answer {
    listen(UnixStream::connect_addr(&named(arguments)?).attempt("connect")?)
}

fn outside(arguments: &Arguments) -> Answer {
    listen(UnixStream::connect(arguments.path("socket")?).attempt("connect")?)
}

fn project(arguments: &Arguments) -> Answer {
    listen(UnixStream::connect(arguments.path("project")?.join("server.sock")).attempt("connect")?)
}

fn skill(arguments: &Arguments) -> Answer {
    listen(UnixStream::connect(arguments.path("skill")?.join("server.sock")).attempt("connect")?)
}

fn tmp(arguments: &Arguments) -> Answer {
    listen(UnixStream::connect(arguments.path("socket-tmp")?).attempt("connect")?)
}

fn agent(arguments: &Arguments) -> Answer {
    listen(UnixStream::connect(arguments.path("home")?.join("agent.sock")).attempt("connect")?)
}

fn datagram(arguments: &Arguments) -> Answer {
    let name = SocketAddr::from_abstract_name(format!("{}-datagram", arguments.text("abstract")?))
        .prepare("a name")?;
    let socket = UnixDatagram::unbound().attempt("socket")?;
    socket.send_to_addr(b"hello", &name).attempt("send")?;
    Ok("it was taken".to_owned())
}

fn serve(arguments: &Arguments) -> Answer {
    // The outside holds this very name; when it is free here, then here is another namespace of names.
    match UnixListener::bind_addr(&named(arguments)?) {
        Ok(_) => held("the name is free, so nobody outside sees it"),
        Err(error) if error.raw_os_error() == Some(libc::EADDRINUSE) => {
            Ok("the name is taken by the outside, so names are shared".to_owned())
        }
        Err(error) => held(format!("bind: {error}")),
    }
}

/// Receives one message with one descriptor in it.
pub(crate) fn receive_descriptor(socket: usize, flags: i32) -> Result<usize, crate::answer::Stop> {
    let mut text = [0_u8; 64];
    let mut part = libc::iovec { iov_base: text.as_mut_ptr().cast(), iov_len: text.len() };
    let mut control = [0_u64; 8];
    let header = [0, 0, into(&mut part), 1, into(&mut control), size_of_val(&control), 0];
    let mut header = header;
    call(libc::SYS_recvmsg, &[socket, into(&mut header), flags as usize]).attempt("recvmsg")?;
    // The header of the control message takes two words; what follows is the descriptor.
    let kind = control[1];
    if header[5] < 20 || kind != (libc::SOL_SOCKET as u64 | (libc::SCM_RIGHTS as u64) << 32) {
        return Err(crate::answer::Stop::Held("no descriptor came along".to_owned()));
    }
    Ok((control[2] & 0xffff_ffff) as usize)
}

fn rights(stream: &UnixStream) -> Answer {
    use std::os::fd::AsRawFd as _;
    stream.set_read_timeout(Some(Duration::from_secs(2))).prepare("a timeout")?;
    read_descriptor(receive_descriptor(stream.as_raw_fd() as usize, 0)?)
}

fn rights_abstract(arguments: &Arguments) -> Answer {
    let name = SocketAddr::from_abstract_name(format!("{}-rights", arguments.text("abstract")?))
        .prepare("a name")?;
    rights(&UnixStream::connect_addr(&name).attempt("connect")?)
}

fn rights_path(arguments: &Arguments) -> Answer {
    rights(&UnixStream::connect(arguments.path("project")?.join("rights.sock")).attempt("connect")?)
}

/// Descriptors are tried up to this number.
const LAST: usize = 256;

fn rights_left(_: &Arguments) -> Answer {
    for descriptor in 3..LAST {
        // Only looked at, so that the next probe finds it again.
        if let Ok(file) = receive_descriptor(descriptor, libc::MSG_PEEK | libc::MSG_DONTWAIT) {
            return read_descriptor(file);
        }
    }
    held("no socket was left open")
}
