//! SOCKS5, as far as it is spoken: no password, CONNECT.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use metier_policy::{Host, NoHost};

use crate::fault::Fault;
use crate::target::Target;

/// The first byte of everything.
pub(crate) const VERSION: u8 = 5;

/// The answer to a greeting that offers what the proxy takes.
pub(crate) const NO_PASSWORD: [u8; 2] = [VERSION, 0];

/// The answer to one that does not.
pub(crate) const NO_METHOD: [u8; 2] = [VERSION, 0xff];

/// The whole answer of SOCKS4 that says no.
pub(crate) const SOCKS4_REFUSED: [u8; 8] = [0, 0x5b, 0, 0, 0, 0, 0, 0];

/// How a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The tunnel stands.
    Done = 0,
    /// Something else.
    Failed = 1,
    /// A rule forbids it.
    Forbidden = 2,
    /// There is no way to that network.
    NoNetwork = 3,
    /// The name leads nowhere, or nobody is there.
    NoHost = 4,
    /// Nobody listens at that port.
    Refused = 5,
    /// Another command than CONNECT.
    NoCommand = 7,
    /// An address of an unknown kind.
    NoAddress = 8,
}

impl Reply {
    /// The bytes of the answer. The address in it would be the proxy's own on the outside, which is nobody's business
    /// inside, so it is zero.
    pub const fn bytes(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }

    /// How a message that cannot be read is answered.
    pub(crate) const fn to(fault: &Fault) -> Self {
        match fault {
            Fault::SocksCommand(_) => Self::NoCommand,
            Fault::SocksAddress(_) => Self::NoAddress,
            Fault::NoHost(_) | Fault::NoPort(_) => Self::Forbidden,
            _ => Self::Failed,
        }
    }
}

/// Reads a greeting: how many bytes it has, once all have arrived.
pub fn greeting(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let (version, count) = match bytes {
        [] => return Ok(None),
        [version] => (*version, None),
        [version, count, ..] => (*version, Some(usize::from(*count))),
    };
    if version != VERSION {
        return Err(Fault::Socks);
    }
    let Some(count) = count else { return Ok(None) };
    match bytes.get(2..2 + count) {
        None => Ok(None),
        Some(methods) if methods.contains(&0) => Ok(Some(2 + count)),
        Some(_) => Err(Fault::SocksMethod),
    }
}

/// Reads a request: whom it is for and how many bytes it has, once all have arrived.
pub fn request(bytes: &[u8]) -> Result<Option<(Target, usize)>, Fault> {
    let Some((head, rest)) = bytes.split_first_chunk::<4>() else {
        return if bytes.first().is_none_or(|version| *version == VERSION) {
            Ok(None)
        } else {
            Err(Fault::Socks)
        };
    };
    let [VERSION, command, 0, kind] = *head else { return Err(Fault::Socks) };
    if command != 1 {
        return Err(Fault::SocksCommand(command));
    }
    let length = match (kind, rest.first()) {
        (1, _) => 4,
        (4, _) => 16,
        (3, Some(length)) => 1 + usize::from(*length),
        (3, None) => return Ok(None),
        _ => return Err(Fault::SocksAddress(kind)),
    };
    let (Some(place), Some(port)) = (rest.get(..length), rest.get(length..length + 2)) else {
        return Ok(None);
    };
    let host = match kind {
        1 => Host::from(IpAddr::V4(Ipv4Addr::from(fixed::<4>(place)?))),
        4 => Host::from(IpAddr::V6(Ipv6Addr::from(fixed::<16>(place)?))),
        _ => named(&place[1..])?,
    };
    let target = Target::new(host, u16::from_be_bytes(fixed(port)?))?;
    Ok(Some((target, 4 + length + 2)))
}

fn fixed<const LENGTH: usize>(bytes: &[u8]) -> Result<[u8; LENGTH], Fault> {
    bytes.try_into().map_err(|_| Fault::Socks)
}

fn named(name: &[u8]) -> Result<Host, Fault> {
    // The length counts, not the first NUL: a filter that read one and a resolver that read the other have been fooled.
    let name = std::str::from_utf8(name);
    let name = name.map_err(|_| Fault::NoHost(NoHost("(bytes that are no text)".to_owned())))?;
    Host::new(name).map_err(Fault::NoHost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Result<Option<(&str, usize)>, &str>) {
        let found = request(bytes);
        let found =
            found.as_ref().map(|found| found.as_ref().map(|(target, used)| (target.to_string(), *used)));
        let expect = expect.map(|found| found.map(|(target, used)| (target.to_owned(), used)));
        assert_eq!(found.map_err(Fault::code), expect, "{bytes:?}");
    }

    fn name(name: &str) -> Vec<u8> {
        let mut bytes = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&[1, 187]);
        bytes
    }

    #[test]
    fn a_greeting_offers_no_password_or_is_refused() {
        for (bytes, expect) in [
            (&[][..], Ok(None)),
            (&[5], Ok(None)),
            (&[5, 2, 2], Ok(None)),
            (&[5, 1, 0], Ok(Some(3))),
            (&[5, 2, 2, 0, 9], Ok(Some(4))),
            (&[5, 1, 2], Err("socks-method")),
            (&[5, 0], Err("socks-method")),
            (&[6], Err("socks-message")),
        ] {
            assert_eq!(
                greeting(bytes).as_ref().map_err(Fault::code),
                expect.as_ref().map_err(|code| *code),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn names_and_addresses_have_one_spelling() {
        check(&name("API.example."), Ok(Some(("api.example:443", 19))));
        check(&name("0x7f.1"), Ok(Some(("127.0.0.1:443", 13))));
        check(&[5, 1, 0, 1, 10, 0, 0, 1, 0, 80, 9], Ok(Some(("10.0.0.1:80", 10))));
        let mut mapped = vec![5, 1, 0, 4];
        mapped.extend_from_slice(&"::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets());
        mapped.extend_from_slice(&[0, 80]);
        check(&mapped, Ok(Some(("10.0.0.1:80", 22))));
        for cut in 0..mapped.len() {
            check(&mapped[..cut], Ok(None));
        }
    }

    #[test]
    fn what_is_no_host_or_no_command_is_refused() {
        for no_host in
            ["evil.example\0.allowed.example", "a b", "user@host", "", "[::1", "\u{200b}.example", "a%2eb"]
        {
            check(&name(no_host), Err("no-host"));
        }
        check(&[5, 1, 0, 3, 1, 0xff, 0, 80], Err("no-host"));
        check(&[5, 1, 0, 1, 1, 2, 3, 4, 0, 0], Err("no-port"));
        check(&[5, 2, 0, 1], Err("socks-command"));
        check(&[5, 3, 0, 1], Err("socks-command"));
        check(&[5, 1, 0, 2, 0], Err("socks-address"));
        check(&[5, 1, 7, 1], Err("socks-message"));
        check(&[4], Err("socks-message"));
    }
}
