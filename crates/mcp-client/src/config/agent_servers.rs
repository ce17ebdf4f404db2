//! Servers that an agent's file defines, in addition to the configured ones.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::server_json::parse_server;
use super::server_reader::{Declaration, ServerReader};
use super::{ConfigSource, ConfiguredServers, ServerTrust, StartFolder};

/// A server that an agent's file defines.
#[derive(Clone, Copy, Debug)]
pub struct AgentServer<'a> {
    /// Its name in the file.
    pub name: &'a str,
    /// Its settings, in the format of `.mcp.json`.
    pub settings: &'a Value,
    /// The file that defines it.
    pub file: &'a Path,
    /// The default working directory, and the base of a relative `cwd`.
    pub folder: &'a Path,
    /// The project. A project's server must start inside it.
    pub project: Option<&'a Path>,
    /// Who defines it.
    pub source: ConfigSource,
    /// Whether it may be started.
    pub trusted: ServerTrust,
}

/// Reads the servers of an agent's file. Labels in `taken` are not reused: the user's rules refer to the servers that have them.
pub fn agent_servers<'a>(
    servers: impl IntoIterator<Item = AgentServer<'a>>,
    taken: impl IntoIterator<Item = String>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> ConfiguredServers {
    let taken: BTreeSet<String> = taken.into_iter().collect();
    let mut reader = ServerReader::new(variable, taken);
    for server in servers {
        let file: Arc<Path> = server.file.into();
        let declaration = Declaration { file: &file, source: "", name: server.name };
        let folder = |cwd: &str| match (server.source, server.project) {
            (ConfigSource::User, _) => StartFolder::anywhere(server.folder.join(cwd)),
            (ConfigSource::Project, project) => {
                StartFolder::within(server.folder.join(cwd), project.unwrap_or(server.folder))
            }
        };
        match parse_server(server.settings) {
            Ok(mut config) => {
                // The default is the file's folder, so that relative paths work.
                config.cwd.get_or_insert_with(|| ".".to_owned());
                reader.server(&declaration, &config, server.source, server.trusted, &folder);
            }
            Err(why) => reader.invalid(&declaration, &why),
        }
    }
    reader.found
}
