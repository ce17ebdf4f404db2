//! One server: connected on first use, restarted once, then given up.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metier_catalog::{RemoteServer, RemoteSkill, TrustStore, Wanted};
use metier_tools::ServerStatus;
use rmcp::model::{CallToolResult, JsonObject, Tool};
use tokio::sync::Mutex;

use super::config::{ServerConfig, ServerTrust};
use super::connection::{Connection, RequestError};
use super::file_cache::{self, FileCache};
use super::listing::Listing;
use super::server_process::ServerHost;

/// The most bytes that one process fetches from one server: some dozens of the largest skills. A server with thousands of skills
/// cannot fill the disk.
const MAX_FETCHED: u64 = 512 * 1024 * 1024;

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSummary {
    /// Its label.
    pub label: String,
    /// The command line or URL.
    pub endpoint: String,
    /// Folders of the project that it writes without approval.
    pub write: Vec<String>,
    /// Its connection status.
    pub footing: ServerStatus,
    /// The number of its tools, if it was asked.
    pub tools: Option<usize>,
    /// The number of listed skills, from the latest listing.
    pub skills: Option<usize>,
}

/// One server with its connection and cache.
pub(crate) struct ManagedServer {
    pub(crate) config: ServerConfig,
    host: Option<ServerHost>,
    cache: Option<FileCache>,
    state: Mutex<Lifecycle>,
    fetched: AtomicU64,
}

#[derive(Default)]
struct Lifecycle {
    status: ConnectionStatus,
    /// Whether it was restarted.
    was_restarted: bool,
    tools: Option<usize>,
}

#[derive(Default)]
enum ConnectionStatus {
    #[default]
    Idle,
    Up(Arc<Connection>),
    Down(String),
}

impl ManagedServer {
    pub(crate) fn new(config: ServerConfig, host: Option<ServerHost>, cache: Option<&Path>) -> Self {
        let cache = cache.map(|cache| FileCache::of(cache, &config));
        let status = match config.trusted {
            ServerTrust::Yes => ConnectionStatus::Idle,
            ServerTrust::NotYet => ConnectionStatus::Down(
                "its project is not trusted; review it with `metier trust --preview`".to_owned(),
            ),
            ServerTrust::Changed => ConnectionStatus::Down(
                "it has changed since you trusted the project; review it with `metier trust --preview`"
                    .to_owned(),
            ),
        };
        let state = Mutex::new(Lifecycle { status, ..Lifecycle::default() });
        Self { config, host, cache, state, fetched: AtomicU64::new(0) }
    }

