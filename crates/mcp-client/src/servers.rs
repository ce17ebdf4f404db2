//! All servers, with a synchronous interface.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use metier_catalog::{Fetch, Remote, RemoteRefusal, RemoteSkill, TrustStore, Wanted};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

use super::config::ServerConfig;
use super::managed_server::{ManagedServer, ServerSummary};
use super::server_process::ServerHost;

/// All configured servers. Clones share connections: the agent's tools and the catalogue's skills use the same ones. Dropping the
/// last clone ends everything that was started.
#[derive(Clone)]
pub struct Servers {
    /// Declared before the runtime, which must outlive the connections.
    servers: Vec<Arc<ManagedServer>>,
    runtime: Arc<ConnectionRuntime>,
}

/// The runtime of the connections, started with the first one.
#[derive(Default)]
struct ConnectionRuntime(OnceLock<Option<Runtime>>);

impl Servers {
    /// Servers that are not started yet. Without a host no program can be started. Without a cache no listing is remembered, and
    /// no file of a skill can be used.
    pub fn new(configs: Vec<ServerConfig>, host: Option<&ServerHost>, cache: Option<&Path>) -> Self {
        let servers = configs
            .into_iter()
            .map(|config| Arc::new(ManagedServer::new(config, host.cloned(), cache)))
            .collect();
        Self { servers, runtime: Arc::default() }
    }

    /// Some of these servers plus others, for one agent. Servers that are already here keep their connections.
    #[must_use]
    pub fn subset_with(
        &self,
        is_included: impl Fn(&ServerConfig) -> bool,
        more: Vec<ServerConfig>,
        host: Option<&ServerHost>,
    ) -> Self {
        let known = self.servers.iter().filter(|server| is_included(&server.config)).cloned();
        let more = more.into_iter().map(|config| Arc::new(ManagedServer::new(config, host.cloned(), None)));
        Self { servers: known.chain(more).collect(), runtime: Arc::clone(&self.runtime) }
    }

    /// Shares connections with `others` for servers with the same configuration: one process for all. Permissions are checked
    /// before each call, so sharing grants nothing.
    #[must_use]
    pub fn share_connections(mut self, others: &[Self]) -> Self {
        for server in &mut self.servers {
            let known = others.iter().flat_map(|other| &other.servers);
            if let Some(same) = known.into_iter().find(|known| known.config == server.config) {
                *server = Arc::clone(same);
            }
        }
        // The runtime must live as long as its connections.
        if let Some(other) = others.first() {
            self.runtime = Arc::clone(&other.runtime);
        }
        self
    }

    /// Whether there are no servers.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The configuration of each server, by label.
    pub fn configs(&self) -> impl Iterator<Item = &ServerConfig> {
        self.servers.iter().map(|server| &server.config)
    }

    pub(crate) fn named(&self, label: &str) -> Option<&Arc<ManagedServer>> {
        self.servers.iter().find(|server| server.config.label == label)
    }

    /// Requests the skills of all servers concurrently and caches them. Returns the servers that failed, with reasons.
    pub fn refresh_listings(&self) -> Vec<RemoteRefusal> {
        let answers = self.each(|server| async move {
            let answer = server.list().await;
            (server.config.label.clone(), answer.map(drop).map_err(|error| error.to_string()))
        });
        let failed =
            answers.into_iter().filter_map(|(uri, answer)| Some(RemoteRefusal { uri, why: answer.err()? }));
        failed.collect()
    }

    /// Requests the skills of one server and caches them.
    pub fn refresh_listing(&self, label: &str) -> Result<(), String> {
        let server = self.named(label).ok_or_else(|| format!("unknown MCP server `{label}`"))?;
        self.wait(server.list())?.map(drop).map_err(|error| error.to_string())
    }

    /// The skills of the latest listings, with the user's approvals. Sends no request.
    pub fn remote(&self, data: &Path) -> Remote {
        let store = TrustStore::open(data).ok();
        let servers = self.servers.iter().filter_map(|server| server.remote(store.as_ref()));
        Remote { servers: servers.collect(), fetch: Arc::new(self.clone()) }
    }

    /// The state of each server.
    pub fn summaries(&self) -> Vec<ServerSummary> {
        self.each(|server| async move { server.summary().await })
    }

    /// Runs `work` for all servers concurrently. The results are in the order of the servers.
    pub(crate) fn each<T, F>(&self, work: impl Fn(Arc<ManagedServer>) -> F) -> Vec<T>
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
                // A panicked task has no result; the other servers still answer.
                answers.extend(answer.ok());
            }
            answers.sort_by_key(|(at, _)| *at);
            answers.into_iter().map(|(_, answer)| answer).collect()
        };
        self.wait(all).unwrap_or_default()
    }

    /// Waits for a future on the runtime. Called from an async context, it waits on another thread.
    pub(crate) fn wait<T: Send>(&self, future: impl Future<Output = T> + Send) -> Result<T, String> {
        let made = self.runtime.0.get_or_init(|| {
            Builder::new_multi_thread().worker_threads(1).thread_name("mcp-client").enable_all().build().ok()
        });
        let runtime = made.as_ref().ok_or("cannot start the runtime for MCP connections")?;
        if Handle::try_current().is_err() {
            return Ok(runtime.block_on(future));
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| runtime.block_on(future));
            waiting.join().map_err(|_| "the connection task panicked".to_owned())
        })
    }
}

impl Fetch for Servers {
    fn fetch(&self, skill: &RemoteSkill, folder: &Path, wanted: Wanted<'_>) -> Result<(), String> {
        // Only the server that listed the skill is asked.
        let server = self.named(&skill.server).ok_or("its server is no longer configured")?;
        let folder: PathBuf = folder.to_owned();
        self.wait(server.fetch(skill, &folder, wanted))?
    }
}

impl Drop for ConnectionRuntime {
    fn drop(&mut self) {
        if let Some(Some(runtime)) = self.0.take() {
            // Closing connections are not awaited: their processes end with their handles.
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
    use crate::config::{ConfigSource, ServerTransport, ServerTrust};

    fn one(label: &str, url: &str, trusted: ServerTrust) -> Servers {
        let transport =
            ServerTransport::Address { url: url.to_owned(), headers: std::collections::BTreeMap::new() };
        let aliases = std::collections::BTreeMap::new();
        let config = ServerConfig {
            label: label.to_owned(),
            transport,
            source: ConfigSource::Project,
            trusted,
            aliases,
        };
        Servers::new(vec![config], None, None)
    }

    #[test]
    fn only_a_server_with_the_same_configuration_is_shared() {
        let first = [one("clock", "http://localhost:1/", ServerTrust::Yes)];
        for (other, expect) in [
            (one("clock", "http://localhost:1/", ServerTrust::Yes), true),
            (one("clock", "http://localhost:1/", ServerTrust::Changed), false),
            (one("clock", "http://localhost:2/", ServerTrust::Yes), false),
            (one("spare", "http://localhost:1/", ServerTrust::Yes), false),
        ] {
            let shared = other.share_connections(&first);
            assert_eq!(Arc::ptr_eq(&shared.servers[0], &first[0].servers[0]), expect);
            assert!(Arc::ptr_eq(&shared.runtime, &first[0].runtime));
        }
    }
}
