//! The network as `WebFetch` uses it: one request at a time, to an address that was looked at.
//!
//! [`PageUrl`] is whom a request is for, `reach` resolves once and refuses what is not the open internet, `request` is one request
//! and its answer within bounds, `charset` makes text of bytes, `html` makes readable text of a page,
//! without what `seen`, `style` and `style_sheet` say that a reader does not see.

mod charset;
mod colour;
mod html;
mod invisible;
mod page_url;
mod patience;
#[cfg(test)]
mod properties;
mod reach;
mod request;
mod seen;
mod style;
mod style_sheet;
mod tag;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use metier_model::http::Tls;

pub(super) use self::charset::decoded;
pub(super) use self::html::readable;
pub(super) use self::invisible::without_invisible;
pub(super) use self::page_url::PageUrl;
pub(super) use self::patience::Patience;
pub(super) use self::reach::AddressScope;
pub use self::reach::SystemResolver;
use self::request::Limits;
pub(super) use self::request::{PageRequest, WebAnswer, get};

/// How names become addresses.
pub trait PageResolver: Send + Sync {
    /// The addresses of a name, best first. It is asked once for each request; what it says is checked and connected to, so
    /// an answer that changes afterwards changes nothing.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// Where a checked address of a name is connected to: there, at the port of the request, which `0` means. Tests lead
    /// to servers of their own.
    fn route(&self, address: IpAddr) -> SocketAddr {
        SocketAddr::new(address, 0)
    }
}

/// The address of the proxy for a host, if there is one. The host has its port where it is not the usual one; the first
/// argument is whether it is asked over TLS.
pub type ProxyFor = dyn Fn(bool, &str) -> Option<String> + Send + Sync;

/// The network: how names become addresses, through which proxy they are asked, and whose certificates are believed.
#[derive(Clone)]
pub struct Web {
    resolver: Arc<dyn PageResolver>,
    proxy_for: Arc<ProxyFor>,
    authorities: Vec<Vec<u8>>,
    tls: Arc<OnceLock<Result<Tls, String>>>,
    limits: Limits,
}

impl Web {
    /// The machine's own network and the authorities that it trusts, without a proxy.
    pub fn system() -> Self {
        Self::new(Arc::new(SystemResolver), Vec::new())
    }

    /// Another network, and authorities in addition to the system's, each a certificate in DER: a company's own, or a test's.
    pub fn new(resolver: Arc<dyn PageResolver>, authorities: Vec<Vec<u8>>) -> Self {
        Self {
            resolver,
            proxy_for: Arc::new(|_, _| None),
            authorities,
            tls: Arc::default(),
            limits: Limits::default(),
        }
    }

    /// The same with proxies. A proxy resolves names itself; `reach` says what is checked then.
    #[must_use]
    pub fn with_proxies(mut self, proxy_for: Arc<ProxyFor>) -> Self {
        self.proxy_for = proxy_for;
        self
    }

    /// Whose certificates are believed. They are read from many files, so only where they are needed, and once.
    fn tls(&self) -> Result<Tls, String> {
        let read = || Tls::system(&self.authorities).map_err(|error| error.to_string());
        self.tls.get_or_init(read).clone()
    }

    /// How long a whole request may take.
    pub(super) fn time(&self) -> std::time::Duration {
        self.limits.time
    }

    /// The same with another time for a whole request, for callers that cannot wait as long.
    #[must_use]
    pub fn within(mut self, time: std::time::Duration) -> Self {
        self.limits.time = time;
        self
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("limits", &self.limits).finish_non_exhaustive()
    }
}
