//! Around the gateway: what a program that may speak TCP to one port could try. The attacks of the network and of local
//! sockets are made once more where there is a gateway; these need one.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::network::{STREAM, address, heard, speak};
use crate::answer::{Answer, Step, Stop, gated, held};
use crate::arguments::Arguments;
use crate::kernel::{at, c_text, call, close, fork, into, leave, of};
use crate::probe::{Class, Ending, Probe, Who};

const fn plain(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Gateway, name, tries, run)
}

pub(crate) const PROBES: &[Probe] = &[
    plain("gateway-same-port", "connects to the gateway's port at other addresses", same_port),
    plain("gateway-mapped", "connects to an address of IPv4 by a socket of IPv6", mapped),
    plain("gateway-scope", "connects over IPv6 with a device in the address", scope),
    plain("gateway-reconnect", "connects, lets go without closing, and connects elsewhere", reconnect),
    plain("gateway-fast-message", "connects by sending messages, without connect", fast_message),
    plain("gateway-fast-connect", "connects with the first byte instead of before it", fast_connect),
    plain("gateway-protocol", "opens a socket of any protocol but TCP", protocol),
    plain("gateway-upper", "puts another protocol of the kernel's on a connection", upper),
    plain("gateway-bind-same", "listens on the gateway's port at another address", bind_same),
    plain("gateway-bind-any", "binds by an address without a family", bind_any),
    plain("gateway-listen-race", "changes the socket while somebody looks which one should listen", race),
    plain("gateway-device", "binds a socket to a device, then connects", device),
    plain("gateway-mark", "marks packets for other routes", mark).by(Who::Root),
    Probe::throwaway(Class::Gateway, "gateway-interface", "gives the device another address", interface),
    Probe::throwaway(Class::Gateway, "gateway-route", "adds a route", route),
    Probe::uncontrolled(
        Class::Gateway,
        "gateway-listener",
        "takes what listens at the gateway out of who opened it",
        "outside nobody has opened one",
        listener,
    ),
    plain("outlive-gateway", "leaves a daemon that keeps a connection to the gateway", outlive)
        .ending(Ending::Outlives),
];

/// The first that works, or why the last one did not.
fn any(attempts: impl IntoIterator<Item = Answer>) -> Answer {
    let mut last = held("nothing to try");
    for answer in attempts {
        match answer {
            Ok(how) => return Ok(how),
            Err(stop) => last = Err(stop),
        }
    }
    last
}

fn same_port(arguments: &Arguments) -> Answer {
    let port = arguments.port("same-port")?;
    let four = [[127, 0, 0, 2], [127, 0, 0, 1], [0, 0, 0, 0], [127, 255, 255, 254]]
        .map(|bytes| SocketAddr::from((Ipv4Addr::from(bytes), port)));
    let six = [Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED, Ipv4Addr::new(127, 0, 0, 2).to_ipv6_mapped()]
        .map(|address| SocketAddr::from((address, port)));
    any(four.into_iter().chain(six).map(speak))
}

fn mapped(arguments: &Arguments) -> Answer {
    speak(SocketAddr::from((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), arguments.port("port")?)))
}

fn scope(arguments: &Arguments) -> Answer {
    let ports = [arguments.port("port6")?, arguments.port("same-port")?];
    let link_local = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
    any([Ipv6Addr::LOCALHOST, link_local]
        .into_iter()
        .flat_map(|address| (1..4).map(move |device| (address, device)))
        .flat_map(|(address, device)| ports.map(|port| SocketAddrV6::new(address, port, 0, device)))
        .map(|address| speak(SocketAddr::V6(address))))
}

/// A socket for TCP.
fn socket() -> Result<usize, Stop> {
    call(libc::SYS_socket, &[libc::AF_INET as usize, STREAM]).attempt("socket")
}

/// What the other side says to a word.
fn hear(socket: usize) -> Answer {
    let (hello, mut bytes) = (*b"hello\n", [0_u8; 256]);
    let _ = call(libc::SYS_write, &[socket, of(&hello), hello.len()]);
    let length = call(libc::SYS_read, &[socket, into(&mut bytes), bytes.len()]).attempt("receive")?;
    close(socket);
    heard(&bytes[..length])
}

