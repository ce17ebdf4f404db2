//! Whom a request is for.

use std::fmt;

use metier_policy::Host;

use crate::fault::Fault;

/// A host in its one spelling, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Who.
    pub host: Host,
    /// Where.
    pub port: u16,
}

impl Target {
    /// Reads `host:port`, or `host` where a port is known without it.
    pub fn read(text: &str, default: Option<u16>) -> Result<Self, Fault> {
        // Filters and clients have disagreed about which of two `@` counts; here no name fits before any.
        if text.contains('@') {
            return Err(Fault::UserInfo);
        }
        let no_port = || Fault::NoPort(text.to_owned());
        // An address of version 6 has colons of its own, so it has to be in brackets.
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (text, None),
        };
        if name.contains(':') && !name.starts_with('[') {
            return Err(no_port());
        }
        let port = match port {
            // `parse` takes a sign, which no port has.
            Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => port.parse().map_err(|_| no_port())?,
            Some(_) => return Err(no_port()),
            None => default.ok_or_else(no_port)?,
        };
        Self::new(Host::new(name).map_err(Fault::NoHost)?, port)
    }

    /// A host and a port. Port 0 is nobody's.
    pub fn new(host: Host, port: u16) -> Result<Self, Fault> {
        if port == 0 { Err(Fault::NoPort(format!("{host}:0"))) } else { Ok(Self { host, port }) }
    }

    /// The value of the header `Host` for a request to it.
    pub(crate) fn authority(&self) -> String {
        if self.port == 80 { self.host.to_string() } else { self.to_string() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_one_host_and_one_port() {
        for (text, default, expect) in [
            ("Example.COM:443", None, Ok("example.com:443")),
            ("example.com.:443", None, Ok("example.com:443")),
            ("example.com", Some(80), Ok("example.com:80")),
            ("[::1]:8080", None, Ok("[::1]:8080")),
            ("[::1]", Some(80), Ok("[::1]:80")),
            ("[::ffff:7f00:1]:80", None, Ok("127.0.0.1:80")),
            ("2130706433:80", None, Ok("127.0.0.1:80")),
            ("example.com", None, Err("no-port")),
            ("example.com:", Some(80), Err("no-port")),
            ("example.com:0", None, Err("no-port")),
            ("example.com:65536", None, Err("no-port")),
            ("example.com:+80", None, Err("no-port")),
            ("example.com:80:90", None, Err("no-port")),
            ("::1:80", None, Err("no-port")),
            ("::1", Some(80), Err("no-port")),
            (":80", None, Err("no-host")),
            ("", Some(80), Err("no-host")),
            ("a b:80", None, Err("no-host")),
            ("user@example.com:80", None, Err("user-info")),
            ("a:b@example.com:80", None, Err("user-info")),
            ("exa%6dple.com:80", None, Err("no-host")),
            ("example.com\\:80", None, Err("no-host")),
            ("１２７.0.0.1:80", None, Ok("127.0.0.1:80")),
            ("BÜCHER.example:80", None, Ok("xn--bcher-kva.example:80")),
        ] {
            let found = Target::read(text, default);
            let found = found.as_ref().map(ToString::to_string).map_err(Fault::code);
            assert_eq!(found, expect.map(str::to_owned), "{text:?}");
        }
    }
}
