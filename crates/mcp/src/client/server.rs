//! One server: not there until it is needed, started again once, and then left alone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metier_agent::Footing;
use metier_catalog::{RemoteServer, RemoteSkill, TrustStore, Wanted};
use rmcp::model::{CallToolResult, JsonObject, Tool};
use tokio::sync::Mutex;

use super::child::Ground;
use super::config::{ServerConfig, Trusted};
use super::connection::{Connection, Fault};
use super::listing::Listing;
use super::shelf::{self, Shelf, Unverified};

/// The most that is fetched from one server by one process, in bytes: some dozens of the largest skills. A server that lists
/// thousands of them cannot fill the disk.
const MAX_FETCHED: u64 = 512 * 1024 * 1024;

/// How a server was seen when it was asked last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its label.
    pub label: String,
    /// What is started or connected to, in words.
    pub endpoint: String,
    /// Folders of the project that it writes at once.
    pub write: Vec<String>,
    /// How it stands.
    pub footing: Footing,
    /// How many tools it has, where it was asked.
    pub tools: Option<usize>,
    /// How many skills it lists, where it was asked, now or before.
    pub skills: Option<usize>,
}

/// One server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) config: ServerConfig,
    ground: Option<Ground>,
    shelf: Option<Shelf>,
    state: Mutex<State>,
    fetched: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    standing: Standing,
    /// Whether it was started a second time.
    was_restarted: bool,
    tools: Option<usize>,
}

#[derive(Debug, Default)]
enum Standing {
    #[default]
    Idle,
    Up(Arc<Connection>),
    Down(String),
}

impl Server {
    pub(super) fn new(config: ServerConfig, ground: Option<Ground>, cache: Option<&Path>) -> Self {
        let shelf = cache.map(|cache| Shelf::of(cache, &config));
        let standing = match config.trusted {
            Trusted::Yes => Standing::Idle,
            Trusted::NotYet => {
                Standing::Down("its project is not trusted: see `metier trust --preview`".to_owned())
            }
            Trusted::Changed => Standing::Down(
                "it is other than when you trusted the project: see `metier trust --preview`".to_owned(),
            ),
        };
        let state = Mutex::new(State { standing, ..State::default() });
        Self { config, ground, shelf, state, fetched: AtomicU64::new(0) }
    }

    /// Its connection, begun where there is none. One that ended is begun again, once: a server that dies twice is broken.
    async fn connection(&self) -> Result<Arc<Connection>, Fault> {
        let mut state = self.state.lock().await;
        match &state.standing {
            Standing::Up(connection) if !connection.is_closed() => return Ok(Arc::clone(connection)),
            Standing::Up(_) if state.was_restarted => {
                state.standing = Standing::Down("it ended twice, and is not started again".to_owned());
            }
            Standing::Up(_) => state.was_restarted = true,
            Standing::Idle | Standing::Down(_) => {}
        }
        if let Standing::Down(why) = &state.standing {
            return Err(Fault::Gone(format!(": {why}")));
        }
        // The process that ended is dropped before another one is started.
        state.standing = Standing::Idle;
        match Connection::open(&self.config, self.ground.as_ref()).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.standing = Standing::Up(Arc::clone(&connection));
                Ok(connection)
            }
            Err(why) => {
                state.standing = Standing::Down(why.clone());
                Err(Fault::Gone(format!(": {why}")))
            }
        }
    }

    /// Asks which tools it has.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let tools = match self.connection().await?.tools().await {
            Err(Fault::Gone(_)) => self.connection().await?.tools().await?,
            other => other?,
        };
        self.state.lock().await.tools = Some(tools.len());
        Ok(tools)
    }

    /// Calls a tool. A call whose server died is not made again: nobody knows how far it came.
    pub(super) async fn call(&self, tool: &str, input: JsonObject) -> Result<CallToolResult, Fault> {
        self.connection().await?.call(tool, input).await
    }

    /// Asks which skills it lists, and keeps the list.
    pub(super) async fn list(&self) -> Result<Listing, Fault> {
        let connection = self.connection().await?;
        let listing = match Listing::ask(&connection).await {
            Err(Fault::Gone(_)) => {
                let again = self.connection().await?;
                Listing::ask(&again).await?
            }
            other => other?,
        };
        let _ = connection.took_change();
        if let Some(shelf) = &self.shelf {
            // What cannot be kept is asked for again.
            let _ = shelf.keep(&listing);
        }
        Ok(listing)
    }

    /// Its skills as they were listed last; `None` where it was never asked, or nothing is kept.
    pub(super) fn remote(&self, store: Option<&TrustStore>) -> Option<RemoteServer> {
        // What may not be started offers nothing, whatever it once listed.
        if self.config.trusted != Trusted::Yes {
            return None;
        }
        let kept = self.shelf.as_ref()?;
        Some(kept.server(&self.config, &kept.kept()?, store))
    }

    /// Has the wanted files of a skill in its folder, each verified.
    pub(super) async fn fetch(
        &self,
        skill: &RemoteSkill,
        folder: &Path,
        wanted: Wanted<'_>,
    ) -> Result<(), String> {
        for file in shelf::wanted(skill, wanted) {
            let is_document = file.uri == skill.uri;
            if let Some(bytes) = shelf::is_kept(folder, file) {
                if is_document {
                    shelf::verify_document(skill, &bytes).map_err(|error| stale(&error))?;
                }
                continue;
            }
            let before = self.fetched.fetch_add(file.size, Ordering::Relaxed);
            if before.saturating_add(file.size) > MAX_FETCHED {
                return Err(format!("more than {MAX_FETCHED} bytes were fetched from its server by now"));
            }
            let connection = self.connection().await.map_err(|error| error.to_string())?;
            let bytes = match connection.read(&file.uri).await {
                Err(Fault::Gone(_)) => {
                    let again = self.connection().await.map_err(|error| error.to_string())?;
                    again.read(&file.uri).await
                }
                other => other,
            };
            let bytes = bytes.map_err(|error| format!("`{}` could not be had: {error}", file.path))?;
            shelf::verify(file, &bytes).map_err(|error| stale(&error))?;
            if is_document {
                shelf::verify_document(skill, &bytes).map_err(|error| stale(&error))?;
            }
            shelf::keep(folder, file, &bytes).map_err(|error| error.to_string())?;
        }
        if wanted == Wanted::All {
            shelf::nothing_else(folder, skill).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// How it stands.
    pub(super) async fn seen(&self) -> Seen {
        let state = self.state.lock().await;
        let footing = match &state.standing {
            Standing::Idle => Footing::Idle,
            Standing::Up(connection) if !connection.is_closed() => Footing::Up,
            Standing::Up(_) => Footing::Down("it ended".to_owned()),
            Standing::Down(why) => Footing::Down(why.clone()),
        };
        let kept = self.shelf.as_ref().and_then(Shelf::kept);
        Seen {
            label: self.config.label.clone(),
            endpoint: self.config.in_words(),
            write: self.config.write().to_vec(),
            footing,
            tools: state.tools,
            skills: kept.map(|kept| kept.skills.len()),
        }
    }

    /// Ends it.
    pub(super) async fn end(&self) {
        self.state.lock().await.standing = Standing::Idle;
    }
}

/// What is wrong, and how to go on where the server only changed the skill since it was listed.
fn stale(why: &Unverified) -> String {
    format!(
        "{why}. Where the server has changed it, `metier doctor` lists it anew, and it has to be approved again"
    )
}
