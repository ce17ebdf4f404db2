//! Which servers there are: the user's own configuration, and a project's `.mcp.json` once the project is trusted.

mod own;
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
pub use own::{OwnServer, own_servers};
pub use start_folder::{StartFolder, StartFolderError};

/// A server as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// What it is called here: the user's or the project's word, never the server's.
    pub label: String,
    /// How it is spoken to.
    pub how: How,
    /// Who says so.
    pub source: Source,
    /// Whether it may be started.
    pub trusted: Trusted,
    /// More names for its tools.
    pub aliases: BTreeMap<String, String>,
}

/// How a server is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Over the streams of a program.
    Program(ProgramConfig),
    /// Over HTTP.
    Address {
        /// Where.
        url: String,
        /// Headers for every request.
        headers: BTreeMap<String, String>,
    },
}

/// A program that is a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramConfig {
    /// A name on the search path, or a path.
    pub command: String,
    /// What it is told.
    pub args: Vec<String>,
    /// What it sees in its environment in addition to the usual.
    pub env: BTreeMap<String, String>,
    /// Where it starts; the project without it.
    pub folder: Option<StartFolder>,
    /// The hosts that it may reach.
    pub hosts: Vec<HostPattern>,
    /// Folders of the project that it may write, seen from the project.
    pub write: Vec<String>,
}

/// Who says that a server is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user.
    User,
    /// The project.
    Project,
}

/// Whether a server may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusted {
    /// It may.
    Yes,
    /// Its project is not trusted.
    NotYet,
    /// It is other than when its project was trusted.
    Changed,
}

impl ServerConfig {
    /// What the label stands for: the digest of what is started or connected to, without the secrets of either.
    pub fn endpoint(&self) -> String {
        let text = match &self.how {
            How::Program(program) => [&program.command]
                .into_iter()
                .chain(&program.args)
                .fold("program".to_owned(), |text, word| format!("{text}\0{word}")),
            How::Address { url, .. } => format!("address\0{url}"),
        };
        FileDigest::of(text.as_bytes()).to_string()
    }

    /// What it may write in the project.
    pub fn write(&self) -> &[String] {
        match &self.how {
            How::Program(program) => &program.write,
            How::Address { .. } => &[],
        }
    }

    /// The same in words, for people.
    pub fn in_words(&self) -> String {
        match &self.how {
            How::Program(program) => {
                let words: Vec<&str> =
                    [&program.command].into_iter().chain(&program.args).map(String::as_str).collect();
                one_line(&words.join(" "), 200)
            }
            How::Address { url, .. } => one_line(url, 200),
        }
    }
}

