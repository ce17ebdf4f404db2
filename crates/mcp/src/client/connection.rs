//! One live connection to a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use metier_catalog::one_line;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    CustomRequest, ExtensionCapabilities, Implementation, JsonObject, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequest, ReadResourceRequestParams,
    ResourceContents, ServerResult, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::net::unix::pipe;

use super::base64;
use super::child::{Child, Ground};
use super::config::{How, ServerConfig};
use super::http::{self, MAX_MESSAGE};

/// The extension for skills.
pub(super) const SKILLS: &str = "io.modelcontextprotocol/skills";

/// How long a server may take to be there. One that npx has to fetch first takes some seconds.
const BEGIN: Duration = Duration::from_secs(30);

/// How long a server may take to answer a question about itself.
const ASK: Duration = Duration::from_secs(15);

/// How long a tool may work without a word. Progress begins the time anew.
const CALL: Duration = Duration::from_mins(2);

/// How long a tool may work in all.
const CALL_AT_MOST: Duration = Duration::from_mins(30);

/// The most pages of tools, and the most tools, of one server: more are not offered anyway.
const TOOL_PAGES: usize = 16;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// The server is not there any more.
    #[error("the server is gone{0}")]
    Gone(String),
    /// It says no.
    #[error("the server says: {0}")]
    Refused(String),
    /// It took too long.
    #[error("the server did not answer within {} seconds", .0.as_secs())]
    Slow(Duration),
    /// What it says is no answer.
    #[error("the server's answer is none: {0}")]
    Odd(String),
}

/// A live connection.
pub(super) struct Connection {
    service: RunningService<RoleClient, Host>,
    child: Option<Child>,
    changed: Arc<AtomicBool>,
}

