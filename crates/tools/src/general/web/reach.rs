//! From a host to the addresses that may be connected to: resolved once and checked.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use metier_policy::Host;
use metier_proxy::Special;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::patience::{Patience, WaitError};
use super::request::PageRequest;
use super::{PageResolver, Web};

/// The most addresses of one name that are tried: when four do not answer, none will in time.
const MAX_TRIED: usize = 4;

/// Which addresses an approval reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::general) enum AddressScope {
    /// Those of the open internet.
    Public,
    /// Also the special address that the host itself is, since the approval names it.
    Named,
}

/// The system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl PageResolver for SystemResolver {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is only there because the interface wants one.
        let found = (name, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// How a request gets to its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To these addresses, which were checked.
    Direct(Checked),
    /// Through this proxy, which resolves the name by itself. It may hold a password.
    Proxy(String),
}

/// The checked addresses of one host, as the client's resolver: it knows no other host and is never asked for another answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checked {
    host: String,
    addresses: Vec<SocketAddr>,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let found: Result<Addrs, _> = if name.as_str() == self.host {
            Ok(Box::new(self.addresses.clone().into_iter()))
        } else {
            Err(format!("`{}` was not checked", name.as_str()).into())
        };
        Box::pin(std::future::ready(found))
    }
}

impl Web {
    /// Finds how a page is reached and checks it.
    pub(super) async fn route(&self, request: PageRequest<'_>) -> Result<Route, String> {
        let PageRequest { url, scope, patience, names } = request;
        let host = &url.host;
        if let Some(proxy) = (self.proxy_for)(url.is_tls(), &url.authority()) {
            behind_proxy(host, scope, names)?;
            return Ok(Route::Proxy(proxy));
        }
        let found = match host.address() {
            Some(address) => vec![address],
            None => self
                .resolve(host.as_str(), patience)
                .await
                .map_err(|error| format!("`{}` has no address: {error}", host.as_str()))?,
        };
        let open = checked(host, &found, scope, names)?;
        let addresses = open.into_iter().take(MAX_TRIED).map(|address| self.resolver.route(address));
        Ok(Route::Direct(Checked { host: host.as_str().to_owned(), addresses: addresses.collect() }))
    }

    /// Resolves a name, once. The system's resolver knows no time, so what never ends keeps a thread and nothing else.
    async fn resolve(&self, name: &str, patience: Patience<'_>) -> io::Result<Vec<IpAddr>> {
        let (resolver, name) = (Arc::clone(&self.resolver), name.to_owned());
        let resolving = tokio::task::spawn_blocking(move || resolver.resolve(&name));
        match patience.wait(Duration::MAX, resolving).await {
            Ok(found) => found.map_err(io::Error::other)?,
            Err(WaitError::Late) => Err(io::ErrorKind::TimedOut.into()),
            Err(WaitError::Stopped) => Err(io::Error::other("it was stopped")),
        }
    }
}

/// The addresses that may be connected to. Behind special ones are services that trust whoever can reach them, and a public
/// name can be made to lead to any of them.
fn checked(
    host: &Host,
    found: &[IpAddr],
    scope: AddressScope,
    names: &dyn Fn(IpAddr) -> bool,
) -> Result<Vec<IpAddr>, String> {
    let mut special = None;
    let mut open = Vec::new();
    for address in found {
        let Some(kind) = Special::of(*address) else {
            open.push(*address);
            continue;
        };
        // An approval of a name says nothing about where that name leads.
        let is_named = scope == AddressScope::Named
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

/// What can be checked where a proxy resolves the name: that the host is not a special address, and not a name that only a
/// machine or a network of its own knows. Where any other name leads, the proxy decides.
fn behind_proxy(host: &Host, scope: AddressScope, names: &dyn Fn(IpAddr) -> bool) -> Result<(), String> {
    if let Some(address) = host.address() {
        return checked(host, &[address], scope, names).map(drop);
    }
    if scope == AddressScope::Public && is_local_name(host.as_str()) {
        return Err(format!(
            "`{0}` is a name of this machine or its network, which is refused unless a rule names it: `WebFetch(domain:{0})`",
            host.as_str()
        ));
    }
    Ok(())
}

/// Whether a name cannot be one of the open internet: it has no dot, or ends with a suffix reserved for private networks
/// (RFC 6761, 6762 and 8375, and ICANN's `internal`).
fn is_local_name(name: &str) -> bool {
    let ends = |end: &str| name == end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    !name.contains('.') || ["localhost", "local", "internal", "home.arpa"].into_iter().any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_inside_is_refused_and_a_named_address_is_not() {
        let check = |host: &str, found: &[&str], scope, rule: Option<&str>, expect: Result<&[&str], &str>| {
            let parse = |all: &[&str]| all.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
            let names = |address: IpAddr| rule.is_some_and(|rule| rule.parse() == Ok(address));
            let got = checked(&Host::new(host).unwrap(), &parse(found), scope, &names);
            match expect {
                Ok(open) => assert_eq!(got, Ok(parse(open)), "{host}"),
                Err(part) => assert!(got.as_ref().is_err_and(|text| text.contains(part)), "{host}: {got:?}"),
            }
        };
        check("a.example", &["203.0.113.9"], AddressScope::Public, None, Ok(&["203.0.113.9"]));
        check("a.example", &["203.0.113.9", "10.0.0.1"], AddressScope::Named, None, Ok(&["203.0.113.9"]));
        check("a.example", &["10.0.0.1"], AddressScope::Named, None, Err("a private address"));
        check("a.example", &["169.254.169.254"], AddressScope::Named, None, Err("metadata service"));
        check("a.example", &["::ffff:127.0.0.1"], AddressScope::Named, None, Err("a loopback address"));
        check("a.example", &["10.0.0.1"], AddressScope::Public, Some("10.0.0.1"), Ok(&["10.0.0.1"]));
        check("127.0.0.1", &["127.0.0.1"], AddressScope::Public, None, Err("a loopback address"));
        check("127.0.0.1", &["127.0.0.1"], AddressScope::Named, None, Ok(&["127.0.0.1"]));
        check("localhost", &["127.0.0.1", "::1"], AddressScope::Named, None, Ok(&["127.0.0.1", "::1"]));
        check("localhost", &["10.0.0.1"], AddressScope::Named, None, Err("a private address"));
    }
}