fn reconnect(arguments: &Arguments) -> Answer {
    let port = arguments.port("port")?;
    let allowed = if arguments.has("gateway") { arguments.port("same-port")? } else { port };
    let (socket, first, second, nowhere) = (socket()?, address(allowed), address(port), [0_u8; 16]);
    call(libc::SYS_connect, &[socket, of(&first), first.len()]).attempt("connect")?;
    call(libc::SYS_connect, &[socket, of(&nowhere), nowhere.len()]).attempt("let go")?;
    call(libc::SYS_connect, &[socket, of(&second), second.len()]).attempt("connect again")?;
    hear(socket)
}

fn fast_message(arguments: &Arguments) -> Answer {
    let (mut to, mut hello) = (address(arguments.port("port")?), *b"hello\n");
    let mut part = libc::iovec { iov_base: hello.as_mut_ptr().cast(), iov_len: hello.len() };
    // The header of one message, and the length that the kernel writes behind it.
    let mut message = [into(&mut to), to.len(), into(&mut part), 1, 0, 0, 0, 0];
    let flags = libc::MSG_FASTOPEN as usize;
    let socket = socket()?;
    let by_one = call(libc::SYS_sendmsg, &[socket, into(&mut message), flags]);
    if by_one.is_err() {
        call(libc::SYS_sendmmsg, &[socket, into(&mut message), 1, flags]).attempt("sendmmsg")?;
    }
    hear(socket)
}

/// `TCP_FASTOPEN_CONNECT`.
const FAST_CONNECT: usize = 30;

fn fast_connect(arguments: &Arguments) -> Answer {
    let (socket, to, on) = (socket()?, address(arguments.port("port")?), 1_i32);
    let option = [socket, libc::SOL_TCP as usize, FAST_CONNECT, of(&on), size_of_val(&on)];
    call(libc::SYS_setsockopt, &option).attempt("setsockopt")?;
    call(libc::SYS_connect, &[socket, of(&to), to.len()]).attempt("connect")?;
    hear(socket)
}

fn protocol(_: &Arguments) -> Answer {
    // One of them is beyond the byte that a packet has for it.
    let others = (0..=255).chain([libc::IPPROTO_MPTCP as usize]).filter(|number| *number != 6);
    for number in others {
        for family in [libc::AF_INET, libc::AF_INET6] {
            for kind in [STREAM, 2, 3, 4, 5] {
                if kind == STREAM && number == 0 {
                    continue;
                }
                if let Ok(socket) = call(libc::SYS_socket, &[family as usize, kind, number]) {
                    close(socket);
                    return Ok(format!("protocol {number} of kind {kind}"));
                }
            }
        }
    }
    held("none of them")
}

fn upper(_: &Arguments) -> Answer {
    let (socket, name) = (socket()?, *b"tls");
    // It is not connected, which the kernel says when it has looked at the rest.
    gated("another protocol", call(libc::SYS_setsockopt, &[socket, 6, 31, of(&name), name.len()]))
}

fn bind_same(arguments: &Arguments) -> Answer {
    let (socket, mut own) = (socket()?, address(arguments.port("same-port")?));
    own[4..8].copy_from_slice(&[127, 0, 0, 3]);
    call(libc::SYS_bind, &[socket, of(&own), own.len()]).attempt("bind")?;
    call(libc::SYS_listen, &[socket, 1]).attempt("listen")?;
    close(socket);
    Ok("listens beside the gateway".to_owned())
}

fn bind_any(_: &Arguments) -> Answer {
    // All zeroes: no family, every address, any port. The kernel takes it for IPv4.
    let (socket, nothing) = (socket()?, [0_u8; 16]);
    call(libc::SYS_bind, &[socket, of(&nothing), nothing.len()]).attempt("bind")?;
    close(socket);
    Ok("bound".to_owned())
}

/// How long the race is run.
const RACE: Duration = Duration::from_millis(1500);

