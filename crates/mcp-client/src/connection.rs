//! One open connection to a server.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use metier_catalog::one_line;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    CustomRequest, ExtensionCapabilities, Implementation, JsonObject, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequest, ReadResourceRequestParams,
    ResourceContents, ServerResult, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::IntoTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::net::unix::pipe;

use super::config::{ServerConfig, ServerTransport};
use super::http::{self, MAX_MESSAGE, root_cause};
use super::server_process::{ServerHost, ServerProcess};

/// The name of the skills extension.
pub(crate) const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";

/// How long a server may take for the handshake. One that npx downloads first takes some seconds.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server may take for any request except a tool call.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a tool call may take without progress.
const CALL_IDLE_TIMEOUT: Duration = Duration::from_mins(2);

/// How long a tool call may take in total.
const CALL_TIMEOUT: Duration = Duration::from_mins(30);

/// The most pages of tools of one server. More tools would not be offered.
const MAX_TOOL_PAGES: usize = 16;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The connection is closed.
    #[error("the server disconnected{0}")]
    Disconnected(String),
    /// The server returned an error.
    #[error("the server returned an error: {0}")]
    Rejected(String),
    /// The server did not answer in time.
    #[error("the server did not answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    /// The response is invalid.
    #[error("invalid response from the server: {0}")]
    InvalidResponse(String),
}

/// An open connection.
pub(crate) struct Connection {
    service: RunningService<RoleClient, MetierClient>,
    process: Option<ServerProcess>,
}

/// metier as a client: announces itself. It supports no sampling, roots or elicitation.
struct MetierClient;

impl ClientHandler for MetierClient {
    fn get_info(&self) -> ClientConfig {
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(SKILLS_EXTENSION.to_owned(), JsonObject::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.extensions = Some(extensions);
        ClientConfig::new(capabilities, Implementation::new("metier", env!("CARGO_PKG_VERSION")))
    }
}

impl Connection {
    /// Starts or connects to a server and performs the handshake.
    pub(crate) async fn open(
        config: &ServerConfig,
        server_host: Option<&ServerHost>,
    ) -> Result<Self, String> {
        let (service, process) = match &config.transport {
            ServerTransport::Address { url, headers } => {
                (handshake(http::transport(url, headers)?).await?, None)
            }
            ServerTransport::Program(program) => {
                let server_host = server_host.ok_or("no server can be started here")?;
                let (process, stdout, stdin) = server_host.start(&config.label, program)?;
                let failed = |error: std::io::Error| format!("its standard streams cannot be used: {error}");
                let reader = pipe::Receiver::from_owned_fd(stdout.into()).map_err(failed)?;
                let writer = pipe::Sender::from_owned_fd(stdin.into()).map_err(failed)?;
                let transport =
                    AsyncRwTransport::new_client(reader, writer).with_max_line_length(MAX_MESSAGE);
                let begun = handshake(transport).await;
                (begun.map_err(|error| format!("{error}{}", process.stderr_suffix()))?, Some(process))
            }
        };
        Ok(Self { service, process })
    }

    /// Whether the connection is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether the server supports the skills extension.
    pub(crate) fn has_skills(&self) -> bool {
        let Some(info) = self.service.peer().peer_info() else { return false };
        let extensions = info.capabilities.extensions.as_ref();
        extensions.is_some_and(|extensions| extensions.contains_key(SKILLS_EXTENSION))
    }

    fn has_tools(&self) -> bool {
        self.service.peer().peer_info().is_some_and(|info| info.capabilities.tools.is_some())
    }

    async fn ask(
        &self,
        request: ClientRequest,
        options: PeerRequestOptions,
    ) -> Result<ServerResult, RequestError> {
        let handle = self.service.peer().send_request_with_option(request, options).await;
        let handle = handle.map_err(|error| self.request_error(error))?;
        handle.await_response().await.map_err(|error| self.request_error(error))
    }

    fn request_error(&self, error: ServiceError) -> RequestError {
        match error {
            ServiceError::McpError(error) => RequestError::Rejected(one_line(&error.message, 400)),
            ServiceError::Timeout { timeout } => RequestError::Timeout(timeout),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                let suffix = self.process.as_ref().map(ServerProcess::stderr_suffix);
                RequestError::Disconnected(suffix.unwrap_or_default())
            }
            ServiceError::TransportSend(error) => {
                RequestError::InvalidResponse(one_line(&root_cause(error.error.as_ref()), 400))
            }
            other => RequestError::InvalidResponse(one_line(&other.to_string(), 400)),
        }
    }