    /// The connection, opened if necessary. A closed one is reopened once: a server that exits twice is broken.
    async fn connection(&self) -> Result<Arc<Connection>, RequestError> {
        let mut state = self.state.lock().await;
        match &state.status {
            ConnectionStatus::Up(connection) if !connection.is_closed() => return Ok(Arc::clone(connection)),
            ConnectionStatus::Up(_) if state.was_restarted => {
                state.status = ConnectionStatus::Down("it exited twice and is not restarted".to_owned());
            }
            ConnectionStatus::Up(_) => state.was_restarted = true,
            ConnectionStatus::Idle | ConnectionStatus::Down(_) => {}
        }
        if let ConnectionStatus::Down(why) = &state.status {
            return Err(RequestError::Disconnected(format!(": {why}")));
        }
        // Drop the old process before a new one starts.
        state.status = ConnectionStatus::Idle;
        match Connection::open(&self.config, self.host.as_ref()).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.status = ConnectionStatus::Up(Arc::clone(&connection));
                Ok(connection)
            }
            Err(why) => {
                state.status = ConnectionStatus::Down(why.clone());
                Err(RequestError::Disconnected(format!(": {why}")))
            }
        }
    }

    /// Makes a request without an effect; once more after a disconnect.
    async fn request<T, F: Future<Output = Result<T, RequestError>>>(
        &self,
        request: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, RequestError> {
        match request(self.connection().await?).await {
            Err(RequestError::Disconnected(_)) => request(self.connection().await?).await,
            other => other,
        }
    }

    /// Requests the tools.
    pub(crate) async fn tools(&self) -> Result<Vec<Tool>, RequestError> {
        let tools = self.request(|connection| async move { connection.tools().await }).await?;
        self.state.lock().await.tools = Some(tools.len());
        Ok(tools)
    }

    /// Calls a tool. A call is not repeated after a disconnect, because it may have had an effect.
    pub(crate) async fn call(&self, tool: &str, input: JsonObject) -> Result<CallToolResult, RequestError> {
        self.connection().await?.call(tool, input).await
    }

    /// Requests the list of skills and caches it.
    pub(crate) async fn list(&self) -> Result<Listing, RequestError> {
        let listing = self.request(|connection| async move { Listing::request(&connection).await }).await?;
        if let Some(cache) = &self.cache {
            // A listing that cannot be stored is requested again next time.
            let _ = cache.store(&listing);
        }
        Ok(listing)
    }

    /// The skills of the latest listing; `None` if there is none.
    pub(crate) fn remote(&self, store: Option<&TrustStore>) -> Option<RemoteServer> {
        // An untrusted server offers nothing, even from its cache.
        if self.config.trusted != ServerTrust::Yes {
            return None;
        }
        let load = self.cache.as_ref()?;
        Some(load.server(&self.config, &load.load()?, store))
    }

    /// Puts the wanted files of a skill into its folder, each verified.
    pub(crate) async fn fetch(
        &self,
        skill: &RemoteSkill,
        folder: &Path,
        wanted: Wanted<'_>,
    ) -> Result<(), String> {
        for file in file_cache::wanted(skill, wanted) {
            let is_document = file.uri == skill.uri;
            if let Some(bytes) = file_cache::verified_copy(folder, file) {
                if is_document {
                    file_cache::verify_document(skill, &bytes).map_err(|why| with_remedy(&why))?;
                }
                continue;
            }
            let before = self.fetched.fetch_add(file.size, Ordering::Relaxed);
            if before.saturating_add(file.size) > MAX_FETCHED {
                return Err(format!("more than {MAX_FETCHED} bytes were fetched from its server"));
            }
            // A server that is not there is reported as such, and not as a file that cannot be fetched.
            self.connection().await.map_err(|error| error.to_string())?;
            let bytes = self.request(|connection| async move { connection.read(&file.uri).await }).await;
            let bytes = bytes.map_err(|error| format!("cannot fetch `{}`: {error}", file.path))?;
            file_cache::verify(file, &bytes).map_err(|why| with_remedy(&why))?;
            if is_document {
                file_cache::verify_document(skill, &bytes).map_err(|why| with_remedy(&why))?;
            }
            file_cache::store(folder, file, &bytes)?;
        }
        if wanted == Wanted::All {
            file_cache::reject_unlisted(folder, skill)?;
        }
        Ok(())
    }

    /// The current state.
    pub(crate) async fn summary(&self) -> ServerSummary {
        let state = self.state.lock().await;
        let footing = match &state.status {
            ConnectionStatus::Idle => ServerStatus::Idle,
            ConnectionStatus::Up(connection) if !connection.is_closed() => ServerStatus::Up,
            ConnectionStatus::Up(_) => ServerStatus::Down("it exited".to_owned()),
            ConnectionStatus::Down(why) => ServerStatus::Down(why.clone()),
        };
        let load = self.cache.as_ref().and_then(FileCache::load);
        ServerSummary {
            label: self.config.label.clone(),
            endpoint: self.config.display(),
            write: self.config.write().to_vec(),
            footing,
            tools: state.tools,
            skills: load.map(|load| load.skills.len()),
        }
    }
}

/// Adds the remedy for a skill that changed on its server.
fn with_remedy(why: &str) -> String {
    format!(
        "{why}. If the server changed the skill, run `metier doctor` to list it again, then approve it again"
    )
}
