//! The client that carries requests.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::endpoint::{Endpoint, EndpointError};

/// How long an unused connection is kept: longer than most tools run. One that its server closed before is not used again.
const IDLE: Duration = Duration::from_mins(1);

/// A client for one endpoint. It follows no redirect, takes no proxy that was not given to it, and repeats nothing by
/// itself: what is sent where, and how often, is decided above.
pub(crate) fn client(endpoint: &Endpoint) -> Result<reqwest::Client, EndpointError> {
    let fault = |why: String| EndpointError::Client { why };
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(endpoint).map_err(|error| fault(error.to_string()))?)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .http1_only()
        .connect_timeout(endpoint.timeouts().connect)
        .pool_idle_timeout(IDLE)
        .user_agent(concat!("metier/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = endpoint.proxy() {
        builder = builder.proxy(reqwest::Proxy::all(proxy.clone()).map_err(|error| fault(cause(error)))?);
    }
    builder.build().map_err(|error| fault(cause(error)))
}

/// The system's certificates, so that a company's own count. They are read from many files, so only where they are used:
/// without TLS, and with no redirect that could lead to it, nobody is trusted.
fn tls(endpoint: &Endpoint) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let verified = if endpoint.has_tls() {
        let own = endpoint.authorities().iter().map(|der| CertificateDer::from(der.clone()));
        let verifier = Verifier::new_with_extra_roots(own, provider)?;
        // The name is rustls's warning to whoever checks nothing; this verifier is the platform's.
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(verified.with_no_client_auth())
}

/// What went wrong at the bottom of it, without the address: what lies above only says that a request was sent.
pub(crate) fn cause(error: reqwest::Error) -> String {
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