    /// Sends a request of an extension.
    pub(crate) async fn custom_request(&self, method: &str, params: Value) -> Result<Value, RequestError> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        match self.ask(request, PeerRequestOptions::with_timeout(REQUEST_TIMEOUT)).await? {
            ServerResult::CustomResult(result) => Ok(result.0),
            // The SDK may parse the result as another type; its JSON is the same.
            other => {
                serde_json::to_value(other).map_err(|error| RequestError::InvalidResponse(error.to_string()))
            }
        }
    }

    /// Reads a resource. The bytes are not verified here.
    pub(crate) async fn read(&self, uri: &str) -> Result<Vec<u8>, RequestError> {
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        let invalid = |why: &str| RequestError::InvalidResponse(why.to_owned());
        let mut contents = match self.ask(request, PeerRequestOptions::with_timeout(REQUEST_TIMEOUT)).await? {
            ServerResult::ReadResourceResult(result) => result.contents,
            ServerResult::InputRequiredResult(_) => {
                return Err(invalid("it asks for input instead of returning the resource"));
            }
            _ => return Err(invalid("not a resource")),
        };
        let (Some(content), true) = (contents.pop(), contents.is_empty()) else {
            return Err(invalid("expected exactly one content"));
        };
        let (at, bytes) = match content {
            ResourceContents::TextResourceContents { uri, text, .. } => (uri, Some(text.into_bytes())),
            ResourceContents::BlobResourceContents { uri, blob, .. } => (uri, decode_blob(&blob)),
            _ => return Err(invalid("unknown kind of content")),
        };
        if at != uri {
            return Err(RequestError::InvalidResponse(format!("the content is of `{}`", one_line(&at, 200))));
        }
        bytes.ok_or_else(|| invalid("invalid base64"))
    }

    /// The server's tools, up to the limits.
    pub(crate) async fn tools(&self) -> Result<Vec<Tool>, RequestError> {
        let mut tools = Vec::new();
        if !self.has_tools() {
            return Ok(tools);
        }
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_TOOL_PAGES {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor.take();
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let ServerResult::ListToolsResult(page) =
                self.ask(request, PeerRequestOptions::with_timeout(REQUEST_TIMEOUT)).await?
            else {
                return Err(RequestError::InvalidResponse("not a list of tools".to_owned()));
            };
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() > metier_tools::MAX_EXTERNAL_TOOLS {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, input: JsonObject) -> Result<CallToolResult, RequestError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(CALL_IDLE_TIMEOUT)
            .reset_timeout_on_progress()
            .with_max_total_timeout(CALL_TIMEOUT);
        match self.ask(request, options).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::InputRequiredResult(_) => {
                Err(RequestError::Rejected("it asks for input, which is not supported here".to_owned()))
            }
            _ => Err(RequestError::InvalidResponse("not a tool result".to_owned())),
        }
    }
}

/// Performs the handshake: that of the current revision, else that of the one before it.
async fn handshake<T, E, A>(transport: T) -> Result<RunningService<RoleClient, MetierClient>, String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let begun = serve_client_with_lifecycle(MetierClient, transport, lifecycle);
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, begun).await {
        Ok(begun) => begun.map_err(|error| one_line(&root_cause(&error), 400)),
        Err(_) => Err(format!("no handshake within {} seconds", HANDSHAKE_TIMEOUT.as_secs())),
    }
}

/// Decodes standard base64 with padding; `None` if it is not canonical.
fn decode_blob(blob: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(blob).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_base64_is_decoded() {
        for (text, expect) in [
            ("", Some(&b""[..])),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYmFy", Some(b"foobar")),
            ("//79", Some(b"\xff\xfe\xfd")),
            ("Zh==", None),
            ("Zg=", None),
            ("Zg", None),
            ("Z===", None),
            ("====", None),
            ("Zg==Zg==", None),
            ("Zm9v\n", None),
            ("Zm-_", None),
            ("Zm 9", None),
        ] {
            assert_eq!(decode_blob(text).as_deref(), expect, "{text:?}");
        }
    }
}
