//! The network as the proxy reaches it.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How names become addresses and addresses connections. Tests put stand-ins here, so that nothing leaves the machine.
pub trait Outside: Send + Sync {
    /// The addresses of a name, best first. It is asked once for each contact; what it said is checked and connected
    /// to, so an answer that changes afterwards changes nothing.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream>;
}

/// The real network: the system's resolver and its sockets.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Outside for System {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is only there because the interface wants one.
        let found = (name, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }

    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&address, timeout)
    }
}
