//! Which sockets a contained process may make, and what it may do with them.
//!
//! With a gateway it may make TCP sockets. What keeps them to the gateway is its network, in which there is nothing else,
//! and Landlock, which knows one port; the rules here close what goes past Landlock's questions.

use super::bpf::{Action, Check};
use crate::kernel::{Notice, Verdict};
use crate::profile::Network;
use crate::tier::Tier;

/// The bits of a socket's type that are no flags.
const KIND: u32 = 0xf;

/// `TCP_ULP`: another protocol on top of a connection, each a part of the kernel of its own.
const UPPER_PROTOCOL: i32 = 31;

/// The calls about sockets that do not simply pass.
pub(crate) fn actions(tier: Tier, network: Network) -> Vec<(libc::c_long, Action)> {
    let local = Check::is(0, &[libc::AF_UNIX]);
    // A pair of datagram sockets can be pointed at any other address; a pair of streams stays a pair.
    let streams =
        Check::Not { argument: 1, mask: KIND, values: vec![libc::SOCK_DGRAM as u32, libc::SOCK_RAW as u32] };
    if tier == Tier::Landlock {
        // Without a mount view and a network namespace every local socket of the user's could be reached.
        return vec![
            (libc::SYS_socket, Action::When(vec![Check::is(0, &[])])),
            (libc::SYS_socketpair, Action::When(vec![local, streams])),
            (libc::SYS_setsockopt, Action::WhenAny(options(network))),
        ];
    }
    let mut actions = vec![
        (libc::SYS_socketpair, Action::When(vec![local.clone()])),
        (libc::SYS_setsockopt, Action::WhenAny(options(network))),
    ];
    match network {
        Network::None => actions.push((libc::SYS_socket, Action::When(vec![local]))),
        Network::Gateway => {
            let tcp = vec![
                Check::is(0, &[libc::AF_INET, libc::AF_INET6]),
                Check::OneOf { argument: 1, mask: KIND, values: vec![libc::SOCK_STREAM as u32] },
                // Not the others that are streams, too: Landlock looks at TCP only.
                Check::is(2, &[0, libc::IPPROTO_TCP]),
            ];
            actions.push((libc::SYS_socket, Action::WhenAny(vec![vec![local], tcp])));
            // With this flag a socket connects while it sends, and Landlock is not asked.
            for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
                let bits = libc::MSG_FASTOPEN as u32;
                actions.push((call, Action::When(vec![Check::NoneOf { argument, bits }])));
            }
            // A socket that was never bound gets a port by this call, and Landlock is not asked. Whether it is a socket
            // of the network is behind the descriptor, where a filter cannot look; see `judge_listening`.
            actions.push((libc::SYS_listen, Action::Deny));
        }
    }
    actions
}

/// The options of a socket that may be set, by level and number: all but a size of its queues, since the supervisor counts
/// on the usual one, and but for another protocol over TCP.
fn options(network: Network) -> Vec<Vec<Check>> {
    let sizes = [libc::SO_SNDBUF, libc::SO_RCVBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE];
    let mut options = vec![vec![Check::is(1, &[libc::SOL_SOCKET]), Check::is_not(2, &sizes)]];
    match network {
        Network::None => options.push(vec![Check::is_not(1, &[libc::SOL_SOCKET])]),
        Network::Gateway => options.extend([
            vec![Check::is_not(1, &[libc::SOL_SOCKET, libc::SOL_TCP])],
            vec![Check::is(1, &[libc::SOL_TCP]), Check::is_not(2, &[UPPER_PROTOCOL])],
        ]),
    }
    options
}

/// Lets a process listen on a local socket, as many do to talk to their own children, and on no other.
///
/// A program can put another socket behind the same number after this look. What it wins is a port in its own network
/// that nobody can connect to, since Landlock lets its processes connect to the gateway only and nobody else is there.
pub(crate) fn judge_listening(notice: &Notice) -> Verdict {
    let descriptor = notice.arguments[0] & 0xffff_ffff;
    let path = format!("/proc/{}/fd/{descriptor}", notice.process);
    let mut name = [0_u8; 32];
    match rustix::fs::getxattr(path, "system.sockprotoname", &mut name[..]) {
        Ok(_) if name.starts_with(b"UNIX") => Verdict::Passes,
        _ => Verdict::Fails(libc::EACCES),
    }
}

/// What was tried, in words; `None` where it is none of these calls.
pub(crate) fn describe(notice: &Notice) -> Option<(&'static str, String)> {
    let [first, second] = [0, 1].map(|at: usize| notice.arguments[at] & 0xffff_ffff);
    Some(match i64::from(notice.call) {
        libc::SYS_socket | libc::SYS_socketpair => ("socket", family(first, second)),
        libc::SYS_listen => ("listen", "a network port".to_owned()),
        libc::SYS_sendto | libc::SYS_sendmsg | libc::SYS_sendmmsg => {
            ("send", "a connection without `connect`".to_owned())
        }
        libc::SYS_setsockopt if second == u64::from(libc::SOL_SOCKET.cast_unsigned()) => {
            ("setsockopt", "a larger queue".to_owned())
        }
        libc::SYS_setsockopt => ("setsockopt", "another protocol over TCP".to_owned()),
        _ => return None,
    })
}

fn family(family: u64, kind: u64) -> String {
    let datagrams = kind & u64::from(KIND) == u64::from(libc::SOCK_DGRAM.cast_unsigned());
    let name = match i32::try_from(family) {
        Ok(libc::AF_INET) if datagrams => "network (IPv4, datagrams)",
        Ok(libc::AF_INET6) if datagrams => "network (IPv6, datagrams)",
        Ok(libc::AF_INET) => "network (IPv4)",
        Ok(libc::AF_INET6) => "network (IPv6)",
        Ok(libc::AF_UNIX) => "local socket",
        Ok(libc::AF_NETLINK) => "the kernel's network tables",
        Ok(libc::AF_PACKET) => "raw packets",
        Ok(libc::AF_VSOCK) => "the machine's host",
        _ => return format!("address family {family}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_the_gateway_is_asked_only_where_there_is_one() {
        let calls = |tier, network| -> Vec<_> {
            let mut calls: Vec<_> = actions(tier, network).into_iter().map(|(call, _)| call).collect();
            calls.sort_unstable();
            calls
        };
        for tier in [Tier::Namespaces, Tier::Landlock] {
            let mut expect = [libc::SYS_socket, libc::SYS_socketpair, libc::SYS_setsockopt];
            expect.sort_unstable();
            assert_eq!(calls(tier, Network::None), expect);
        }
        assert_eq!(calls(Tier::Namespaces, Network::Gateway).len(), 7);
    }

    #[test]
    fn listening_is_judged_by_the_socket_and_not_by_the_program() {
        use std::os::fd::AsRawFd;
        let local = std::os::unix::net::UnixDatagram::unbound().unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (pipe, _other) = std::io::pipe().unwrap();
        let check = |descriptor: i32, expect: Verdict| {
            let mut arguments = [0; 6];
            arguments[0] = u64::from(descriptor.cast_unsigned());
            let notice = Notice { id: 0, process: std::process::id(), call: 0, arguments };
            assert_eq!(judge_listening(&notice), expect);
        };
        check(local.as_raw_fd(), Verdict::Passes);
        check(tcp.as_raw_fd(), Verdict::Fails(libc::EACCES));
        check(pipe.as_raw_fd(), Verdict::Fails(libc::EACCES));
        check(9999, Verdict::Fails(libc::EACCES));
    }
}
