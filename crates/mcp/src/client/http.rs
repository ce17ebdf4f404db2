//! HTTP to a server: bounded in everything that the server could make long.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use sse_stream::{Sse, SseStream};

/// The largest message of a server, in bytes: the largest skill's file as it travels, with room for its escapes. What is longer is
/// not read to its end.
pub(super) const MAX_MESSAGE: usize = 48 * 1024 * 1024;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(15);

/// The header by which a server of the revision of 2025 knows a session.
const SESSION: &str = "mcp-session-id";

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// How much of an answer that is none is told.
const SHOWN: usize = 200;

/// A client that reads no more than it must.
#[derive(Clone, Debug)]
pub(super) struct Bounded(reqwest::Client);

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpFault {
    /// The connection.
    #[error("{}", cause(.0))]
    Reqwest(#[from] reqwest::Error),
    /// The answer does not end.
    #[error("the answer has more than {MAX_MESSAGE} bytes")]
    TooLarge,
}

fn cause(error: &reqwest::Error) -> String {
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string()
}

/// A way to an address.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<Bounded>, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(MAX_MESSAGE);
    let mut custom = HashMap::new();
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("authorization")
            && let Some(token) = value.strip_prefix("Bearer ")
        {
            config = config.auth_header(token);
            continue;
        }
        let name: HeaderName = name.parse().map_err(|_| format!("`{name}` is no header"))?;
        let mut value: HeaderValue = value.parse().map_err(|_| format!("the value of `{name}` is none"))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    let client = client(url).map_err(|error| error.to_string())?;
    Ok(StreamableHttpClientTransport::with_client(Bounded(client), config.custom_headers(custom)))
}

/// It follows no redirect: a header with a key goes to no address but the configured one.
fn client(url: &str) -> Result<reqwest::Client, Box<dyn std::error::Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let tls = if url.starts_with("https:") {
        builder.with_platform_verifier()?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.with_no_client_auth())
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .http1_only()
        .connect_timeout(CONNECT)
        .user_agent(concat!("metier/", env!("CARGO_PKG_VERSION")));
    Ok(client.build()?)
}

type Fault = StreamableHttpError<HttpFault>;

fn fault(error: impl Into<HttpFault>) -> Fault {
    StreamableHttpError::Client(error.into())
}

/// What the library found, told in our words.
fn translated(error: StreamableHttpError<reqwest::Error>) -> Fault {
    match error {
        StreamableHttpError::Client(error) => fault(error),
        StreamableHttpError::ServerDoesNotSupportSse => StreamableHttpError::ServerDoesNotSupportSse,
        StreamableHttpError::AuthRequired(why) => StreamableHttpError::AuthRequired(why),
        StreamableHttpError::SessionExpired => StreamableHttpError::SessionExpired,
        other => StreamableHttpError::UnexpectedServerResponse(Cow::Owned(other.to_string())),
    }
}

impl StreamableHttpClient for Bounded {
    type Error = HttpFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let mut request = self.0.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let had_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.json(&message).send().await.map_err(fault)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && had_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| {
            let value = response.headers().get(name).and_then(|value| value.to_str().ok());
            value.map(str::to_owned)
        };
        let (kind, session) = (header(CONTENT_TYPE.as_str()).unwrap_or_default(), header(SESSION));
        let is_asked = matches!(message, ClientJsonRpcMessage::Request(_));
        if status.is_success() && kind.starts_with(EVENTS) {
            let bytes = Counted { inner: Box::pin(response.bytes_stream()), left: MAX_MESSAGE };
            return Ok(StreamableHttpPostResponse::Sse(
                Box::pin(SseStream::from_bytes_stream(bytes)),
                session,
            ));
        }
        let body = whole(response).await?;
        let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(&body);
        match parsed {
            Ok(answer) if status.is_success() => Ok(StreamableHttpPostResponse::Json(answer, session)),
            // Nobody waits for an answer to what is no question.
            _ if status.is_success() && !is_asked => Ok(StreamableHttpPostResponse::Accepted),
            parsed => refused(&message, status, parsed.ok(), &body, had_session),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        let deleted = self.0.delete_session(uri, session, token, headers);
        deleted.await.map_err(translated)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Pin<Box<dyn Stream<Item = Result<Sse, SseError>> + Send>>, Fault> {
        let stream =
            self.0.get_stream_with_max_sse_event_size(uri, session, last, token, headers, MAX_MESSAGE);
        stream.await.map_err(translated)
    }
}

/// An answer that is no success. A server of the revision before says so to a question that it does not know, and is then asked in
/// its own way.
fn refused(
    message: &ClientJsonRpcMessage,
    status: StatusCode,
    parsed: Option<ServerJsonRpcMessage>,
    body: &[u8],
    had_session: bool,
) -> Result<StreamableHttpPostResponse, Fault> {
    let is_closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let shown = metier_catalog::one_line(&String::from_utf8_lossy(body), SHOWN);
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !is_closed
        && !had_session
    {
        let error = match parsed {
            Some(ServerJsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(format!("HTTP {status}: {shown}"), None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match parsed {
        Some(error @ ServerJsonRpcMessage::Error(_)) if !is_closed => {
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        _ => {
            Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}: {shown}"))))
        }
    }
}

/// A body, read piece by piece and no further than its bound.
async fn whole(mut response: Response) -> Result<Vec<u8>, Fault> {
    if response.content_length().is_some_and(|length| length > MAX_MESSAGE as u64) {
        return Err(fault(HttpFault::TooLarge));
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(fault)? {
        if body.len() + piece.len() > MAX_MESSAGE {
            return Err(fault(HttpFault::TooLarge));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// A stream of pieces that ends with an error where it becomes too long.
struct Counted<S> {
    inner: Pin<Box<S>>,
    left: usize,
}

impl<S, B> Stream for Counted<S>
where
    S: Stream<Item = Result<B, reqwest::Error>>,
    B: AsRef<[u8]>,
{
    type Item = Result<B, HttpFault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = match self.inner.as_mut().poll_next(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(piece)) => piece,
        };
        Poll::Ready(Some(piece.map_err(HttpFault::from).and_then(|piece| {
            self.left = self.left.checked_sub(piece.as_ref().len()).ok_or(HttpFault::TooLarge)?;
            Ok(piece)
        })))
    }
}