/// The servers of a machine, and what was wrong with what is said of them.
#[derive(Clone, Debug, Default)]
pub struct Configured {
    /// Them, in the order of their labels.
    pub servers: Vec<ServerConfig>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads what the user and the project say. `variable` gives values of metier's own environment for `${NAME}`.
pub fn configured(layout: &Layout, variable: &dyn Fn(&str) -> Option<String>) -> Configured {
    let mut reader = ServerReader::new(variable, BTreeSet::new());
    let file: Arc<Path> = layout.places.config_file().into();
    let home = layout.places.home.as_deref();
    for (name, config) in &layout.settings.mcp {
        let place = Declaration { file: &file, source: "", name };
        let folder = |cwd: &str| StartFolder::anywhere(expand_home(cwd, home, &layout.places.config));
        reader.server(&place, config, Source::User, Trusted::Yes, &folder);
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
    fn a_project_is_heard_once_it_is_trusted_and_again_after_a_change() {
        let file = |command: &str| {
            format!("{{\n \"mcpServers\": {{\n  \"db\": {{\"command\": \"{command}\"}}\n }}\n}}\n")
        };
        let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", file("db-server"));
        let (servers, found) = read(&workspace);
        assert_eq!(servers[0].trusted, Trusted::NotYet);
        assert_eq!(
            found,
            ["3 mcp-server-untrusted the MCP server `db` is not started: the project is not trusted"]
        );
        trust(&workspace);
        let (servers, found) = read(&workspace);
        assert_eq!((servers[0].trusted, found.len()), (Trusted::Yes, 0));
        let workspace = workspace.file("project/.mcp.json", file("curl"));
        let (servers, found) = read(&workspace);
        assert_eq!(servers[0].trusted, Trusted::Changed);
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
        let How::Program(program) = &servers[0].how else { panic!("{servers:?}") };
        assert_eq!(program.args, ["--k", "t0ken${TOKEN}"], "what is put in is not looked at again");
        assert_eq!((&*program.env["N"], &*program.env["T"]), ("3", "none"));
        let How::Address { headers, .. } = &servers[1].how else { panic!("{servers:?}") };
        assert_eq!(headers["Authorization"], "Bearer t0ken${TOKEN}");
        assert!(!servers[1].endpoint().contains("t0ken") && servers[0].in_words().starts_with("x --k"));
        let codes: Vec<&str> = found.iter().filter_map(|found| found.split(' ').nth(1)).collect();
        assert_eq!(codes, ["mcp-server-sse", "mcp-server-renamed", "mcp-server-renamed"]);
    }

    #[test]
    fn one_bad_server_costs_itself_and_has_its_line() {
        let text = "{\"mcpServers\": {\n\"none\": {},\n\"both\": {\"command\": \"x\", \"url\": \"http://y\"},\n\"list\": [],\n\"args\": {\"command\": \"x\", \"args\": \"y\"},\n\"unset\": {\"command\": \"${NOBODY}\"},\n\"out\": {\"command\": \"x\", \"cwd\": \"../..\"},\n\"ftp\": {\"url\": \"ftp://x\"},\n\"type\": {\"type\": \"pigeon\", \"command\": \"x\"},\n\"host\": {\"command\": \"x\", \"hosts\": [\"a b\"]},\n\"!\": {\"command\": \"x\"},\n\"good\": {\"command\": \"x\"}}}";
        let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", text);
        trust(&workspace);
        let (servers, found) = read(&workspace);
        assert_eq!(servers.len(), 1, "{servers:?}");
        let lines: Vec<&str> = found.iter().filter_map(|found| found.split(' ').next()).collect();
        assert_eq!(lines, ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11"], "{found:#?}");
        assert!(found.iter().all(|found| found.contains("mcp-server-invalid")), "{found:#?}");
        for (text, expect) in
            [("{", "1 mcp-file-invalid it is not JSON"), ("[]", "0 mcp-file-invalid it is not an object")]
        {
            let workspace = Workspace::new().dir("project/.git").file("project/.mcp.json", text);
            let (servers, found) = read(&workspace);
            assert!(servers.is_empty() && found[0].starts_with(expect), "{found:?}");
        }
    }

    #[test]
    fn the_user_comes_first_and_needs_no_trust() {
        let workspace = Workspace::new()
            .dir("project/.git")
            .file("project/.mcp.json", r#"{"mcpServers": {"db": {"command": "theirs"}}}"#)
            .file("config/config.toml", "[mcp.db]\ncommand = \"mine\"\nhosts = [\"api.example.com\"]\ncwd = \"~/db\"\naliases = { q = \"query\" }\n");
        let (servers, _) = read(&workspace);
        let labels: Vec<_> =
            servers.iter().map(|server| (server.label.as_str(), server.source, server.trusted)).collect();
        assert_eq!(labels, [("db", Source::User, Trusted::Yes), ("db-2", Source::Project, Trusted::NotYet)]);
        let How::Program(program) = &servers[0].how else { panic!("{servers:?}") };
        assert_eq!(
            (program.hosts.len(), program.folder.clone()),
            (1, Some(StartFolder::anywhere(workspace.join("home/db"))))
        );
        assert_eq!(servers[0].aliases["q"], "query");
        assert_ne!(servers[0].endpoint(), servers[1].endpoint());
    }
}
