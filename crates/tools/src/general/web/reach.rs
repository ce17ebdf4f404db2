//! From a host to a connection: resolved once, checked, connected to what was checked.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_policy::Host;
use metier_proxy::Special;

use super::Web;
use super::patience::Patience;

/// The most addresses of one name that are tried: when four do not answer, none will in time.
const MOST_TRIED: usize = 4;

/// How long one address is tried.
const CONNECT: Duration = Duration::from_secs(10);

/// Which addresses a yes reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::general) enum LimitHit {
    /// Those of the open internet.
    Public,
    /// Also the special one that the host itself is, since whoever said yes named it.
    Named,
}

impl Web {
    /// Connects to a host. `names` says whether a rule names a special address by itself; it asks nobody.
    pub(super) fn connect(
        &self,
        host: &Host,
        port: u16,
        reached: LimitHit,
        patience: Patience<'_>,
        names: &dyn Fn(IpAddr) -> bool,
    ) -> Result<TcpStream, String> {
        let found = match host.address() {
            Some(address) => vec![address],
            None => self
                .resolve(host.as_str(), patience)
                .map_err(|error| format!("`{}` has no address: {error}", host.as_str()))?,
        };
        let open = checked(host, &found, reached, names)?;
        let mut trouble = "no address was found".to_owned();
        for address in open.into_iter().take(MOST_TRIED) {
            let left = patience.until.saturating_duration_since(Instant::now()).min(CONNECT);
            if left.is_zero() || patience.is_taken_back() {
                break;
            }
            let outside = Arc::clone(&self.outside);
            match patience.beside("connect", move || outside.connect(SocketAddr::new(address, port), left)) {
                Ok(stream) => return Ok(stream),
                Err(error) => trouble = error.to_string(),
            }
        }
        Err(format!("`{}:{port}` could not be reached: {trouble}", host.as_str()))
    }
}

impl Web {
    /// Resolves a name, once.
    fn resolve(&self, name: &str, patience: Patience<'_>) -> io::Result<Vec<IpAddr>> {
        let (outside, name) = (Arc::clone(&self.outside), name.to_owned());
        patience.beside("resolve", move || outside.resolve(&name))
    }
}

/// The addresses that may be connected to. Behind special ones are services that trust whoever can reach them, and a public
/// name can be made to lead to any of them.
fn checked(
    host: &Host,
    found: &[IpAddr],
    reached: LimitHit,
    names: &dyn Fn(IpAddr) -> bool,
) -> Result<Vec<IpAddr>, String> {
    let mut special = None;
    let mut open = Vec::new();
    for address in found {
        let Some(kind) = Special::of(*address) else {
            open.push(*address);
            continue;
        };
        // A yes to a name says nothing about where that name leads.
        let is_named = reached == LimitHit::Named
            && (host.address().is_some() || (host.is_localhost() && kind == Special::Loopback));
        if is_named || names(address.to_canonical()) {
            open.push(*address);
        } else {
            special.get_or_insert((address.to_canonical(), kind));
        }
    }
    match special {
        Some((address, kind)) if open.is_empty() => Err(format!(
            "`{}` leads to {address}, {kind}, which is refused unless a rule names it: `WebFetch(domain:{address})`",
            host.as_str()
        )),
        _ => Ok(open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_inside_is_refused_and_a_named_address_is_not() {
        let check = |host: &str,
                     found: &[&str],
                     reached,
                     rule: Option<&str>,
                     expect: Result<&[&str], &str>| {
            let parse = |all: &[&str]| all.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
            let names = |address: IpAddr| rule.is_some_and(|rule| rule.parse() == Ok(address));
            let got = checked(&Host::new(host).unwrap(), &parse(found), reached, &names);
            match expect {
                Ok(open) => assert_eq!(got, Ok(parse(open)), "{host}"),
                Err(part) => assert!(got.as_ref().is_err_and(|text| text.contains(part)), "{host}: {got:?}"),
            }
        };
        check("a.example", &["203.0.113.9"], LimitHit::Public, None, Ok(&["203.0.113.9"]));
        check("a.example", &["203.0.113.9", "10.0.0.1"], LimitHit::Named, None, Ok(&["203.0.113.9"]));
        check("a.example", &["10.0.0.1"], LimitHit::Named, None, Err("a private address"));
        check("a.example", &["169.254.169.254"], LimitHit::Named, None, Err("metadata service"));
        check("a.example", &["::ffff:127.0.0.1"], LimitHit::Named, None, Err("a loopback address"));
        check("a.example", &["10.0.0.1"], LimitHit::Public, Some("10.0.0.1"), Ok(&["10.0.0.1"]));
        check("127.0.0.1", &["127.0.0.1"], LimitHit::Public, None, Err("a loopback address"));
        check("127.0.0.1", &["127.0.0.1"], LimitHit::Named, None, Ok(&["127.0.0.1"]));
        check("localhost", &["127.0.0.1", "::1"], LimitHit::Named, None, Ok(&["127.0.0.1", "::1"]));
        check("localhost", &["10.0.0.1"], LimitHit::Named, None, Err("a private address"));
    }
}
