//! Skills for other agents: any MCP host gets the skills of one catalogue, searchable, checked and contained.
//!
//! One [`Server`] shows them in four ways at once, so that a host finds the one that it knows:
//!
//! - by the extension for skills: `skills/list`, `skills/get`, `resources/directory/read`, and every file as a `skill://`
//!   resource with its size and digest (`files`, `manifest`, `frontmatter`, `uri`);
//! - by a few tools, the same however many skills there are (`tool`, `counter`);
//! - by prompts, one for each skill that a user may start (`prompt`);
//! - by instructions that carry the catalogue (`instructions`).
//!
//! `shelf` is what is served, `question` puts the gate's questions to the host's user (`seal` marks what it gets back), `news` tells clients of changes,
//! `connection` is one client, in the words of the SDK. What a skill runs is contained as everywhere; what a host does with
//! tools of its own is the host's.

mod connection;
mod counter;
mod cursor;
mod exchange;
mod files;
mod frontmatter;
mod instructions;
mod manifest;
mod news;
mod prompt;
mod question;
mod seal;
mod shelf;
mod threshold;
mod tool;
pub mod unfit;
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

pub use self::exchange::{Body, Exchange, Request, Response};

use self::connection::{Carrier, Connection};
use self::counter::Counter;
use self::seal::Seal;
use self::shelf::{Row, Shelf, Tell};
use self::threshold::Threshold;

/// A server of skills. A clone is the same server once more.
#[derive(Clone, Debug)]
pub struct Server {
    hall: Arc<Hall>,
}

/// What all connections of a server share.
#[derive(Debug)]
struct Hall {
    counter: Arc<Counter>,
    /// Marks what clients keep for the server between two rounds.
    seal: Arc<Seal>,
    /// What was made of the skills as they were last: the tools and the instructions.
    front: Mutex<Option<Front>>,
}

/// What a client sees first.
#[derive(Clone, Debug)]
struct Front {
    row: Arc<Row>,
    tools: Arc<[Tool]>,
    instructions: Arc<str>,
}

/// What a server is told before it begins.
#[must_use = "nothing is served until `open` is called"]
pub struct ServerBuilder {
    skills: Skills,
    only: Option<String>,
    tell: Option<Box<Tell>>,
}

/// Why a connection did not come about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as the protocol has it.
    #[error("the client did not begin as MCP has it: {0}")]
    Begin(String),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
}

impl ServerBuilder {
    /// Serves one skill alone. Tools that name no skill are then its own.
    pub fn only(mut self, skill: &str) -> Self {
        self.only = Some(skill.to_owned());
        self
    }

    /// Who is told of skills whose files are not served, once for each.
    pub fn tell(mut self, tell: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        self.tell = Some(Box::new(tell));
        self
    }

    /// Opens the server. It fails only where no thread and no random bytes can be had.
    pub fn open(self) -> io::Result<Server> {
        let news = self.skills.subscribe();
        let counter = Arc::new(Counter::new(Shelf::new(self.skills, self.only, self.tell)));
        let hall = Arc::new(Hall { counter, seal: Arc::new(Seal::new()?), front: Mutex::default() });
        let known = Arc::downgrade(&hall);
        // It ends with the watcher, which ends with the last connection.
        thread::Builder::new().name("mcp-news".to_owned()).spawn(move || {
            while news.recv().is_ok() {
                let Some(hall) = known.upgrade() else { return };
                let before = shelf::lock(&hall.front).clone();
                let now = hall.front();
                let news = &hall.counter.shelf.news;
                if before.is_none_or(|before| before.tools != now.tools) {
                    news.tools();
                }
                news.skills();
            }
        })?;
        Ok(Server { hall })
    }
}

impl Server {
    /// A server of these skills. For changes to be told to clients the skills have to be watched
    /// ([`metier_runtime::SkillsBuilder::watch`]).
    pub fn builder(skills: Skills) -> ServerBuilder {
        ServerBuilder { skills, only: None, tell: None }
    }

    /// Serves the client at standard input and output, until it goes.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let (input, output) = stdio_pipes();
        self.serve(input, output).await
    }

    /// Serves a client at these two ends, until it goes.
    pub async fn serve(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let connection = Connection::new(Arc::clone(&self.hall), Carrier::Pipe);
        let running = match connection.serve(Threshold::new((input, output).into_transport())).await {
            Ok(running) => running,
            // Whoever goes before saying anything wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Begin(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| ServeError::Broken(error.to_string()))
    }

    /// The server for HTTP: see [`Exchange`].
    pub fn exchange(&self) -> Exchange {
        Exchange::new(Arc::clone(&self.hall))
    }
}

impl Hall {
    /// What a client sees first, of the skills as they are known now.
    fn front(&self) -> Front {
        let served = &self.counter.shelf;
        let row = served.row();
        let mut front = shelf::lock(&self.front);
        if let Some(front) = front.as_ref().filter(|front| Arc::ptr_eq(&front.row, &row)) {
            return front.clone();
        }
        let only = served.only.as_deref();
        let tools = tool::tools(&row, only).into();
        let instructions = instructions::instructions(&row, only).into();
        front.insert(Front { row, tools, instructions }).clone()
    }
}

impl std::fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerBuilder").field("only", &self.only).finish_non_exhaustive()
    }
}
