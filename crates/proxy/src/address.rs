//! Which addresses are not the open internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

metier_diagnostic::words! {
    /// Why an address is refused unless a rule names it.
    ///
    /// Behind these are services that trust whoever can reach them: a database on this machine, a router's page, the
    /// credentials of a cloud machine. A public name can be made to lead to any of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Special {
        /// This machine.
        Loopback = "a loopback address",
        /// "This network": systems take `0.0.0.0` for this machine.
        Unspecified = "an address of \"this network\"",
        /// A private network.
        Private = "a private address",
        /// The link, without a router.
        LinkLocal = "a link-local address",
        /// The network between a provider and its customers.
        Shared = "an address of a provider's inner network",
        /// A service that hands out a cloud machine's credentials.
        Metadata = "the address of a cloud's metadata service",
        /// Many machines at once.
        Multicast = "a multicast address",
        /// Addresses nobody has been given, which some networks use for themselves.
        Reserved = "a reserved address",
    }
}

impl Special {
    /// What is special about an address; `None` for one of the open internet. The ranges for documentation count as
    /// such: nothing is there, and nothing can be.
    pub fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => version_4(address),
            IpAddr::V6(address) => version_6(address),
        }
    }
}

/// Metadata services that lie outside of what is link-local, or that deserve their own word inside of it.
const METADATA_4: &[Ipv4Addr] = &[
    // Most clouds.
    Ipv4Addr::new(169, 254, 169, 254),
    // Credentials of containers on AWS.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // Alibaba.
    Ipv4Addr::new(100, 100, 100, 200),
    // Oracle.
    Ipv4Addr::new(192, 0, 0, 192),
    // Azure; a public address by its number.
    Ipv4Addr::new(168, 63, 129, 16),
];

const METADATA_6: &[Ipv6Addr] = &[
    // AWS: the machine's, and the pods'.
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    // Google.
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

fn version_4(address: Ipv4Addr) -> Option<Special> {
    if METADATA_4.contains(&address) {
        return Some(Special::Metadata);
    }
    match address.octets() {
        [0, ..] => Some(Special::Unspecified),
        [127, ..] => Some(Special::Loopback),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(Special::Private),
        [169, 254, ..] => Some(Special::LinkLocal),
        [100, 64..=127, ..] => Some(Special::Shared),
        [224..=239, ..] => Some(Special::Multicast),
        // The first is for protocols, the second was never given out and ends with broadcast.
        [192, 0, 0, _] | [240..=255, ..] => Some(Special::Reserved),
        _ => None,
    }
}

fn version_6(address: Ipv6Addr) -> Option<Special> {
    if METADATA_6.contains(&address) {
        return Some(Special::Metadata);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Special::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Special::Loopback),
        [0xfe80..=0xfebf, ..] => Some(Special::LinkLocal),
        [0xff00..=0xffff, ..] => Some(Special::Multicast),
        // The second is "site-local", the older form of private addresses; the third a translator's own prefix, behind
        // which is what the local network says.
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => Some(Special::Private),
        // Teredo has its server's address and, inverted, its client's.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            version_4(inner(!high, !low)).or_else(|| version_4(inner(server_high, server_low)))
        }
        // Mapped, compatible, translated (RFC 2765), NAT64 and ISATAP have an address of version 4 at the end, 6to4 has
        // one behind its prefix.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => version_4(inner(high, low)),
        _ => None,
    }
}

fn inner(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::Special::{LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, Shared, Unspecified};
    use super::*;

    fn check(addresses: &[&str], expect: Option<Special>) {
        for address in addresses {
            assert_eq!(Special::of(address.parse().unwrap()), expect, "{address}");
        }
    }

    #[test]
    fn the_open_internet_is_not_special() {
        check(&["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1"], None);
        check(&["192.167.1.1", "192.169.1.1", "169.253.1.1", "223.255.255.255", "168.63.129.17"], None);
        check(&["2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::808:808", "2002:808:808::1"], None);
        check(&["::ffff:8.8.8.8", "2001:0:808:808::f7f7:f7f7"], None);
    }

    #[test]
    fn documentation_is_not_refused() {
        check(&["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1"], None);
    }

    #[test]
    fn each_range_is_known_from_its_first_to_its_last_address() {
        check(&["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"], Some(Loopback));
        check(&["0.0.0.0", "0.255.255.255", "::"], Some(Unspecified));
        check(&["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255"], Some(Private));
        check(&["192.168.0.0", "192.168.255.255", "fc00::", "fdff:ffff::1", "fec0::1"], Some(Private));
        check(&["169.254.0.0", "169.254.255.255", "fe80::1", "febf::1"], Some(LinkLocal));
        check(&["100.64.0.0", "100.127.255.255"], Some(Shared));
        check(&["224.0.0.1", "239.255.255.255", "ff02::1"], Some(Multicast));
        check(&["240.0.0.1", "255.255.255.255", "192.0.0.1"], Some(Reserved));
    }

    #[test]
    fn metadata_services_are_known_by_name() {
        check(&["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192"], Some(Metadata));
        check(&["168.63.129.16", "fd00:ec2::254", "fd20:ce::254"], Some(Metadata));
    }

    #[test]
    fn an_address_inside_another_counts() {
        check(&["::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1"], Some(Loopback));
        check(&["2002:7f00:1::", "2001:db8::5efe:7f00:1", "2001:db8::200:5efe:127.0.0.1"], Some(Loopback));
        check(&["64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::ffff:169.254.169.254"], Some(Metadata));
        // 10.0.0.1, inverted, and as the server.
        check(&["2001:0:808:808::f5ff:fffe", "2001:0:a00:1::f7f7:f7f7"], Some(Private));
        check(&["64:ff9b:1::808:808"], Some(Private));
    }
}
