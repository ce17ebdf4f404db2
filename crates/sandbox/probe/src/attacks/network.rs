//! Speaking to others: to the test's own servers on the loopback device, and to every family of sockets.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::Duration;

use super::wrappers::hear;
use crate::answer::{Answer, Step, cannot_say, held};
use crate::arguments::{Arguments, sings};
use crate::kernel::{call, close, into, of};
use crate::probe::{Class, Probe, Who};

pub(super) const STREAM: usize = libc::SOCK_STREAM as usize;
const DATAGRAM: usize = libc::SOCK_DGRAM as usize;
const RAW: usize = libc::SOCK_RAW as usize;

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Network, "net-tcp", "speaks TCP with a server on the loopback device", tcp),
    Probe::plain(Class::Network, "net-tcp6", "speaks TCP over IPv6 with one", tcp6),
    Probe::plain(Class::Network, "net-listen", "listens on a TCP port", listen),
    Probe::plain(Class::Network, "net-listen-unbound", "listens without asking for a port", listen_unbound),
    Probe::plain(Class::Network, "net-fast-open", "connects by sending at once, without connect", fast_open),
    Probe::plain(Class::Network, "net-multipath", "connects by multipath TCP", multipath),
    Probe::plain(Class::Network, "net-udp", "sends a datagram and hears the answer", udp),
    Probe::plain(Class::Network, "net-dns", "asks for a name, with a secret in the name", dns),
    Probe::plain(
        Class::Network,
        "net-high-bits",
        "asks for a family with bits that the kernel ignores",
        high_bits,
    ),
    Probe::plain(Class::Network, "net-raw", "opens a raw socket", raw).by(Who::Root),
    Probe::plain(Class::Network, "net-ping", "opens a ping socket", ping).by(Who::Root),
    Probe::plain(Class::Network, "net-packet", "opens a packet socket", packet).by(Who::Root),
    Probe::plain(Class::Network, "net-vsock", "opens a socket to the machine's host", vsock),
    Probe::plain(Class::Network, "net-netlink", "opens a netlink socket for routes", netlink),
    Probe::plain(Class::Network, "net-uevent", "opens a netlink socket for device events", uevent),
    Probe::plain(Class::Network, "net-crypto", "opens a socket of the kernel's cryptography", crypto),
    Probe::plain(Class::Network, "net-any-family", "opens a socket of any family but local ones", any_family),
    Probe::plain(Class::Network, "net-pair", "makes a pair of sockets of another family", pair),
    Probe::plain(Class::Network, "net-bash", "speaks TCP by a redirection of bash", bash),
    Probe::plain(Class::Network, "net-python", "speaks TCP with python3", python),
    Probe::plain(Class::Network, "net-curl", "speaks HTTP with curl", curl),
];

/// Every server of the test answers with the canary.
pub(super) fn heard(bytes: &[u8]) -> Answer {
    if sings(bytes) { Ok("the server answered".to_owned()) } else { held("the server did not answer") }
}

pub(super) fn speak(address: SocketAddr) -> Answer {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2)).attempt("connect")?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).prepare("a timeout")?;
    stream.write_all(b"hello\n").attempt("send")?;
    let mut bytes = vec![0; 256];
    let length = stream.read(&mut bytes).attempt("receive")?;
    heard(&bytes[..length])
}

fn tcp(arguments: &Arguments) -> Answer {
    speak(SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port("port")?)))
}

fn tcp6(arguments: &Arguments) -> Answer {
    speak(SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, arguments.port("port6")?)))
}

fn listen(_: &Arguments) -> Answer {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).attempt("bind and listen")?;
    Ok(format!("listens on {}", listener.local_addr().prepare("its address")?))
}

fn listen_unbound(_: &Arguments) -> Answer {
    let socket = call(libc::SYS_socket, &[libc::AF_INET as usize, STREAM]).attempt("socket")?;
    // The kernel picks a port by itself, and no rule about binding is asked. It is closed at once.
    call(libc::SYS_listen, &[socket, 1]).attempt("listen")?;
    close(socket);
    Ok("listens on a port that the kernel picked".to_owned())
}

/// An address of the loopback device, as the kernel takes it.
pub(super) fn address(port: u16) -> [u8; 16] {
    let mut address = [0; 16];
    address[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    address[2..4].copy_from_slice(&port.to_be_bytes());
    address[4..8].copy_from_slice(&[127, 0, 0, 1]);
    address
}

fn fast_open(arguments: &Arguments) -> Answer {
    let socket = call(libc::SYS_socket, &[libc::AF_INET as usize, STREAM]).attempt("socket")?;
    let (to, hello) = (address(arguments.port("port")?), *b"hello\n");
    let flags = libc::MSG_FASTOPEN as usize;
    call(libc::SYS_sendto, &[socket, of(&hello), hello.len(), flags, of(&to), to.len()]).attempt("sendto")?;
    let mut bytes = [0_u8; 256];
    let length = call(libc::SYS_read, &[socket, into(&mut bytes), bytes.len()]).attempt("receive")?;
    heard(&bytes[..length])
}

fn multipath(arguments: &Arguments) -> Answer {
    let kind = [libc::AF_INET as usize, STREAM, libc::IPPROTO_MPTCP as usize];
    let socket = match call(libc::SYS_socket, &kind) {
        Err(error) if error.raw_os_error() == Some(libc::EPROTONOSUPPORT) => {
            return cannot_say("the kernel has no multipath TCP");
        }
        other => other.attempt("socket")?,
    };
    let to = address(arguments.port("port")?);
    call(libc::SYS_connect, &[socket, of(&to), to.len()]).attempt("connect")?;
    Ok("connected".to_owned())
}

fn ask(port: u16, question: &[u8]) -> Answer {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).attempt("a socket")?;
    socket.set_read_timeout(Some(Duration::from_secs(2))).prepare("a timeout")?;
    socket.send_to(question, (Ipv4Addr::LOCALHOST, port)).attempt("send")?;
    let mut bytes = [0; 256];
    let length = socket.recv(&mut bytes).attempt("receive")?;
    heard(&bytes[..length])
}

