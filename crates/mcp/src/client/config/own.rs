//! The servers that an agent's own file describes: for that agent, beside those that everybody knows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{Configured, Place, Reading, Source, Trusted, config_of};

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
    /// Whose word it is.
    pub source: Source,
    /// Whether it may be started.
    pub trusted: Trusted,
}

/// Reads what an agent's file says of its servers. A label that is `taken` stays with whom it belongs to: the user's rules are about
/// that one.
pub fn own_servers<'a>(
    servers: impl IntoIterator<Item = OwnServer<'a>>,
    taken: impl IntoIterator<Item = String>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Configured {
    let taken: BTreeSet<String> = taken.into_iter().collect();
    let mut reading = Reading { variable, found: Configured::default(), taken };
    for server in servers {
        let file: Arc<Path> = server.file.into();
        let place = Place { file: &file, source: "", name: server.name };
        let folder = |cwd: &str| -> Result<PathBuf, String> {
            let is_inside = !cwd.split('/').any(|step| step == "..") && !Path::new(cwd).is_absolute();
            if is_inside || server.source == Source::User {
                Ok(server.folder.join(cwd))
            } else {
                Err(format!("`cwd` is `{cwd}`, which is not in the project"))
            }
        };
        match config_of(server.settings) {
            Ok(mut config) => {
                // What a file describes starts beside it, as its relative paths are meant.
                config.cwd.get_or_insert_with(|| ".".to_owned());
                reading.server(&place, &config, server.source, server.trusted, &folder);
            }
            Err(why) => reading.invalid(&place, &why),
        }
    }
    reading.found
}