fn race(_: &Arguments) -> Answer {
    let place = c_text(format!("{}/race", Arguments::scratch().display()));
    let _ = call(libc::SYS_unlink, &[at(&place)]);
    let mut local = [0_u8; 110];
    local[..2].copy_from_slice(&(libc::AF_UNIX as u16).to_ne_bytes());
    let bytes = place.as_bytes();
    local[2..2 + bytes.len().min(107)].copy_from_slice(&bytes[..bytes.len().min(107)]);
    let harmless = call(libc::SYS_socket, &[libc::AF_UNIX as usize, STREAM]).prepare("a local socket")?;
    call(libc::SYS_bind, &[harmless, of(&local), local.len()]).prepare("its name")?;
    let network = socket()?;
    let number = call(libc::SYS_dup, &[harmless]).prepare("a copy")?;
    let (end, done) = (Instant::now() + RACE, AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = call(libc::SYS_dup3, &[network, number, 0]);
                let _ = call(libc::SYS_dup3, &[harmless, number, 0]);
            }
        });
        while Instant::now() < end && port_of(network).is_none() {
            let _ = call(libc::SYS_listen, &[number, 1]);
        }
        done.store(true, Ordering::Relaxed);
    });
    let Some(port) = port_of(network) else { return held("it never listened") };
    match TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_secs(1)) {
        Ok(_) => Ok(format!("listens on {port}, and somebody connected")),
        Err(error) => held(format!("listens, and nobody can connect: {error}")),
    }
}

/// The port of a socket that listens.
fn port_of(socket: usize) -> Option<u16> {
    let (mut own, mut length) = ([0_u8; 16], 16_u32);
    call(libc::SYS_getsockname, &[socket, into(&mut own), into(&mut length)]).ok()?;
    Some(u16::from_be_bytes([own[2], own[3]])).filter(|port| *port != 0)
}

fn device(arguments: &Arguments) -> Answer {
    let to = address(arguments.port("port")?);
    any(["lo", "eth0", "ens3", "wlan0"].into_iter().map(|name| {
        let socket = socket()?;
        let name = c_text(name);
        let length = name.as_bytes_with_nul().len();
        let option = [socket, libc::SOL_SOCKET as usize, libc::SO_BINDTODEVICE as usize, at(&name), length];
        call(libc::SYS_setsockopt, &option).attempt("bind to a device")?;
        call(libc::SYS_connect, &[socket, of(&to), to.len()]).attempt("connect")?;
        hear(socket)
    }))
}

fn mark(_: &Arguments) -> Answer {
    let (socket, value) = (socket()?, 1_u32);
    let option = [socket, libc::SOL_SOCKET as usize, libc::SO_MARK as usize, of(&value), size_of_val(&value)];
    call(libc::SYS_setsockopt, &option).attempt("mark")?;
    Ok("marked".to_owned())
}

/// A request about the loopback device, with the rest as given.
fn request(rest: [u8; 24]) -> [u8; 40] {
    let mut request = [0; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..].copy_from_slice(&rest);
    request
}

/// `SIOCSIFADDR` and `SIOCADDRT`.
const SET_ADDRESS: usize = 0x8916;
const ADD_ROUTE: usize = 0x890b;

fn interface(_: &Arguments) -> Answer {
    let mut rest = [0; 24];
    rest[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    rest[4..8].copy_from_slice(&[10, 98, 76, 54]);
    let request = request(rest);
    call(libc::SYS_ioctl, &[socket()?, SET_ADDRESS, of(&request)]).attempt("another address")?;
    Ok("the device has another address".to_owned())
}

fn route(_: &Arguments) -> Answer {
    // A route to nowhere: only who may change routes is told that it is none.
    let nothing = [0_u8; 128];
    gated("a route", call(libc::SYS_ioctl, &[socket()?, ADD_ROUTE, of(&nothing)]))
}

fn listener(_: &Arguments) -> Answer {
    let first = call(libc::SYS_pidfd_open, &[1, 0]);
    for descriptor in 3..64 {
        if let Ok(first) = first
            && let Ok(taken) = call(libc::SYS_pidfd_getfd, &[first, descriptor, 0])
        {
            return Ok(format!("took {taken}"));
        }
        if let Ok(place) = std::fs::read_link(format!("/proc/1/fd/{descriptor}")) {
            return Ok(format!("sees {}", place.display()));
        }
    }
    held("it is closed to others")
}

fn outlive(arguments: &Arguments) -> Answer {
    let port = arguments.port(if arguments.has("gateway") { "same-port" } else { "port" })?;
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).prepare("connect")?;
    if fork().prepare("fork")? == 0 {
        for standard in 0..3 {
            close(standard);
        }
        let _ = call(libc::SYS_setsid, &[]);
        std::thread::sleep(Duration::from_secs(arguments.number("seconds").unwrap_or(5)));
        drop(stream);
        leave(0);
    }
    std::thread::sleep(Duration::from_millis(100));
    Ok("it stays".to_owned())
}
