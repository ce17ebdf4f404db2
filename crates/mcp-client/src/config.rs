//! Configured servers: the user's own, and those in a project's `.mcp.json` once the project is trusted.

mod agent_servers;
mod server_json;
mod server_reader;
mod start_folder;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_catalog::{Layout, SERVER_FILES, one_line};
use metier_diagnostic::Diagnostic;
use metier_files::FileDigest;
use metier_policy::HostPattern;

use self::server_reader::{Declaration, ServerReader};
pub use agent_servers::{AgentServer, agent_servers};
pub use start_folder::{StartFolder, StartFolderError};

/// The configuration of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The label, from the user's or the project's name for the server; never from the server itself.
    pub label: String,
    /// How to connect to it.
    pub transport: ServerTransport,
    /// Where it is configured.
    pub source: ConfigSource,
    /// Whether it may be started.
    pub trusted: ServerTrust,
    /// Additional names for its tools.
    pub aliases: BTreeMap<String, String>,
}

/// How to connect to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    /// A program, over its standard streams.
    Program(ProgramConfig),
    /// Streamable HTTP.
    Address {
        /// The URL.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

/// A server that metier starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramConfig {
    /// A name on the search path, or a path.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// Environment variables in addition to the usual ones.
    pub env: BTreeMap<String, String>,
    /// The working directory; the project by default.
    pub folder: Option<StartFolder>,
    /// Hosts that it may connect to.
    pub hosts: Vec<HostPattern>,
    /// Folders that it may write, relative to the project.
    pub write: Vec<String>,
}

/// Where a server is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// In the user's configuration.
    User,
    /// In the project.
    Project,
}

/// Whether a server may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// It may be started.
    Yes,
    /// Its project is not trusted.
    NotYet,
    /// It changed after its project was trusted.
    Changed,
}

impl ServerConfig {
    /// The digest of the command or URL behind the label, without secrets.
    pub fn endpoint(&self) -> String {
        let text = match &self.transport {
            ServerTransport::Program(program) => [&program.command]
                .into_iter()
                .chain(&program.args)
                .fold("program".to_owned(), |text, word| format!("{text}\0{word}")),
            ServerTransport::Address { url, .. } => format!("address\0{url}"),
        };
        FileDigest::of(text.as_bytes()).to_string()
    }

    /// Folders of the project that it may write.
    pub fn write(&self) -> &[String] {
        match &self.transport {
            ServerTransport::Program(program) => &program.write,
            ServerTransport::Address { .. } => &[],
        }
    }

    /// The command line or URL, for display.
    pub fn display(&self) -> String {
        match &self.transport {
            ServerTransport::Program(program) => {
                let words: Vec<&str> =
                    [&program.command].into_iter().chain(&program.args).map(String::as_str).collect();
                one_line(&words.join(" "), 200)
            }
            ServerTransport::Address { url, .. } => one_line(url, 200),
        }
    }
}