/// What metier is to a server: it says who it is and hears that lists changed. It answers no question for its model or its user.
#[derive(Debug)]
struct Host {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(SKILLS.to_owned(), JsonObject::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.extensions = Some(extensions);
        ClientConfig::new(capabilities, Implementation::new("metier", env!("CARGO_PKG_VERSION")))
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// Starts or reaches a server and says who is there.
    pub(super) async fn open(config: &ServerConfig, ground: Option<&Ground>) -> Result<Self, String> {
        let changed = Arc::<AtomicBool>::default();
        let host = Host { changed: Arc::clone(&changed) };
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let (service, child) = match &config.how {
            How::Address { url, headers } => {
                let transport = http::transport(url, headers)?;
                let begun =
                    tokio::time::timeout(BEGIN, serve_client_with_lifecycle(host, transport, lifecycle));
                (begun.await.map_err(|_| late())?.map_err(|error| told(&error)), None)
            }
            How::Program(program) => {
                let ground = ground.ok_or("nothing can be started here")?;
                let (child, stdout, stdin) = ground.start(&config.label, program)?;
                let failed = |error: std::io::Error| format!("its streams cannot be used: {error}");
                let reader = pipe::Receiver::from_owned_fd(stdout.into()).map_err(failed)?;
                let writer = pipe::Sender::from_owned_fd(stdin.into()).map_err(failed)?;
                let transport =
                    AsyncRwTransport::new_client(reader, writer).with_max_line_length(MAX_MESSAGE);
                let begun =
                    tokio::time::timeout(BEGIN, serve_client_with_lifecycle(host, transport, lifecycle));
                let begun =
                    begun.await.map_err(|_| late()).and_then(|begun| begun.map_err(|error| told(&error)));
                let begun = begun.map_err(|error| match child.last_words() {
                    words if words.is_empty() => error,
                    words => format!("{error}; it said: {words}"),
                });
                (begun, Some(child))
            }
        };
        Ok(Self { service: service?, child, changed })
    }

    /// Whether nobody is there any more.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether the server said that a list changed since this was asked last.
    pub(super) fn took_change(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    /// Whether the server has the extension for skills, with the resources that it takes.
    pub(super) fn has_skills(&self) -> bool {
        let Some(info) = self.service.peer().peer_info() else { return false };
        let extensions = info.capabilities.extensions.as_ref();
        extensions.is_some_and(|extensions| extensions.contains_key(SKILLS))
    }

    fn has_tools(&self) -> bool {
        self.service.peer().peer_info().is_some_and(|info| info.capabilities.tools.is_some())
    }

    async fn ask(&self, request: ClientRequest, options: PeerRequestOptions) -> Result<ServerResult, Fault> {
        let handle = self.service.peer().send_request_with_option(request, options).await;
        let handle = handle.map_err(|error| self.fault(error))?;
        handle.await_response().await.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: ServiceError) -> Fault {
        match error {
            ServiceError::McpError(error) => Fault::Refused(one_line(&error.message, 400)),
            ServiceError::Timeout { timeout } => Fault::Slow(timeout),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => Fault::Gone(self.words()),
            ServiceError::TransportSend(error) => {
                let mut source: &dyn std::error::Error = error.error.as_ref();
                while let Some(inner) = source.source() {
                    source = inner;
                }
                Fault::Odd(one_line(&source.to_string(), 400))
            }
            other => Fault::Odd(one_line(&other.to_string(), 400)),
        }
    }

    fn words(&self) -> String {
        match self.child.as_ref().map(Child::last_words) {
            Some(words) if !words.is_empty() => format!("; it said: {words}"),
            _ => String::new(),
        }
    }

    /// A question of an extension.
    pub(super) async fn custom(&self, method: &str, params: Value) -> Result<Value, Fault> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        match self.ask(request, PeerRequestOptions::with_timeout(ASK)).await? {
            ServerResult::CustomResult(result) => Ok(result.0),
            // What looks like another answer is read as what it is asked for.
            other => serde_json::to_value(other).map_err(|error| Fault::Odd(error.to_string())),
        }
    }

    /// The bytes at an address. Nothing is verified here.
    pub(super) async fn read(&self, uri: &str) -> Result<Vec<u8>, Fault> {
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        let odd = |why: &str| Fault::Odd(why.to_owned());
        let mut contents = match self.ask(request, PeerRequestOptions::with_timeout(ASK)).await? {
            ServerResult::ReadResourceResult(result) => result.contents,
            ServerResult::InputRequiredResult(_) => {
                return Err(odd("it asks for something before it gives the file"));
            }
            _ => return Err(odd("it is no content")),
        };
        let (Some(content), true) = (contents.pop(), contents.is_empty()) else {
            return Err(odd("it is not exactly one content"));
        };
        let (at, bytes) = match content {
            ResourceContents::TextResourceContents { uri, text, .. } => (uri, Some(text.into_bytes())),
            ResourceContents::BlobResourceContents { uri, blob, .. } => (uri, base64::decode(&blob)),
            _ => return Err(odd("it is content of another kind")),
        };
        if at != uri {
            return Err(Fault::Odd(format!("it is the content of `{}`", one_line(&at, 200))));
        }
        bytes.ok_or_else(|| odd("its bytes are not base64"))
    }

    /// Its tools, as far as they are read.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let mut tools = Vec::new();
        if !self.has_tools() {
            return Ok(tools);
        }
        let mut cursor: Option<String> = None;
        for _ in 0..TOOL_PAGES {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor.take();
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let ServerResult::ListToolsResult(page) =
                self.ask(request, PeerRequestOptions::with_timeout(ASK)).await?
            else {
                return Err(Fault::Odd("it is no list of tools".to_owned()));
            };
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() > metier_agent::MAX_OUTSIDE_TOOLS {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool.
    pub(super) async fn call(&self, tool: &str, input: JsonObject) -> Result<CallToolResult, Fault> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(CALL)
            .reset_timeout_on_progress()
            .with_max_total_timeout(CALL_AT_MOST);
        match self.ask(request, options).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::InputRequiredResult(_) => {
                Err(Fault::Refused("it wants an answer of a person, which it cannot have here".to_owned()))
            }
            _ => Err(Fault::Odd("it is no result of a tool".to_owned())),
        }
    }
}

fn late() -> String {
    format!("it did not begin within {} seconds", BEGIN.as_secs())
}

/// What went wrong at the bottom of it.
fn told(error: &dyn std::error::Error) -> String {
    let mut source = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    one_line(&source.to_string(), 400)
}