fn udp(arguments: &Arguments) -> Answer {
    ask(arguments.port("port-udp")?, b"hello")
}

fn dns(arguments: &Arguments) -> Answer {
    // A question for the address of `secret.example`, as a resolver would write it.
    let mut question = vec![0x5f, 0x2c, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in ["secret", "example"] {
        question.push(label.len() as u8);
        question.extend_from_slice(label.as_bytes());
    }
    question.extend_from_slice(&[0, 0, 1, 0, 1]);
    ask(arguments.port("port-udp")?, &question)
}

/// Opens a socket. Outside, a kernel without that family shows nothing; inside, the same answer may be the filter's.
fn open(arguments: &Arguments, family: usize, kind: usize, protocol: usize) -> Answer {
    match call(libc::SYS_socket, &[family, kind, protocol]) {
        Ok(socket) => {
            close(socket);
            Ok(format!("a socket of family {}", family as u32))
        }
        Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) && !arguments.has("contained") => {
            cannot_say("the kernel has no such family")
        }
        Err(error) => held(format!("socket: {error}")),
    }
}

fn high_bits(arguments: &Arguments) -> Answer {
    // The kernel takes the family as 32 bits; a filter that compares 64 sees another number. Where TCP is allowed, one more
    // that is not.
    let kind = if arguments.has("gateway") { DATAGRAM } else { STREAM };
    open(arguments, libc::AF_INET as usize | 1 << 32, kind, 0)
}

fn raw(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_INET as usize, RAW, libc::IPPROTO_ICMP as usize)
}

fn ping(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_INET as usize, DATAGRAM, libc::IPPROTO_ICMP as usize)
        .or_else(|_| open(arguments, libc::AF_INET6 as usize, RAW, libc::IPPROTO_ICMPV6 as usize))
}

fn packet(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_PACKET as usize, RAW, 0)
}

fn vsock(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_VSOCK as usize, STREAM, 0)
}

fn netlink(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_NETLINK as usize, RAW, libc::NETLINK_ROUTE as usize)
}

fn uevent(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_NETLINK as usize, RAW, libc::NETLINK_KOBJECT_UEVENT as usize)
}

fn crypto(arguments: &Arguments) -> Answer {
    open(arguments, libc::AF_ALG as usize, libc::SOCK_SEQPACKET as usize, 0)
}

/// Families end below this number in every kernel so far.
const FAMILIES: usize = 64;

fn any_family(arguments: &Arguments) -> Answer {
    for family in (0..FAMILIES).filter(|family| *family != libc::AF_UNIX as usize) {
        for kind in [STREAM, DATAGRAM, RAW, libc::SOCK_RDM as usize, libc::SOCK_SEQPACKET as usize] {
            let is_tcp = kind == STREAM && [libc::AF_INET, libc::AF_INET6].contains(&(family as i32));
            if is_tcp && arguments.has("gateway") {
                continue;
            }
            if let Ok(how) = open(arguments, family, kind, 0) {
                return Ok(how);
            }
        }
    }
    held(format!("none of {FAMILIES} families"))
}

fn pair(_: &Arguments) -> Answer {
    // Only few families can be paired; TIPC is one, so most kernels show nothing but the refusal.
    let mut ends = [0_i32; 2];
    for family in (0..FAMILIES).filter(|family| *family != libc::AF_UNIX as usize) {
        match call(libc::SYS_socketpair, &[family, STREAM, 0, into(&mut ends)]) {
            Ok(_) => return Ok(format!("a pair of family {family}")),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                // The sockets were made and thrown away, because this family knows no pairs.
                return Ok(format!("family {family} made sockets: {error}"));
            }
            Err(_) => {}
        }
    }
    held("no family")
}

fn bash(arguments: &Arguments) -> Answer {
    let mut command = Command::new("bash");
    let text = "exec 3<>/dev/tcp/127.0.0.1/$1 && echo hello >&3 && head -n 1 <&3";
    command.args(["-c", text, "bash", arguments.text("port")?]);
    hear(command)
}

fn python(arguments: &Arguments) -> Answer {
    let mut command = Command::new("/usr/bin/python3");
    let text = "import socket,sys\ns=socket.create_connection(('127.0.0.1',int(sys.argv[1])),2)\n\
                s.send(b'hello\\n')\nprint(s.recv(256).decode())";
    command.args(["-c", text, arguments.text("port")?]);
    hear(command)
}

fn curl(arguments: &Arguments) -> Answer {
    let mut command = Command::new("curl");
    command.args(["-s", "-m", "2", "--http0.9", &format!("http://127.0.0.1:{}/", arguments.port("port")?)]);
    hear(command)
}