/// Configured servers, and problems in their configuration.
#[derive(Clone, Debug, Default)]
pub struct ConfiguredServers {
    /// The servers, sorted by label.
    pub servers: Vec<ServerConfig>,
    /// Problems in the configuration.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the configuration of the user and the project. `variable` returns environment variables for `${NAME}`.
pub fn configured(layout: &Layout, variable: &dyn Fn(&str) -> Option<String>) -> ConfiguredServers {
    let mut reader = ServerReader::new(variable, BTreeSet::new());
    let file: Arc<Path> = layout.places.config_file().into();
    let home = layout.places.home.as_deref();
    for (name, config) in &layout.settings.mcp {
        let declaration = Declaration { file: &file, source: "", name };
        let folder = |cwd: &str| StartFolder::anywhere(expand_home(cwd, home, &layout.places.config));
        reader.server(&declaration, config, ConfigSource::User, ServerTrust::Yes, &folder);
    }
    if let Some(project) = &layout.project {
        for name in SERVER_FILES {
            reader.file(layout, project, name);
        }
    }
    reader.found.servers.sort_by(|a, b| a.label.cmp(&b.label));
    reader.found
}

fn expand_home(written: &str, home: Option<&Path>, from: &Path) -> PathBuf {
    match (written.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => from.join(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_catalog::{Ownership, Places, Preview, RootChoice, TrustStore};
    use metier_testkit::Workspace;

    fn layout(workspace: &Workspace) -> Layout {
        let places = Places {
            config: workspace.join("config"),
            data: workspace.join("data"),
            home: Some(workspace.join("home")),
            ..Places::bare(workspace.join("project"))
        };
        Layout::new(&places, &RootChoice::Usual)
    }

    fn trust(workspace: &Workspace) {
        let layout = layout(workspace);
        let preview = Preview::of(&layout).unwrap();
        TrustStore::update(&workspace.join("data"), |store| store.trust(&preview, "now", Ownership::Theirs))
            .unwrap();
    }

    fn read(workspace: &Workspace) -> (Vec<ServerConfig>, Vec<String>) {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0ken${TOKEN}".to_owned());
        let found = configured(&layout(workspace), &variable);
        let shown = found.diagnostics.iter().map(|found| {
            format!("{} {} {}", found.line().unwrap_or_default(), found.code.name(), found.message)
        });
        (found.servers, shown.collect())
    }

    #[test]
    fn project_servers_need_trust_and_new_trust_after_a_change() {
        let file = |command: &str| {
            format!("{{\n \"mcpServers\": {{\n  \"db\": {{\"command\": \"{command}\"}}\n }}\n}}\n")
        };
        let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", file("db-server"));
        let (servers, found) = read(&workspace);
        assert_eq!(servers[0].trusted, ServerTrust::NotYet);
        assert_eq!(
            found,
            ["3 mcp-server-untrusted the MCP server `db` is not started because the project is not trusted"]
        );
        trust(&workspace);
        let (servers, found) = read(&workspace);
        assert_eq!((servers[0].trusted, found.len()), (ServerTrust::Yes, 0));
        let workspace = workspace.file("project/.mcp.json", file("curl"));
        let (servers, found) = read(&workspace);
        assert_eq!(servers[0].trusted, ServerTrust::Changed);
        assert!(found[0].starts_with("3 mcp-server-changed"), "{found:?}");
    }

    #[test]
    fn servers_are_read_as_other_clients_write_them() {
        let text = r#"{"mcpServers": {
            "a": {"command": "x", "args": ["--k", "${TOKEN}"], "env": {"N": 3, "T": "${MISSING:-none}"}, "timeout": 9},
            "b": {"type": "streamable-http", "url": "https://b.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "c": {"type": "sse", "serverUrl": "http://127.0.0.1:1/sse"},
            "off": {"command": "x", "disabled": true},
            "My Server": {"command": "x", "cwd": "tools"},
            "my-server": {"command": "x"}
        }}"#;
        let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", text);
        trust(&workspace);
        let (servers, found) = read(&workspace);
        let labels: Vec<&str> = servers.iter().map(|server| server.label.as_str()).collect();
        assert_eq!(labels, ["a", "b", "c", "my-server", "my-server-2"]);
        let ServerTransport::Program(program) = &servers[0].transport else { panic!("{servers:?}") };
        assert_eq!(program.args, ["--k", "t0ken${TOKEN}"], "values are not expanded again");
        assert_eq!((&*program.env["N"], &*program.env["T"]), ("3", "none"));
        let ServerTransport::Address { headers, .. } = &servers[1].transport else { panic!("{servers:?}") };
        assert_eq!(headers["Authorization"], "Bearer t0ken${TOKEN}");
        assert!(!servers[1].endpoint().contains("t0ken") && servers[0].display().starts_with("x --k"));
        let codes: Vec<&str> = found.iter().filter_map(|found| found.split(' ').nth(1)).collect();
        assert_eq!(codes, ["mcp-server-sse", "mcp-server-renamed", "mcp-server-renamed"]);
    }

    #[test]
    fn an_invalid_server_is_reported_with_its_line_and_the_others_are_used() {
        let text = "{\"mcpServers\": {\n\"none\": {},\n\"both\": {\"command\": \"x\", \"url\": \"http://y\"},\n\"list\": [],\n\"args\": {\"command\": \"x\", \"args\": \"y\"},\n\"unset\": {\"command\": \"${MISSING}\"},\n\"out\": {\"command\": \"x\", \"cwd\": \"../..\"},\n\"ftp\": {\"url\": \"ftp://x\"},\n\"type\": {\"type\": \"pigeon\", \"command\": \"x\"},\n\"host\": {\"command\": \"x\", \"hosts\": [\"a b\"]},\n\"!\": {\"command\": \"x\"},\n\"good\": {\"command\": \"x\"}}}";
        let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", text);
        trust(&workspace);
        let (servers, found) = read(&workspace);
        assert_eq!(servers.len(), 1, "{servers:?}");
        let lines: Vec<&str> = found.iter().filter_map(|found| found.split(' ').next()).collect();
        assert_eq!(lines, ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11"], "{found:#?}");
        assert!(found.iter().all(|found| found.contains("mcp-server-invalid")), "{found:#?}");
        for (text, expect) in
            [("{", "1 mcp-file-invalid invalid JSON"), ("[]", "0 mcp-file-invalid not an object")]
        {
            let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", text);
            let (servers, found) = read(&workspace);
            assert!(servers.is_empty() && found[0].starts_with(expect), "{found:?}");
        }
    }

    #[test]
    fn the_users_servers_come_first_and_need_no_trust() {
        let workspace = Workspace::new()
            .dir("project/.git")
            .file("project/.mcp.json", r#"{"mcpServers": {"db": {"command": "theirs"}}}"#)
            .file("config/config.toml", "[mcp.db]\ncommand = \"mine\"\nhosts = [\"api.example.com\"]\ncwd = \"~/db\"\naliases = { q = \"query\" }\n");
        let (servers, _) = read(&workspace);
        let labels: Vec<_> =
            servers.iter().map(|server| (server.label.as_str(), server.source, server.trusted)).collect();
        assert_eq!(
            labels,
            [
                ("db", ConfigSource::User, ServerTrust::Yes),
                ("db-2", ConfigSource::Project, ServerTrust::NotYet)
            ]
        );
        let ServerTransport::Program(program) = &servers[0].transport else { panic!("{servers:?}") };
        assert_eq!(
            (program.hosts.len(), program.folder.clone()),
            (1, Some(StartFolder::anywhere(workspace.join("home/db"))))
        );
        assert_eq!(servers[0].aliases["q"], "query");
        assert_ne!(servers[0].endpoint(), servers[1].endpoint());
    }
}
