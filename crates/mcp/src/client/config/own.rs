//! The servers that an agent's own file describes: for that agent, in addition to the configured ones.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::server_json::parse_server;
use super::server_reader::{Declaration, ServerReader};
use super::{Configured, Source, StartFolder, Trusted};

/// A server that an agent's file describes.
#[derive(Clone, Copy, Debug)]
pub struct OwnServer<'a> {
    /// What the file calls it.
    pub name: &'a str,
    /// Its settings, as `.mcp.json` has them.
    pub settings: &'a Value,
    /// The file that says so.
    pub file: &'a Path,
    /// Where it starts, and where its `cwd` begins.
    pub folder: &'a Path,
    /// The project, which a server that it describes may not start outside of.
    pub project: Option<&'a Path>,
    /// Who describes it.
    pub source: Source,
    /// Whether it may be started.
    pub trusted: Trusted,
}

/// Reads what an agent's file says of its servers. A label that is `taken` is not given again: the user's rules are about the server that
/// has it.
pub fn own_servers<'a>(
    servers: impl IntoIterator<Item = OwnServer<'a>>,
    taken: impl IntoIterator<Item = String>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Configured {
    let taken: BTreeSet<String> = taken.into_iter().collect();
    let mut reader = ServerReader::new(variable, taken);
    for server in servers {
        let file: Arc<Path> = server.file.into();
        let place = Declaration { file: &file, source: "", name: server.name };
        let folder = |cwd: &str| match (server.source, server.project) {
            (Source::User, _) => StartFolder::anywhere(server.folder.join(cwd)),
            (Source::Project, project) => {
                StartFolder::within(server.folder.join(cwd), project.unwrap_or(server.folder))
            }
        };
        match parse_server(server.settings) {
            Ok(mut config) => {
                // It starts in the folder of the file: relative paths mean that one.
                config.cwd.get_or_insert_with(|| ".".to_owned());
                reader.server(&place, &config, server.source, server.trusted, &folder);
            }
            Err(why) => reader.invalid(&place, &why),
        }
    }
    reader.found
}
