//! From a contact to a connection: the decision, the address, the socket.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use crate::address::Special;
use crate::event::{Event, Refusal, Trouble};
use crate::proxy::Shared;
use crate::questions::Turn;
use crate::roster::Seat;
use crate::target::Target;
use crate::warden::{Contact, Reach, Verdict};

/// The most addresses of one name that are tried. Large sites have a dozen; when six do not answer, none will in time.
const MAX_TRIED: usize = 6;

/// Why there is no connection.
pub(crate) enum Unreached {
    Refused(Refusal),
    Failed(Trouble),
    /// The proxy has ended, and what there was to say has been said.
    Gone,
}

/// Asks, resolves, checks and connects. Resolution happens once, here; the address that was checked is the one that is
/// connected to, so a name server that answers differently the second time is never asked a second time.
pub(crate) fn reach(
    shared: &Shared,
    seat: &mut Seat,
    contact: &Contact,
    client: &Arc<TcpStream>,
) -> Result<(TcpStream, SocketAddr), Unreached> {
    let target = Target { host: contact.host.clone(), port: contact.port };
    let reach = match decided(shared, seat, contact, &target, client)? {
        Verdict::Pass(reach) => reach,
        Verdict::Refuse { reason, remedy } => {
            return Err(Unreached::Refused(Refusal::NotAllowed { reason, remedy }));
        }
    };
    // Not even a name server hears of a host after the call has ended.
    if !seat.leave(contact, client) {
        return Err(Unreached::Failed(Trouble::Stopped));
    }
    let found = checked(shared, contact, reach).and_then(|addresses| dial(shared, &addresses, contact.port));
    if seat.come_back() { found } else { Err(Unreached::Gone) }
}

/// What the warden says, or has said.
fn decided(
    shared: &Shared,
    seat: &mut Seat,
    contact: &Contact,
    target: &Target,
    client: &Arc<TcpStream>,
) -> Result<Verdict, Unreached> {
    let is_mine = match shared.questions.turn(target) {
        Turn::Known(verdict) => return Ok(verdict),
        Turn::Theirs => false,
        Turn::Mine => true,
    };
    if is_mine {
        shared.tell(&Event::Asking(contact.clone()));
    }
    if !seat.leave(contact, client) {
        if is_mine {
            let reason = Trouble::Stopped.to_string();
            shared.questions.ask(target, || Verdict::Refuse { reason, remedy: None });
        }
        return Err(Unreached::Failed(Trouble::Stopped));
    }
    let verdict = if is_mine {
        Some(shared.questions.ask(target, || shared.warden.may(contact)))
    } else {
        shared.questions.wait(target)
    };
    if !seat.come_back() {
        return Err(Unreached::Gone);
    }
    if is_mine {
        shared.tell(&Event::Answered(contact.clone()));
    }
    verdict.ok_or(Unreached::Failed(Trouble::Stopped))
}

/// The addresses of a host that may be connected to.
fn checked(shared: &Shared, contact: &Contact, reach: Reach) -> Result<Vec<IpAddr>, Unreached> {
    let found = match contact.host.address() {
        Some(address) => vec![address],
        None => shared
            .outside
            .resolve(contact.host.as_str())
            .map_err(|error| Unreached::Failed(Trouble::NoAddress(error.to_string())))?,
    };
    let mut special = None;
    let mut open = Vec::new();
    for address in found {
        let Some(kind) = Special::of(address) else {
            open.push(address);
            continue;
        };
        // A rule that names a host by its name says nothing about where that name leads.
        let is_named = reach == Reach::Named
            && (contact.host.address().is_some()
                || (contact.host.is_localhost() && kind == Special::Loopback));
        if is_named || shared.warden.names(address.to_canonical(), contact.port) {
            open.push(address);
        } else {
            special.get_or_insert(Refusal::SpecialAddress { special: kind, address: address.to_canonical() });
        }
    }
    match special {
        // One address of the open internet is enough: the others are left alone.
        _ if !open.is_empty() => Ok(in_turn(&open)),
        Some(refusal) => Err(Unreached::Refused(refusal)),
        None => Err(Unreached::Failed(Trouble::NoAddress("no address was found".to_owned()))),
    }
}

/// The addresses with both families in turn, so that a family without a way out costs one wait and not all.
fn in_turn(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let is_first =
        |address: &&IpAddr| addresses.first().is_some_and(|first| first.is_ipv4() == address.is_ipv4());
    let mut first = addresses.iter().filter(is_first);
    let mut second = addresses.iter().filter(|address| !is_first(address));
    let mut ordered = Vec::with_capacity(addresses.len());
    loop {
        let before = ordered.len();
        ordered.extend(first.next());
        ordered.extend(second.next());
        if ordered.len() == before {
            return ordered;
        }
    }
}

fn dial(shared: &Shared, addresses: &[IpAddr], port: u16) -> Result<(TcpStream, SocketAddr), Unreached> {
    let until = Instant::now() + shared.limits.connect;
    let mut trouble = Trouble::NoConnection(io::ErrorKind::TimedOut, "no time was left".to_owned());
    let tried = &addresses[..addresses.len().min(MAX_TRIED)];
    for (index, address) in tried.iter().enumerate() {
        if shared.stop.is_pulled() {
            return Err(Unreached::Failed(Trouble::Stopped));
        }
        let address = SocketAddr::new(*address, port);
        // What is left is shared among those that are left, so that the last one gets its try.
        let others = u32::try_from(tried.len() - index).unwrap_or(1);
        let left = until.saturating_duration_since(Instant::now()) / others;
        if left.is_zero() {
            break;
        }
        let made = shared.outside.connect(address, left).and_then(|server| {
            server.set_nonblocking(true)?;
            // Whoever speaks in small pieces waits for the answer to each of them.
            server.set_nodelay(true)?;
            Ok(server)
        });
        match made {
            Ok(server) => return Ok((server, address)),
            Err(error) => trouble = Trouble::NoConnection(error.kind(), format!("{address}: {error}")),
        }
    }
    Err(Unreached::Failed(trouble))
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn both_families_are_tried_in_turn_and_the_first_stays_first() {
        let read = |list: &str| list.split(' ').map(|address| address.parse().unwrap()).collect::<Vec<_>>();
        assert_eq!(in_turn(&read("::1 ::2 ::3 1.1.1.1 2.2.2.2")), read("::1 1.1.1.1 ::2 2.2.2.2 ::3"));
        assert_eq!(in_turn(&read("1.1.1.1 2.2.2.2")), read("1.1.1.1 2.2.2.2"));
        assert_eq!(in_turn(&read("1.1.1.1 ::1")), read("1.1.1.1 ::1"));
    }
}
