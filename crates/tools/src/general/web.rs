//! The network as `WebFetch` uses it: one request at a time, to an address that was looked at.
//!
//! [`Url`] is whom a request is for, `reach` resolves once and refuses what is not the open internet, `request` is one request
//! and its answer within bounds, `charset` makes text of bytes, `html` makes readable text of a page,
//! without what `seen`, `style` and `style_sheet` say that a reader does not see.

mod answer;
mod charset;
mod colour;
mod entity;
mod html;
mod invisible;
mod patience;
#[cfg(test)]
mod properties;
mod reach;
mod request;
mod seen;
mod style;
mod style_sheet;
mod tag;
mod timed;
mod url;

use std::fmt;
use std::sync::Arc;

use metier_proxy::{Outside, System};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

pub(super) use self::answer::Answer;
pub(super) use self::charset::decoded;
pub(super) use self::html::readable;
pub(super) use self::invisible::without_invisible;
pub(super) use self::patience::Patience;
pub(super) use self::reach::LimitHit;
use self::request::Limits;
pub(super) use self::request::get;
pub(super) use self::url::{Scheme, Url};

/// The network: how names become addresses and addresses connections, and whose certificates are believed.
#[derive(Clone)]
pub struct Web {
    outside: Arc<dyn Outside>,
    tls: Arc<ClientConfig>,
    limits: Limits,
}

/// A certificate that cannot be used as an authority.
#[derive(Debug, thiserror::Error)]
#[error("the authority's certificate cannot be used: {0}")]
pub struct NoAuthority(String);

impl Web {
    /// The machine's own network, with the authorities that browsers trust.
    pub fn system() -> Result<Self, NoAuthority> {
        Self::new(Arc::new(System), &[])
    }

    /// Another network, and authorities beside the usual ones, each a certificate in DER: a company's own, or a test's.
    pub fn new(outside: Arc<dyn Outside>, authorities: &[Vec<u8>]) -> Result<Self, NoAuthority> {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let failed = |error: rustls::Error| NoAuthority(error.to_string());
        for authority in authorities {
            roots.add(CertificateDer::from(authority.clone())).map_err(failed)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(failed)?.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { outside, tls: Arc::new(config), limits: Limits::default() })
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
