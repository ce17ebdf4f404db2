//! The server as an HTTP service: a request in, a response out. Listening and authentication belong to its caller.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::ServerState;
use super::connection::Connection;

/// How long a response is kept for a client of the older revision whose connection broke. The SDK's default of one minute costs
/// megabytes with busy clients.
const RESPONSE_CACHE_TTL: Duration = Duration::from_secs(10);

/// An HTTP request with any body.
pub type Request<B> = http::Request<B>;

/// A response body, which may stream for as long as the connection lasts.
pub type Body = BoxBody<Bytes, Infallible>;

/// An HTTP response.
pub type Response = http::Response<Body>;

/// The server as an HTTP service. Clones share all state.
#[derive(Clone)]
pub struct HttpService {
    service: StreamableHttpService<Connection, LocalSessionManager>,
}

impl HttpService {
    /// The largest accepted request body. The largest legitimate one is a tool call.
    pub const MAX_REQUEST_BYTES: usize = 4 << 20;

    pub(crate) fn new(state: Arc<ServerState>) -> Self {
        let mut config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(Self::MAX_REQUEST_BYTES)
            // The caller checks Host, Origin and the token before a request arrives here.
            .disable_allowed_hosts();
        // Clients of the stateless revision get plain JSON when there is nothing to stream.
        config.json_response = true;
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.completed_cache_ttl = RESPONSE_CACHE_TTL;
        let make = move || Ok(Connection::over_http(Arc::clone(&state)));
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

    /// Ends all open connections. The service answers nothing afterwards.
    pub fn close(&self) {
        self.service.config.cancellation_token.cancel();
    }
}
