//! Servers of the test's own, on the loopback device and on local sockets. Each answers with the canary.

use std::io::{IoSlice, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr as SocketAddrOfNetwork, TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::ground::CANARY;

/// Where the servers are. Their threads end with the process.
pub(crate) struct Servers {
    pub(crate) name: String,
    pub(crate) tcp: u16,
    pub(crate) tcp6: u16,
    pub(crate) udp: u16,
}

impl Servers {
    pub(crate) fn start(folder: &Path, tmp: &Path, number: u32) -> Self {
        let name = format!("metier-escape-{number}");
        let places = [
            folder.join("outside/server.sock"),
            folder.join("project/server.sock"),
            folder.join("skill/server.sock"),
            folder.join("home/agent.sock"),
            tmp.join("server.sock"),
        ];
        for place in places {
            answer(UnixListener::bind(place).expect("a local socket"));
        }
        answer(UnixListener::bind_addr(&named(&name)).expect("an abstract socket"));
        let canary = folder.join("outside/canary");
        hand_out(
            UnixListener::bind_addr(&named(&format!("{name}-rights"))).expect("a socket"),
            canary.clone(),
        );
        hand_out(UnixListener::bind(folder.join("project/rights.sock")).expect("a socket"), canary);
        let datagrams = UnixDatagram::bind_addr(&named(&format!("{name}-datagram"))).expect("a socket");
        thread::spawn(move || while datagrams.recv(&mut [0; 256]).is_ok() {});
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let tcp6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).expect("a port of IPv6");
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port for datagrams");
        let servers =
            Self { name, tcp: port(&tcp), tcp6: port(&tcp6), udp: udp.local_addr().expect("bound").port() };
        for listener in [tcp, tcp6] {
            sing(listener);
        }
        at_the_gateways_port();
        thread::spawn(move || {
            while let Ok((_, from)) = udp.recv_from(&mut [0; 512]) {
                let _ = udp.send_to(CANARY.as_bytes(), from);
            }
        });
        servers
    }
}

/// Answers with the canary whatever it hears.
fn sing(listener: TcpListener) {
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
            let _ = stream.read(&mut [0; 256]);
            let _ = writeln!(stream, "{CANARY}");
        }
    });
}

/// Outside, at the port that inside is the gateway, once for all grounds. Where the machine has something else there, the
/// attacks on these addresses find that and no canary, and their control says so.
fn at_the_gateways_port() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let port = metier_sandbox::GATEWAY.port();
        let places = [
            SocketAddrOfNetwork::from((Ipv4Addr::LOCALHOST, port)),
            SocketAddrOfNetwork::from((Ipv4Addr::new(127, 0, 0, 2), port)),
            SocketAddrOfNetwork::from((Ipv6Addr::LOCALHOST, port)),
        ];
        places.into_iter().filter_map(|place| TcpListener::bind(place).ok()).for_each(sing);
    });
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().expect("bound").port()
}

fn named(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(name).expect("a short name")
}

fn answer(listener: UnixListener) {
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = writeln!(stream, "{CANARY}");
        }
    });
}

fn hand_out(listener: UnixListener, file: PathBuf) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = pass(&stream, &file);
        }
    });
}

/// Sends an open file.
pub(crate) fn pass(stream: &UnixStream, file: &Path) -> std::io::Result<()> {
    let file = std::fs::File::open(file)?;
    let files = [file.as_fd()];
    let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut room);
    message.push(SendAncillaryMessage::ScmRights(&files));
    rustix::net::sendmsg(stream, &[IoSlice::new(b"x")], &mut message, SendFlags::empty())?;
    Ok(())
}
