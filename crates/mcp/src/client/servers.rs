//! All servers of a machine, for everybody who is not asynchronous.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use metier_catalog::{Fetch, Remote, RemoteRefusal, RemoteSkill, TrustStore, Wanted};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

use super::child::Ground;
use super::config::ServerConfig;
use super::server::{Seen, Server};

/// All servers of a machine. A clone means the same ones: the agent's tools and the catalogue's skills share their connections. When
/// the last clone is dropped, everything that was started ends.
#[derive(Clone)]
pub struct Servers {
    /// Before the threads, which must outlive what runs on them.
    servers: Vec<Arc<Server>>,
    threads: Arc<Threads>,
}

/// What drives connections; started with the first of them.
#[derive(Default)]
struct Threads(OnceLock<Option<Runtime>>);

impl Servers {
    /// Servers that are not started yet. Without a ground none that is a program can be; without a cache nothing that was listed
    /// is known the next time, and no file of a skill can be used.
    pub fn new(configs: Vec<ServerConfig>, ground: Option<&Ground>, cache: Option<&Path>) -> Self {
        let servers =
            configs.into_iter().map(|config| Arc::new(Server::new(config, ground.cloned(), cache))).collect();
        Self { servers, threads: Arc::default() }
    }

    /// Some of these servers with others beside them, for one agent: the same connections where they are the same servers.
    #[must_use]
    pub fn some_and(
        &self,
        is_meant: impl Fn(&ServerConfig) -> bool,
        more: Vec<ServerConfig>,
        ground: Option<&Ground>,
    ) -> Self {
        let known = self.servers.iter().filter(|server| is_meant(&server.config)).cloned();
        let more = more.into_iter().map(|config| Arc::new(Server::new(config, ground.cloned(), None)));
        Self { servers: known.chain(more).collect(), threads: Arc::clone(&self.threads) }
    }

    /// The same with the connections of others, where those have the very same server: one process for all of them. What each may call
    /// of it is decided before it is called, so nobody gets more by it.
    #[must_use]
    pub fn sharing(mut self, others: &[Self]) -> Self {
        for server in &mut self.servers {
            let known = others.iter().flat_map(|other| &other.servers);
            if let Some(same) = known.into_iter().find(|known| known.config == server.config) {
                *server = Arc::clone(same);
            }
        }
        // What drives a connection must last as long as whoever uses it.
        if let Some(other) = others.first() {
            self.threads = Arc::clone(&other.threads);
        }
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// How each is configured, by label.
    pub fn configs(&self) -> impl Iterator<Item = &ServerConfig> {
        self.servers.iter().map(|server| &server.config)
    }

    pub(super) fn named(&self, label: &str) -> Option<&Arc<Server>> {
        self.servers.iter().find(|server| server.config.label == label)
    }

    /// Asks every server which skills it lists, all at once, and keeps what they say. Gives those that did not answer, with why.
    pub fn ask(&self) -> Vec<RemoteRefusal> {
        let answers = self.each(|server| async move {
            let answer = server.list().await;
            (server.config.label.clone(), answer.map(drop).map_err(|fault| fault.to_string()))
        });
        let failed =
            answers.into_iter().filter_map(|(uri, answer)| Some(RemoteRefusal { uri, why: answer.err()? }));
        failed.collect()
    }

    /// Asks one server anew.
    pub fn ask_one(&self, label: &str) -> Result<(), String> {
        let server = self.named(label).ok_or_else(|| format!("there is no MCP server `{label}`"))?;
        self.wait(server.list())?.map(drop).map_err(|fault| fault.to_string())
    }

    /// What the servers listed when they were asked last, with what the user approved of it. Nobody is asked.
    pub fn remote(&self, data: &Path) -> Remote {
        let store = TrustStore::open(data).ok();
        let servers = self.servers.iter().filter_map(|server| server.remote(store.as_ref()));
        Remote { servers: servers.collect(), fetch: Arc::new(self.clone()) }
    }

    /// How each stands.
    pub fn seen(&self) -> Vec<Seen> {
        self.each(|server| async move { server.seen().await })
    }

    /// Ends everything that was started.
    pub fn end(&self) {
        self.each(|server| async move { server.end().await });
    }

    /// Does something with every server at once; the answers are in the order of the servers.
    pub(super) fn each<T, F>(&self, work: impl Fn(Arc<Server>) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let futures: Vec<F> = self.servers.iter().map(|server| work(Arc::clone(server))).collect();
        let all = async move {
            let mut set = JoinSet::new();
            for (at, future) in futures.into_iter().enumerate() {
                set.spawn(async move { (at, future.await) });
            }
            let mut answers: Vec<(usize, T)> = Vec::new();
            while let Some(answer) = set.join_next().await {
                // A panic would be a fault of ours; the other servers answer all the same.
                answers.extend(answer.ok());
            }
            answers.sort_by_key(|(at, _)| *at);
            answers.into_iter().map(|(_, answer)| answer).collect()
        };
        self.wait(all).unwrap_or_default()
    }

    /// Waits for something that takes connections. Callers that are asynchronous themselves are taken off their thread.
    pub(super) fn wait<T: Send>(&self, future: impl Future<Output = T> + Send) -> Result<T, String> {
        let made = self.threads.0.get_or_init(|| {
            Builder::new_multi_thread().worker_threads(1).thread_name("mcp-client").enable_all().build().ok()
        });
        let runtime = made.as_ref().ok_or("no thread could be started for connections")?;
        if Handle::try_current().is_err() {
            return Ok(runtime.block_on(future));
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| runtime.block_on(future));
            waiting.join().map_err(|_| "the connection broke down".to_owned())
        })
    }
}

impl Fetch for Servers {
    fn fetch(&self, skill: &RemoteSkill, folder: &Path, wanted: Wanted<'_>) -> Result<(), String> {
        // From the server that listed it and from no other.
        let server = self.named(&skill.server).ok_or("its server is not configured any more")?;
        let folder: PathBuf = folder.to_owned();
        self.wait(server.fetch(skill, &folder, wanted))?
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(Some(runtime)) = self.0.take() {
            // Connections that are being closed are not waited for: their processes end with what holds them.
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<&str> = self.configs().map(|config| config.label.as_str()).collect();
        f.debug_struct("Servers").field("labels", &labels).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::config::{How, Source, Trusted};

    fn one(label: &str, url: &str, trusted: Trusted) -> Servers {
        let how = How::Address { url: url.to_owned(), headers: std::collections::BTreeMap::new() };
        let aliases = std::collections::BTreeMap::new();
        let config = ServerConfig { label: label.to_owned(), how, source: Source::Project, trusted, aliases };
        Servers::new(vec![config], None, None)
    }

    #[test]
    fn the_very_same_server_is_shared_and_one_with_other_rights_is_not() {
        let first = [one("clock", "http://localhost:1/", Trusted::Yes)];
        for (other, expect) in [
            (one("clock", "http://localhost:1/", Trusted::Yes), true),
            (one("clock", "http://localhost:1/", Trusted::Changed), false),
            (one("clock", "http://localhost:2/", Trusted::Yes), false),
            (one("spare", "http://localhost:1/", Trusted::Yes), false),
        ] {
            let shared = other.sharing(&first);
            assert_eq!(Arc::ptr_eq(&shared.servers[0], &first[0].servers[0]), expect);
            assert!(Arc::ptr_eq(&shared.threads, &first[0].threads));
        }
    }
}
