//! Which proxy the environment names for an address: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, and `NO_PROXY` against them.

use ipnet::IpNet;
use std::net::IpAddr;

/// A proxy, and the variable that names it. It may hold a password, so it is not shown; the variable's name is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) variable: &'static str,
    pub(crate) address: String,
}

/// The proxy for an address, if there is one. `host` has its port where it is not the usual one. Both spellings of a variable
/// count, the small one first, as most programs have it.
pub(crate) fn proxy_for(
    is_tls: bool,
    host: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<Named> {
    let (name, port) = split(host);
    let port = port.unwrap_or(if is_tls { 443 } else { 80 });
    // Nobody else reaches a server of this machine for us.
    if name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()) {
        return None;
    }
    let is_set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let spared = ["no_proxy", "NO_PROXY"].into_iter().find_map(is_set).unwrap_or_default();
    if spared.split([',', ' ']).any(|entry| is_spared(entry.trim(), name, port)) {
        return None;
    }
    let own = if is_tls { ["https_proxy", "HTTPS_PROXY"] } else { ["http_proxy", "HTTP_PROXY"] };
    own.into_iter().chain(["all_proxy", "ALL_PROXY"]).find_map(|variable| {
        let value = is_set(variable)?;
        let value = value.trim();
        let address = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
        Some(Named { variable, address })
    })
}

/// Whether an entry of `NO_PROXY` is about a host: `*`, a domain with all below it, an address, or a block of addresses.
fn is_spared(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let address = host.parse::<IpAddr>().ok();
    if let (Ok(block), Some(address)) = (entry.parse::<IpNet>(), address) {
        return block.contains(&address);
    }
    let (entry, wanted) = split(entry);
    let domain = entry.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
    if domain.is_empty() || wanted.is_some_and(|wanted| wanted != port) {
        return false;
    }
    if let Some(address) = address {
        return domain.parse() == Ok(address);
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == domain || host.strip_suffix(&domain).is_some_and(|before| before.ends_with('.'))
}

/// A host and its port. Addresses of the sixth version stand in brackets where a port follows.
fn split(host: &str) -> (&str, Option<u16>) {
    if let Some(rest) = host.strip_prefix('[') {
        let (name, rest) = rest.split_once(']').unwrap_or((rest, ""));
        return (name, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match host.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name, port.parse().ok()),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(is_tls: bool, host: &str, variables: &[(&str, &str)]) -> Option<(&'static str, String)> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        proxy_for(is_tls, host, &variable).map(|named| (named.variable, named.address))
    }

    #[test]
    fn the_variable_of_the_scheme_counts_before_that_of_all() {
        let both = [("HTTPS_PROXY", "http://a:1"), ("ALL_PROXY", "http://b:2"), ("http_proxy", "c:3")];
        let check = |is_tls, expect: (&'static str, &str)| {
            assert_eq!(found(is_tls, "api.example", &both), Some((expect.0, expect.1.to_owned())));
        };
        check(true, ("HTTPS_PROXY", "http://a:1"));
        check(false, ("http_proxy", "http://c:3"));
        let small = [("https_proxy", "http://small:1"), ("HTTPS_PROXY", "http://large:1")];
        assert_eq!(found(true, "api.example", &small).unwrap().0, "https_proxy");
        assert_eq!(found(true, "api.example", &[("HTTPS_PROXY", " ")]), None);
        assert_eq!(found(true, "api.example", &[]), None);
    }

    #[test]
    fn hosts_are_spared_by_name_address_and_block() {
        let check = |spared: &str, host: &str, is_spared: bool| {
            let proxied = found(true, host, &[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", spared)]);
            assert_eq!(proxied.is_none(), is_spared, "{spared:?} {host}");
        };
        check("*", "api.example", true);
        check("example", "api.example", true);
        check(".example", "api.example", true);
        check("*.example", "api.example", true);
        check("API.EXAMPLE", "api.example", true);
        check("ample", "api.example", false);
        check("other, api.example", "api.example", true);
        check("api.example:8443", "api.example", false);
        check("api.example:8443", "api.example:8443", true);
        check("api.example:443", "api.example", true);
        check("10.0.0.0/8", "10.1.2.3", true);
        check("10.0.0.0/8", "11.1.2.3", false);
        check("0.0.0.0/0", "11.1.2.3", true);
        check("10.0.0.0/99", "10.1.2.3", false);
        check("fd00::/8", "[fd12::1]:8000", true);
        check("10.1.2.3", "10.1.2.3", true);
        check("", "api.example", false);
    }

    #[test]
    fn this_machine_needs_no_proxy() {
        for host in ["localhost", "127.0.0.1:11434", "[::1]:8080"] {
            assert_eq!(found(false, host, &[("ALL_PROXY", "http://p:1")]), None, "{host}");
        }
    }
}
