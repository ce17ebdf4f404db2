//! The HTTP listener.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http_body::Body as HttpBody;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::connection;
use crate::connections::{ConnectionLimits, Connections};
use crate::guard::{Guard, Refused};

/// How long open connections, and what still runs, get to end when the server does.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long accepting rests after it failed for want of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many clients at once are told that there are too many. Each takes a descriptor for up to a second.
const MAX_REFUSALS: usize = 32;

/// The HTTP listener.
#[derive(Debug)]
pub struct Site {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
    limits: ConnectionLimits,
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
    pub fn take(address: SocketAddr, guard: Guard, limits: ConnectionLimits) -> Result<Self, SiteError> {
        if guard.is_open() && !address.ip().is_loopback() {
            return Err(SiteError::Open(address));
        }
        let taken = |source| SiteError::Taken { address, source };
        let listener = TcpListener::bind(address).map_err(taken)?;
        listener.set_nonblocking(true).map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        // Whoever is told an address asks for it by that.
        let guard = if address.ip().is_unspecified() { guard } else { guard.host(&host(address)) };
        Ok(Self { listener, address, guard, limits })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path, which begins with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Serves a path until `stop` completes. Requests with a body of more than `max_body` bytes are refused before `service` is
    /// called, which may take any time to answer. Connections that are open at the end then get a moment; a service that keeps
    /// some open by itself closes them in `stop`.
    pub async fn serve<F, B>(
        self,
        path: &str,
        max_body: usize,
        service: impl Fn(Request) -> F + Clone + Send + Sync + 'static,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), SiteError>
    where
        F: Future<Output = axum::http::Response<B>> + Send + 'static,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let limits = self.limits;
        let answer = async move |request: Request| match whole(request, max_body, limits.body_timeout).await {
            Ok(request) => service(request).await.map(Body::new),
            Err(refusal) => refusal,
        };
        let router = Router::new()
            .route(path, any(answer))
            .layer(middleware::from_fn_with_state(Arc::new(self.guard), check));
        let connections = Connections::new(limits);
        let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
        let (stopped, stopping) = watch::channel(false);
        let mut open = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                // What has ended is not kept.
                Some(_) = open.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, from)) => match connections.admit(from.ip()) {
                        Some(slot) => {
                            let (router, stopping) = (router.clone(), stopping.clone());
                            open.spawn(connection::serve(stream, slot, router, limits, stopping));
                        }
                        None => {
                            // Above this limit a connection is closed without an answer.
                            if let Ok(permit) = Arc::clone(&refusals).try_acquire_owned() {
                                open.spawn(async move {
                                    connection::refuse(stream).await;
                                    drop(permit);
                                });
                            }
                        }
                    },
                    Err(error) if is_of_the_client(&error) => {}
                    // No descriptor or no memory is left. A connection that waits gives its own back, and a pause keeps this from
                    // being tried thousands of times a second.
                    Err(_) => {
                        connections.close_oldest_idle();
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        stopped.send_replace(true);
        let ended = async { while open.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, ended).await;
        Ok(())
    }
}

/// Whether an accept failed for this one client, which has gone already.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
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
            response
        }
    }
}

/// A request with its body, read within its time; or why it is refused.
async fn whole(request: Request, max_body: usize, time: Duration) -> Result<Request, Response> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(time, axum::body::to_bytes(body, max_body)).await {
        Ok(Ok(body)) => Ok(Request::from_parts(head, Body::from(body))),
        Ok(Err(_)) => Err(closing(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large, or broke off\n")),
        Err(_) => Err(closing(StatusCode::REQUEST_TIMEOUT, "the request's body took too long\n")),
    }
}

/// A refusal after which the connection is closed: what is left of the request was not read.
fn closing(status: StatusCode, why: &'static str) -> Response {
    (status, [(header::CONNECTION, "close")], why).into_response()
}
