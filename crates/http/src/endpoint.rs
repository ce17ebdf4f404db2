//! What the listener serves: a path, and the service that answers there.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use http_body::Body as HttpBody;

/// A boxed service, so that [`Endpoint`] does not carry its type.
type Answer = dyn Fn(Request) -> Pin<Box<dyn Future<Output = Response> + Send>> + Send + Sync;

/// A path, and the service that answers there. The listener knows nothing else of the service.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) path: &'static str,
    pub(crate) max_body: usize,
    answer: Arc<Answer>,
}

impl Endpoint {
    /// An endpoint at `path`. Requests with a body of more than `max_body` bytes are refused before `answer` is called.
    pub fn new<F, B>(
        path: &'static str,
        max_body: usize,
        answer: impl Fn(Request) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = axum::http::Response<B>> + Send + 'static,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let boxed = move |request| -> Pin<Box<dyn Future<Output = Response> + Send>> {
            let answered = answer(request);
            Box::pin(async move { answered.await.map(Body::new) })
        };
        Self { path, max_body, answer: Arc::new(boxed) }
    }

    pub(crate) async fn answer(&self, request: Request) -> Response {
        (self.answer)(request).await
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("path", &self.path).finish_non_exhaustive()
    }
}
