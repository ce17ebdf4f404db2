//! Which connections are open, and which one gives way when there are too many.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// Default of connections at once. A host has a handful; each takes a descriptor, of which a process usually has 1,024.
pub const DEFAULT_CONNECTIONS: usize = 256;

/// Default of connections from one address. All clients on this machine have the same address.
pub const DEFAULT_PER_ADDRESS: usize = 128;

/// Default time for a request's head, and for the next request on a connection to begin.
pub const DEFAULT_HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Default time for a request's body. The largest has a few megabytes.
pub const DEFAULT_BODY_TIMEOUT: Duration = Duration::from_mins(1);

/// What clients may take up. An answer may take as long as it takes: streams are never cut by these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address.
    pub per_address: usize,
    /// Time for a request's head, and for the next request to begin.
    pub head_timeout: Duration,
    /// Time for a request's body.
    pub body_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: DEFAULT_CONNECTIONS,
            per_address: DEFAULT_PER_ADDRESS,
            head_timeout: DEFAULT_HEAD_TIMEOUT,
            body_timeout: DEFAULT_BODY_TIMEOUT,
        }
    }
}

/// The connections that are open, oldest first.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: ConnectionLimits,
    open: Mutex<Vec<Arc<OpenConnection>>>,
}

#[derive(Debug)]
struct OpenConnection {
    address: IpAddr,
    /// Requests whose head has come and whose answer has not ended.
    requests: AtomicUsize,
    close: Notify,
}

/// One connection's place among the open ones; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connection: Arc<OpenConnection>,
    connections: Arc<Connections>,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<OpenConnection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection. Where all are taken, the oldest connection without a request gives way: a client that sends
    /// half a head and waits cannot keep others out. `None` where every connection has a request that is being answered.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let mut open = self.open();
        if open.iter().filter(|connection| connection.address == address).count() >= self.limits.per_address
            && !close_idle(&mut open, |connection| connection.address == address)
        {
            return None;
        }
        if open.len() >= self.limits.connections && !close_idle(&mut open, |_| true) {
            return None;
        }
        let connection =
            Arc::new(OpenConnection { address, requests: AtomicUsize::new(0), close: Notify::new() });
        open.push(Arc::clone(&connection));
        Some(ConnectionSlot { connection, connections: Arc::clone(self) })
    }

    /// Closes the oldest connection without a request, where there is one.
    pub(crate) fn close_oldest_idle(&self) {
        close_idle(&mut self.open(), |_| true);
    }
}

fn close_idle(open: &mut Vec<Arc<OpenConnection>>, which: impl Fn(&OpenConnection) -> bool) -> bool {
    let is_idle = |connection: &Arc<OpenConnection>| {
        connection.requests.load(Ordering::Relaxed) == 0 && which(connection)
    };
    let Some(at) = open.iter().position(is_idle) else { return false };
    open.remove(at).close.notify_one();
    true
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.open().retain(|connection| !Arc::ptr_eq(connection, &self.connection));
    }
}

impl ConnectionSlot {
    /// Over when this connection has to give way.
    pub(crate) async fn closed(&self) {
        self.connection.close.notified().await;
    }

    /// Says that a request is being answered, until what is given back is dropped.
    pub(crate) fn request(&self) -> RequestInFlight {
        self.connection.requests.fetch_add(1, Ordering::Relaxed);
        RequestInFlight(Arc::clone(&self.connection))
    }
}

/// A request that is being answered. Its connection does not give way.
#[derive(Debug)]
pub(crate) struct RequestInFlight(Arc<OpenConnection>);

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn connections(connections: usize, per_address: usize) -> Arc<Connections> {
        Connections::new(ConnectionLimits { connections, per_address, ..ConnectionLimits::default() })
    }

    #[test]
    fn the_oldest_that_waits_gives_way_and_one_at_work_does_not() {
        let table = connections(2, 2);
        let first = table.admit(ONE).unwrap();
        let at_work = first.request();
        let second = table.admit(ONE).unwrap();
        let third = table.admit(OTHER).unwrap();
        assert_eq!(table.open().len(), 2);
        drop(second);
        let (_busy, _too) = (third.request(), at_work);
        assert!(table.admit(OTHER).is_none());
        drop(third.request());
        assert!(table.admit(OTHER).is_none(), "one of its two requests is still answered");
    }

    #[test]
    fn one_address_does_not_take_all_places() {
        let table = connections(10, 2);
        let busy: Vec<_> = (0..2).map(|_| table.admit(ONE).unwrap()).collect();
        let _requests: Vec<_> = busy.iter().map(ConnectionSlot::request).collect();
        assert!(table.admit(ONE).is_none());
        assert!(table.admit(OTHER).is_some());
        drop(busy);
    }

    #[test]
    fn a_place_is_given_back() {
        let table = connections(1, 1);
        drop(table.admit(ONE).unwrap());
        assert!(table.open().is_empty());
    }
}
