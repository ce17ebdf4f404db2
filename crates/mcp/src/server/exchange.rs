//! The server over HTTP: a request in, a response out. Who may ask, and where it is listened, is for whoever holds it.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::Hall;
use super::connection::{Carrier, Connection};

/// How long an answer is kept for a client of the older revision whose connection broke. The SDK would keep them for a minute, which
/// is megabytes for clients that ask often.
const KEPT: Duration = Duration::from_secs(10);

/// A request with any body.
pub type Request<B> = http::Request<B>;

/// The body of a response, which may go on for as long as a connection lasts.
pub type Body = BoxBody<Bytes, Infallible>;

/// A response.
pub type Response = http::Response<Body>;

/// The server over HTTP. A clone is the same one once more.
#[derive(Clone)]
pub struct Exchange {
    service: StreamableHttpService<Connection, LocalSessionManager>,
}

impl Exchange {
    /// The largest request that is read. The largest that a client has to send is a call of a tool.
    pub const MAX_REQUEST_BYTES: usize = 4 << 20;

    pub(super) fn new(hall: Arc<Hall>) -> Self {
        let mut config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(Self::MAX_REQUEST_BYTES)
            // Host and Origin are checked before anything comes here, together with the token.
            .disable_allowed_hosts();
        // A client that speaks the revision without sessions gets plain JSON where nothing else has to be said.
        config.json_response = true;
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.completed_cache_ttl = KEPT;
        let make = move || Ok(Connection::new(Arc::clone(&hall), Carrier::Http));
        Self { service: StreamableHttpService::new(make, Arc::new(sessions), config) }
    }

    /// Answers a request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body + Send + 'static,
        B::Error: Display,
    {
        self.service.handle(request).await
    }

    /// Ends every connection that is open; nothing is answered from here on.
    pub fn close(&self) {
        self.service.config.cancellation_token.cancel();
    }
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}
