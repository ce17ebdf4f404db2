//! The place where it is listened.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::serve::ListenerExt;
use metier_mcp::server::Exchange;

use crate::guard::{Guard, Refused};

/// How long open connections get to end when the server does.
const FAREWELL: Duration = Duration::from_secs(2);

/// A place where it is listened.
#[derive(Debug)]
pub struct Site {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
}

/// Why it is not listened, or not any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// The place cannot be had.
    #[error("{address} cannot be listened at: {source}")]
    Taken {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Without a token everybody who reaches the place could run scripts.
    #[error("without a token it is listened on this machine alone, and {0} is reached from others")]
    Open(SocketAddr),
    /// It broke.
    #[error("the server ended: {0}")]
    Broken(#[from] io::Error),
}

impl Site {
    /// Takes a place; port 0 is any that is free.
    pub fn take(address: SocketAddr, guard: Guard) -> Result<Self, SiteError> {
        if guard.is_open() && !address.ip().is_loopback() {
            return Err(SiteError::Open(address));
        }
        let taken = |source| SiteError::Taken { address, source };
        let listener = TcpListener::bind(address).map_err(taken)?;
        listener.set_nonblocking(true).map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        // Whoever is told an address asks for it by that.
        let guard = if address.ip().is_unspecified() { guard } else { guard.host(&host(address)) };
        Ok(Self { listener, address, guard })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where MCP is.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `stop` is over; then what is open gets a moment to end.
    pub async fn serve(
        self,
        exchange: Exchange,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), SiteError> {
        // An answer of the older revision goes out in two pieces; without this the second waits until the first was acknowledged,
        // which takes 40 milliseconds. Where it cannot be set, answers are merely late.
        let listener = tokio::net::TcpListener::from_std(self.listener)?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let router = Router::new()
            .route("/mcp", any(answer))
            .with_state(exchange.clone())
            .layer(middleware::from_fn_with_state(Arc::new(self.guard), check));
        let (said, ended) = tokio::sync::oneshot::channel::<()>();
        let stop = async move {
            stop.await;
            exchange.close();
            let _ = said.send(());
        };
        let served = axum::serve(listener, router).with_graceful_shutdown(stop);
        let bounded = async {
            // Where it broke before anybody said so, the other one ends this.
            let _ = ended.await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            served = async { served.await } => Ok(served?),
            () = bounded => Ok(()),
        }
    }
}

/// An address as it stands before the port in a URL.
fn host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            let mut response = (refused.status(), refused.sentence()).into_response();
            if refused == Refused::Token {
                let scheme = HeaderValue::from_static("Bearer realm=\"metier\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            }
            debug_assert_ne!(response.status(), StatusCode::OK);
            response
        }
    }
}

async fn answer(State(exchange): State<Exchange>, request: Request) -> Response {
    exchange.answer(request).await.map(Body::new)
}
