//! Hosts, and patterns of them.

use crate::international::to_ascii;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The longest name a resolver takes.
const MAX_HOST: usize = 253;

/// The longest part between two dots of a name.
const MAX_LABEL: usize = 63;

/// A host that something wants to reach: a name or an address, in one spelling.
///
/// Lower case, no final dot, and only characters that a name or an address has. A name with a NUL byte has been taken
/// for another one by a filter before; here it is not a host. Addresses are written in the usual form, whatever form
/// they came in: `127.1`, `0x7f000001`, `017700000001` and `[::ffff:127.0.0.1]` are all `127.0.0.1`, because all of them
/// lead there, and a rule about one spelling must not miss the others.
///
/// Names in other scripts are written as the network writes them: `BÜCHER.example` and `xn--bcher-kva.example` are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(String);

/// Why a text is no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no host name; write it as `api.example.com`", metier_diagnostic::visible(.0))]
pub struct NoHost(pub String);

impl Host {
    /// Reads a name or an address.
    pub fn new(text: &str) -> Result<Self, NoHost> {
        let refused = || NoHost(text.to_owned());
        if !text.is_ascii() && text.len() <= 4 * MAX_HOST {
            return Self::new(&to_ascii(text).filter(|name| name.is_ascii()).ok_or_else(refused)?);
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(address) = bare.or_else(|| text.contains(':').then_some(text)) {
            let address: Ipv6Addr = address.parse().map_err(|_| refused())?;
            return Ok(Self::from(IpAddr::V6(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_label = |label: &str| {
            !label.is_empty()
                && label.len() <= MAX_LABEL
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        if name.len() > MAX_HOST || !name.split('.').all(is_label) {
            return Err(refused());
        }
        if is_numeric(name) {
            return Ok(Self::from(IpAddr::V4(numeric(name).ok_or_else(refused)?)));
        }
        Ok(Self(name.to_ascii_lowercase()))
    }

    /// The host in its one spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address, where this is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }

    /// Whether this is the machine's own name for itself: `localhost`, or a name below it.
    pub fn is_localhost(&self) -> bool {
        self.0.rsplit('.').next() == Some("localhost")
    }

    /// Whether this is an address and not a name, or this machine by its name.
    pub fn is_address(&self) -> bool {
        self.is_localhost() || self.address().is_some()
    }
}

impl From<IpAddr> for Host {
    /// An address of version 4 that is written as one of version 6 leads to the same place, so it is the same host.
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical().to_string())
    }
}

/// Whether resolvers read a name as an address: its last label is a number.
fn is_numeric(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.bytes().all(|b| b.is_ascii_digit()) || hexadecimal(last).is_some_and(is_all_hexadecimal)
}

fn hexadecimal(label: &str) -> Option<&str> {
    label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"))
}

fn is_all_hexadecimal(digits: &str) -> bool {
    digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The address that `inet_aton` and browsers read: one to four numbers, each decimal, octal (`017`) or hexadecimal
/// (`0x1f`), the last of which fills all the bytes that are left.
fn numeric(name: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = name.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 0xff) {
        return None;
    }
    let left = 4 - first.len();
    if left < 4 && u64::from(*last) >= 1 << (8 * left) {
        return None;
    }
    let high = first.iter().zip([24, 16, 8]).fold(0, |sum, (number, shift)| sum | (number << shift));
    Some(Ipv4Addr::from_bits(high | last))
}

fn number(label: &str) -> Option<u32> {
    let (digits, radix) = match hexadecimal(label) {
        Some("") => return Some(0),
        Some(digits) => (digits, 16),
        None if label.len() > 1 && label.starts_with('0') => (label, 8),
        None => (label, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(':') { write!(f, "[{}]", self.0) } else { f.write_str(&self.0) }
    }
}

/// `api.example.com`, `*.example.com` or `*`, with a port or without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPattern {
    names: Names,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Names {
    /// This host.
    Exact(Host),
    /// Whatever is below this name, and not the name itself.
    Below(Host),
    /// Every name, and no address.
    Any,
}

impl HostPattern {
    /// The pattern that means one host and one port.
    pub fn exact(host: &Host, port: u16) -> Self {
        Self { names: Names::Exact(host.clone()), port: Some(port) }
    }

    /// Whether a host is meant. An address is only ever meant by itself: `*` is about names, and an address that a
    /// resolver would never give must not slip in under it.
    pub fn matches(&self, host: &Host, port: u16) -> bool {
        self.covers(&Self::exact(host, port))
    }

    /// Whether a deny rule with this pattern has anything to do with a host: as [`HostPattern::matches`], and wildcards mean
    /// addresses too.
    pub fn touches(&self, host: &Host, port: u16) -> bool {
        self.meets(&Self::exact(host, port))
    }

    /// Whether every host that another pattern means is meant here, too.
    pub fn covers(&self, other: &Self) -> bool {
        let is_port = self.port.is_none() || self.port == other.port;
        let is_host = match (&self.names, &other.names) {
            (Names::Exact(own), Names::Exact(host)) => own == host,
            (Names::Below(own), Names::Exact(host)) => {
                !host.is_address() && is_below(host.as_str(), own.as_str())
            }
            (Names::Below(own), Names::Below(other)) => {
                own == other || is_below(other.as_str(), own.as_str())
            }
            (Names::Any, Names::Exact(host)) => !host.is_address(),
            (Names::Any, Names::Below(_) | Names::Any) => true,
            _ => false,
        };
        is_port && is_host
    }

    /// Whether a deny rule with this pattern has anything to do with some host that another one means.
    pub fn meets(&self, other: &Self) -> bool {
        let is_port = self.port.is_none() || other.port.is_none() || self.port == other.port;
        let is_host = match (&self.names, &other.names) {
            (Names::Any, _) | (_, Names::Any) => true,
            (Names::Exact(own), Names::Exact(host)) => own == host,
            (Names::Exact(host), Names::Below(name)) | (Names::Below(name), Names::Exact(host)) => {
                is_below(host.as_str(), name.as_str())
            }
            (Names::Below(own), Names::Below(other)) => {
                own == other
                    || is_below(own.as_str(), other.as_str())
                    || is_below(other.as_str(), own.as_str())
            }
        };
        is_port && is_host
    }

    /// Whether it names somebody. `*` and `*.com` do not: whoever could grant those could grant the network.
    pub fn names_somebody(&self) -> bool {
        match &self.names {
            Names::Exact(_) => true,
            Names::Below(own) => own.as_str().contains('.'),
            Names::Any => false,
        }
    }
}

fn is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for HostPattern {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let refused = || NoHost(text.to_owned());
        // An address of version 6 has colons of its own, so a port goes with it only behind brackets.
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if name.ends_with(']') || !name.contains(':') => {
                (name, Some(port.parse().map_err(|_| refused())?))
            }
            _ => (text, None),
        };
        let names = match name.strip_prefix("*.") {
            _ if name == "*" => Names::Any,
            Some(rest) => Names::Below(Host::new(rest).map_err(|_| refused())?),
            None => Names::Exact(Host::new(name).map_err(|_| refused())?),
        };
        Ok(Self { names, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.names {
            Names::Exact(host) => write!(f, "{host}")?,
            Names::Below(host) => write!(f, "*.{host}")?,
            Names::Any => f.write_str("*")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_spelling_and_only_its_own_characters() {
        for (text, expect) in [
            ("API.Example.COM", Some("api.example.com")),
            ("example.com.", Some("example.com")),
            ("::1", Some("::1")),
            ("[0:0::1]", Some("::1")),
            ("a_b.example", Some("a_b.example")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("127.1", Some("127.0.0.1")),
            ("127.0.0.1.", Some("127.0.0.1")),
            ("2130706433", Some("127.0.0.1")),
            ("0x7f000001", Some("127.0.0.1")),
            ("0X7F.1", Some("127.0.0.1")),
            ("017700000001", Some("127.0.0.1")),
            ("0177.0.0.01", Some("127.0.0.1")),
            ("0", Some("0.0.0.0")),
            ("0x", Some("0.0.0.0")),
            ("169.254.43518", Some("169.254.169.254")),
            ("[::ffff:127.0.0.1]", Some("127.0.0.1")),
            ("::FFFF:7f00:1", Some("127.0.0.1")),
            ("1.2.3.four", Some("1.2.3.four")),
            ("0x7f.example", Some("0x7f.example")),
            ("a.0xyz", Some("a.0xyz")),
            ("256.1.1.1", None),
            ("1.2.3.256", None),
            ("1.2.3.4.5", None),
            ("4294967296", None),
            ("08", None),
            ("example.1", None),
            ("-1", Some("-1")),
            ("127.0.0.1..", None),
            ("１２７.0.0.1", Some("127.0.0.1")),
            ("127%2e0.0.1", None),
            ("[fe80::1%eth0]", None),
            ("[127.0.0.1]", None),
            ("", None),
            ("a..b", None),
            ("evil.com\0.example.com", None),
            ("a b", None),
            ("exämple.com", Some("xn--exmple-cua.com")),
            ("EXÄMPLE.com.", Some("xn--exmple-cua.com")),
            ("ｅxample.com", Some("example.com")),
            ("ex\u{200b}ample.com", None),
            ("user@host", None),
            ("host/path", None),
        ] {
            assert_eq!(Host::new(text).ok().as_ref().map(Host::as_str), expect, "{text:?}");
        }
    }

    #[test]
    fn a_label_longer_than_a_resolver_takes_is_no_host() {
        assert!(Host::new(&format!("{}.example", "a".repeat(63))).is_ok());
        assert!(Host::new(&format!("{}.example", "a".repeat(64))).is_err());
        assert!(Host::new(&["a"; 128].join(".")).is_err());
    }

    #[test]
    fn an_address_is_known_as_one() {
        for (text, address, is_address) in [
            ("10.1", Some("10.0.0.1"), true),
            ("[2001:db8::1]", Some("2001:db8::1"), true),
            ("localhost", None, true),
            ("app.LOCALHOST.", None, true),
            ("localhost.example", None, false),
            ("example.com", None, false),
        ] {
            let host = Host::new(text).unwrap();
            assert_eq!(host.address(), address.map(|address| address.parse().unwrap()), "{text}");
            assert_eq!(host.is_address(), is_address, "{text}");
        }
    }

    #[test]
    fn a_pattern_covers_only_what_it_means_wholly_and_meets_what_it_means_in_part() {
        for (own, other, covers, meets) in [
            ("a.example", "a.example", true, true),
            ("a.example", "a.example:443", true, true),
            ("a.example:443", "a.example", false, true),
            ("a.example:443", "a.example:80", false, false),
            ("*.example", "a.example", true, true),
            ("*.example", "*.a.example", true, true),
            ("*.a.example", "*.example", false, true),
            ("*.example", "example", false, false),
            ("*.example", "*.other", false, false),
            ("*", "*.example", true, true),
            ("*", "127.0.0.1", false, true),
            ("a.example", "*", false, true),
            ("127.0.0.1", "127.1", true, true),
        ] {
            let read = |text: &str| text.parse::<HostPattern>().unwrap();
            assert_eq!(read(own).covers(&read(other)), covers, "{own} covers {other}");
            assert_eq!(read(own).meets(&read(other)), meets, "{own} meets {other}");
        }
    }

    #[test]
    fn patterns_mean_names_and_addresses_only_by_themselves() {
        for (pattern, host, port, expect) in [
            ("example.com", "EXAMPLE.com.", 443, true),
            ("example.com", "a.example.com", 443, false),
            ("*.example.com", "a.b.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "notexample.com", 443, false),
            ("example.com:443", "example.com", 80, false),
            ("*", "example.com", 80, true),
            ("*", "127.0.0.1", 80, false),
            ("*", "127.1", 80, false),
            ("*", "0x7f.0.0.0x1", 80, false),
            ("*", "localhost", 80, false),
            ("*", "::1", 80, false),
            ("127.0.0.1", "127.0.0.1", 80, true),
            ("127.0.0.1", "0x7f.1", 80, true),
            ("10.1:80", "[::ffff:10.0.0.1]", 80, true),
            ("[::1]:8080", "::1", 8080, true),
            ("localhost:3000", "localhost", 3000, true),
        ] {
            let (pattern, host): (HostPattern, _) = (pattern.parse().unwrap(), Host::new(host).unwrap());
            assert_eq!(pattern.matches(&host, port), expect, "{pattern} {host}:{port}");
            assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
    }

    #[test]
    fn to_deny_every_host_denies_addresses_too() {
        for (pattern, host, expect) in [
            ("*", "10.0.0.1", true),
            ("*:80", "10.0.0.1", true),
            ("*:443", "10.0.0.1", false),
            ("*.localhost", "app.localhost", true),
            ("*.localhost", "localhost", false),
        ] {
            let pattern: HostPattern = pattern.parse().unwrap();
            assert_eq!(pattern.touches(&Host::new(host).unwrap(), 80), expect, "{pattern} {host}");
            assert!(!pattern.matches(&Host::new(host).unwrap(), 80), "{pattern} {host}");
        }
    }

    #[test]
    fn a_wildcard_over_a_whole_suffix_names_nobody() {
        for (pattern, expect) in [("*", false), ("*.com", false), ("*.example.com", true), ("a.com", true)] {
            assert_eq!(pattern.parse::<HostPattern>().unwrap().names_somebody(), expect, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_host_is_said() {
        for text in ["", "a b", "*.", "a*b", "http://x", "x:99999", "x:", "*.*"] {
            assert!(text.parse::<HostPattern>().is_err(), "{text:?}");
        }
    }
}
