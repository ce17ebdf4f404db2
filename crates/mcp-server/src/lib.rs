//! The MCP server: the skills of one catalogue for other agents, searchable, checked and contained.
//!
//! A [`Server`] offers the same skills in four ways at once, because hosts support different ones:
//!
//! - the skills extension: `skills/list`, `skills/get`, `resources/directory/read`, and every file as a `skill://` resource with its
//!   size and digest (`files`, `manifest`, `frontmatter`, `uri`);
//! - a fixed set of tools, however many skills there are (`tool`, `call_executor`);
//! - one prompt for each skill that a user may start (`prompt`);
//! - instructions that contain the catalogue (`instructions`).
//!
//! `served_catalog` holds what is served, `elicitation` asks the host's user for approvals (`state_signer` signs the state that a client
//! sends back), `change_notifier` tells clients about changes, `connection` is one client in the SDK's terms. Scripts of a skill run
//! contained as everywhere else. The server has no control over the host's own tools.
//!
//! ```
//! use metier_mcp_server::Server;
//! use metier_runtime::Skills;
//!
//! // A client connects over stdio (`serve_stdio`), two streams (`serve`) or HTTP (`http_service`).
//! let server = Server::builder(Skills::open(["skills"])).open()?;
//! # drop(server);
//! # Ok::<(), std::io::Error>(())
//! ```

mod call_executor;
mod change_notifier;
pub mod code;
mod connection;
mod cursor;
mod elicitation;
mod files;
mod frontmatter;
mod handshake_filter;
mod http_service;
mod instructions;
mod manifest;
mod prompt;
mod served_catalog;
mod state_signer;
mod tool;
mod uri;

use std::io;
use std::sync::{Arc, Mutex};
use std::thread;

use metier_diagnostic::Diagnostic;
use metier_runtime::Skills;
use rmcp::ServiceExt;
use rmcp::model::Tool;
use rmcp::service::ServerInitializeError;
use rmcp::transport::{IntoTransport, stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};

pub use self::http_service::{Body, HttpService, Request, Response};

use self::call_executor::CallExecutor;
use self::connection::Connection;
use self::handshake_filter::HandshakeFilter;
use self::served_catalog::{CatalogView, DiagnosticSink, ServedCatalog};
use self::state_signer::StateSigner;

/// An MCP server of skills. Clones share all state.
#[derive(Clone)]
pub struct Server {
    state: Arc<ServerState>,
}

/// State that all connections of a server share.
struct ServerState {
    executor: Arc<CallExecutor>,
    /// Signs the state that clients keep between two rounds of a call.
    signer: Arc<StateSigner>,
    /// Tools and instructions for the latest snapshot.
    advertised: Mutex<Option<Advertised>>,
}

/// What a client receives when it connects.
#[derive(Clone, Debug)]
struct Advertised {
    view: Arc<CatalogView>,
    tools: Arc<[Tool]>,
    instructions: Arc<str>,
}

/// Settings of a [`Server`].
#[must_use = "nothing is served until `open` is called"]
pub struct ServerBuilder {
    skills: Skills,
    only: Option<String>,
    sink: Option<Box<DiagnosticSink>>,
}

/// Why a connection failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The MCP handshake failed.
    #[error("the MCP handshake failed: {0}")]
    Handshake(String),
    /// The connection broke after the handshake.
    #[error("the connection broke: {0}")]
    Connection(String),
}

impl ServerBuilder {
    /// Serves one skill only. Tools without a skill parameter then act on this skill.
    pub fn only(mut self, skill: &str) -> Self {
        self.only = Some(skill.to_owned());
        self
    }

    /// Calls `sink` once for each skill whose files are not served.
    pub fn on_diagnostic(mut self, sink: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        self.sink = Some(Box::new(sink));
        self
    }

    /// Starts the server. Fails only if the system provides no thread or no random bytes.
    pub fn open(self) -> io::Result<Server> {
        let changes = self.skills.subscribe();
        let executor = Arc::new(CallExecutor::new(ServedCatalog::new(self.skills, self.only, self.sink)));
        let state = Arc::new(ServerState {
            executor,
            signer: Arc::new(StateSigner::new()?),
            advertised: Mutex::default(),
        });
        let known = Arc::downgrade(&state);
        // The channel closes with the watcher, which ends with the last connection.
        thread::Builder::new().name("mcp-changes".to_owned()).spawn(move || {
            while changes.recv().is_ok() {
                let Some(state) = known.upgrade() else { return };
                let before = served_catalog::lock(&state.advertised).clone();
                let now = state.advertised();
                let notifier = &state.executor.catalog.notifier;
                if before.is_none_or(|before| before.tools != now.tools) {
                    notifier.tools();
                }
                notifier.skills();
            }
        })?;
        Ok(Server { state })
    }
}

impl Server {
    /// Builds a server of these skills. Clients are notified of changes only if the skills are watched
    /// ([`metier_runtime::SkillsBuilder::watch`]).
    pub fn builder(skills: Skills) -> ServerBuilder {
        ServerBuilder { skills, only: None, sink: None }
    }

    /// Serves the client on standard input and output until it disconnects.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let (input, output) = stdio_pipes();
        self.serve(input, output).await
    }

    /// Serves a client on two streams until it disconnects.
    pub async fn serve(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let connection = Connection::over_streams(Arc::clone(&self.state));
        let running = match connection.serve(HandshakeFilter::new((input, output).into_transport())).await {
            Ok(running) => running,
            // A client that disconnects before it sends anything is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Handshake(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| ServeError::Connection(error.to_string()))
    }

    /// The server as an HTTP service.
    pub fn http_service(&self) -> HttpService {
        HttpService::new(Arc::clone(&self.state))
    }
}

impl ServerState {
    /// Tools and instructions for the current snapshot, rebuilt when it changed.
    fn advertised(&self) -> Advertised {
        let served = &self.executor.catalog;
        let view = served.view();
        let mut advertised = served_catalog::lock(&self.advertised);
        if let Some(advertised) =
            advertised.as_ref().filter(|advertised| Arc::ptr_eq(&advertised.view, &view))
        {
            return advertised.clone();
        }
        let only = served.only.as_deref();
        let tools = tool::tools(&view, only).into();
        let instructions = instructions::instructions(&view, only).into();
        advertised.insert(Advertised { view, tools, instructions }).clone()
    }
}
