//! HTTP to a server, with limits on everything that the server controls.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Limited};
use metier_model::http::{Tls, client_builder};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Body, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

/// The largest message from a server in bytes: the largest file of a skill in base64, with room for escapes. Longer ones are not
/// read to the end.
pub(crate) const MAX_MESSAGE: usize = 48 * 1024 * 1024;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// The session header of the 2025 revision.
const SESSION_HEADER: &str = "mcp-session-id";

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// How many characters of an unexpected response are shown.
const MAX_SHOWN: usize = 200;

/// An HTTP client with size limits.
#[derive(Clone, Debug)]
pub(crate) struct BoundedClient(reqwest::Client);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The connection failed.
    #[error("{}", root_cause(.0))]
    Reqwest(#[from] reqwest::Error),
    /// The response is too large.
    #[error("the response has more than {MAX_MESSAGE} bytes")]
    TooLarge,
}

/// The innermost cause of an error.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut source = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string()
}

/// A transport to a URL.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<BoundedClient>, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(MAX_MESSAGE);
    let mut custom = HashMap::new();
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("authorization")
            && let Some(token) = value.strip_prefix("Bearer ")
        {
            config = config.auth_header(token);
            continue;
        }
        let name: HeaderName = name.parse().map_err(|_| format!("invalid header name `{name}`"))?;
        let mut value: HeaderValue =
            value.parse().map_err(|_| format!("invalid value of the header `{name}`"))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    let client = client(url).map_err(|error| error.to_string())?;
    Ok(StreamableHttpClientTransport::with_client(BoundedClient(client), config.custom_headers(custom)))
}

/// The client that everything of metier has. It follows no redirect: headers with keys must only go to the configured URL.
fn client(url: &str) -> Result<reqwest::Client, Box<dyn std::error::Error>> {
    let tls = if url.starts_with("https:") { Tls::system(&[])? } else { Tls::none()? };
    Ok(client_builder(tls).connect_timeout(CONNECT_TIMEOUT).build()?)
}

type TransportError = StreamableHttpError<HttpError>;

fn transport_error(error: impl Into<HttpError>) -> TransportError {
    StreamableHttpError::Client(error.into())
}

/// Converts an error of the SDK's own client.
fn translated(error: StreamableHttpError<reqwest::Error>) -> TransportError {
    match error {
        StreamableHttpError::Client(error) => transport_error(error),
        StreamableHttpError::ServerDoesNotSupportSse => StreamableHttpError::ServerDoesNotSupportSse,
        StreamableHttpError::AuthRequired(why) => StreamableHttpError::AuthRequired(why),
        StreamableHttpError::SessionExpired => StreamableHttpError::SessionExpired,
        other => StreamableHttpError::UnexpectedServerResponse(Cow::Owned(other.to_string())),
    }
}

impl StreamableHttpClient for BoundedClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, TransportError> {
        let mut request = self.0.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let had_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session.as_ref());
        }
        let response = request.json(&message).send().await.map_err(transport_error)?;
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
        let (kind, session) = (header(CONTENT_TYPE.as_str()).unwrap_or_default(), header(SESSION_HEADER));
        let is_asked = matches!(message, ClientJsonRpcMessage::Request(_));
        if status.is_success() && kind.starts_with(EVENTS) {
            let events = SseStream::new(limited(response));
            return Ok(StreamableHttpPostResponse::Sse(Box::pin(events), session));
        }
        let body = limited(response).collect().await.map_err(transport_error)?.to_bytes();
        let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(&body);
        match parsed {
            Ok(answer) if status.is_success() => Ok(StreamableHttpPostResponse::Json(answer, session)),
            // A notification expects no response.
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
    ) -> Result<(), TransportError> {
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
    ) -> Result<Pin<Box<dyn Stream<Item = Result<Sse, SseError>> + Send>>, TransportError> {
        let stream =
            self.0.get_stream_with_max_sse_event_size(uri, session, last, token, headers, MAX_MESSAGE);
        stream.await.map_err(translated)
    }
}

/// Handles an unsuccessful response. A server of the older revision rejects `server/discover` this way; the SDK then falls back
/// to the older handshake.
fn refused(
    message: &ClientJsonRpcMessage,
    status: StatusCode,
    parsed: Option<ServerJsonRpcMessage>,
    body: &[u8],
    had_session: bool,
) -> Result<StreamableHttpPostResponse, TransportError> {
    let is_closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let shown = metier_catalog::one_line(&String::from_utf8_lossy(body), MAX_SHOWN);
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

/// A body that fails when it exceeds the limit.
fn limited(response: Response) -> UnsyncBoxBody<Bytes, HttpError> {
    let body = Limited::new(Body::from(response), MAX_MESSAGE).map_err(|error| {
        error.downcast::<reqwest::Error>().map_or(HttpError::TooLarge, |error| HttpError::Reqwest(*error))
    });
    body.boxed_unsync()
}
