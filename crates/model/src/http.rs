//! HTTP clients as all of metier makes them: nothing is followed, repeated or taken from the environment.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::endpoint::{Endpoint, EndpointError};

/// How long an unused connection is kept: longer than most tools run. One that its server closed before is not used again.
const IDLE: Duration = Duration::from_mins(1);

/// Whose certificates a client believes. Copies share what was read.
#[derive(Clone, Debug)]
pub struct Tls(ClientConfig);

/// Why certificates cannot be checked.
#[derive(Clone, Debug, thiserror::Error)]
#[error("certificates cannot be checked: {0}")]
pub struct TlsError(#[from] rustls::Error);

impl Tls {
    /// The system's authorities, a company's own among them, and these in DER. They are read from many files, so ask for them
    /// only where something is encrypted.
    pub fn system(authorities: &[Vec<u8>]) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let own = authorities.iter().map(|der| CertificateDer::from(der.clone()));
        let verifier = Verifier::new_with_extra_roots(own, Arc::clone(&provider))?;
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        // The name is rustls's warning to those who check nothing; this verifier is the platform's.
        let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        Ok(Self(config.with_no_client_auth()))
    }

    /// No authority: for plain HTTP, where no redirect can lead to TLS.
    pub fn none() -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(Self(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()))
    }
}

/// A client that follows no redirect, takes no proxy that was not given to it, and repeats nothing by itself: what is sent
/// where, and how often, is decided above.
pub fn client_builder(tls: Tls) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.0)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .http1_only()
        .user_agent(concat!("metier/", env!("CARGO_PKG_VERSION")))
}

/// A client for one endpoint.
pub(crate) fn client(endpoint: &Endpoint) -> Result<reqwest::Client, EndpointError> {
    let fault = |why: String| EndpointError::Client { why };
    let tls = if endpoint.has_tls() { Tls::system(endpoint.authorities()) } else { Tls::none() };
    let mut builder = client_builder(tls.map_err(|error| fault(error.to_string()))?)
        .connect_timeout(endpoint.timeouts().connect)
        .pool_idle_timeout(IDLE);
    if let Some(proxy) = endpoint.proxy() {
        builder = builder.proxy(reqwest::Proxy::all(proxy.clone()).map_err(|error| fault(cause(error)))?);
    }
    builder.build().map_err(|error| fault(cause(error)))
}

/// What went wrong at the bottom of it, without the address: what lies above only says that a request was sent.
pub fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    text
}

/// Whether a connection failed because of the other side's certificate. The fact lies deep in the causes, and an IO error hides its own.
pub(crate) fn is_certificate(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| cause.source());
    }
    false
}
