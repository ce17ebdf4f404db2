//! Which servers there are: the user's own configuration, and a project's `.mcp.json` once the project is trusted.

mod own;
mod start_folder;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_catalog::{
    Layout, McpServerConfig, McpTransport, Project, SERVER_FILES, Standing, TrustEntry, one_line,
};
use metier_diagnostic::{Code, Diagnostic, Span};
use metier_files::{FileDigest, read_bounded};
use metier_policy::HostPattern;
use metier_skill::slug;
use serde_json::{Map, Value};

use super::code;
pub use own::{OwnServer, own_servers};
pub use start_folder::{StartFolder, StartFolderError};

/// The largest file of servers that is read. Real ones have a few kilobytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The most servers. Each is a process or a connection, and its tools are paid for in every turn.
const MAX_SERVERS: usize = 32;

/// The longest label. It stands in the name of every tool of the server, of which providers take 64 characters.
const MAX_LABEL: usize = 24;

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
    /// What it sees in its environment beside the usual.
    pub env: BTreeMap<String, String>,
    /// Where it starts; the project without it.
    pub folder: Option<StartFolder>,
    /// Whom it may reach.
    pub hosts: Vec<HostPattern>,
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
    /// Who the server is behind its label: the digest of what is started or connected to, without the secrets of either.
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

    /// The same in words, for whoever looks.
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
    let mut reading = Reading::new(variable, BTreeSet::new());
    let file: Arc<Path> = layout.places.config_file().into();
    let home = layout.places.home.as_deref();
    for (name, config) in &layout.settings.mcp {
        let place = Place { file: &file, source: "", name };
        let folder = |cwd: &str| StartFolder::anywhere(expand_home(cwd, home, &layout.places.config));
        reading.server(&place, config, Source::User, Trusted::Yes, &folder);
    }
    if let Some(project) = &layout.project {
        for name in SERVER_FILES {
            reading.file(layout, project, name);
        }
    }
    reading.found.servers.sort_by(|a, b| a.label.cmp(&b.label));
    reading.found
}

/// Where a server is written down.
struct Place<'a> {
    file: &'a Arc<Path>,
    source: &'a str,
    name: &'a str,
}

impl Place<'_> {
    /// A finding at the line where the server's name stands.
    fn diagnostic(&self, code: &'static Code, message: String) -> Diagnostic {
        let found = Diagnostic::new(code, message).in_file(self.file);
        let key = Value::String(self.name.to_owned()).to_string();
        let from = self.source.find("ervers").unwrap_or_default();
        match self.source[from..].find(&key).map(|at| from + at) {
            Some(at) => found.at(Span::from(at..at + key.len()), self.source),
            None => found,
        }
    }
}

struct Reading<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    found: Configured,
    taken: BTreeSet<String>,
    /// The names of servers as people see them, each with its exact name.
    shown: BTreeMap<String, String>,
}

impl<'a> Reading<'a> {
    fn new(variable: &'a dyn Fn(&str) -> Option<String>, taken: BTreeSet<String>) -> Self {
        Self { variable, found: Configured::default(), taken, shown: BTreeMap::new() }
    }

    fn file(&mut self, layout: &Layout, project: &Project, name: &str) {
        let path: Arc<Path> = project.folder.join(name).into();
        let invalid = |why: String| Diagnostic::new(&code::MCP_FILE_INVALID, why).in_file(&path);
        let bytes = match read_bounded(&path, MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return self.found.diagnostics.push(invalid(format!("it cannot be read: {error}"))),
        };
        let source = String::from_utf8_lossy(&bytes);
        let file: Value = match serde_json::from_str(&source) {
            Ok(file) => file,
            Err(error) => {
                let at = offset(&source, error.line(), error.column());
                let found = invalid(format!("it is not JSON: {error}"));
                return self.found.diagnostics.push(found.at(Span::from(at..at), &source));
            }
        };
        let servers = file.get("mcpServers").or_else(|| file.get("servers"));
        let Some(servers) = servers.and_then(Value::as_object) else {
            let help = "write `{\"mcpServers\": {\"NAME\": {\"command\": …}}}`";
            let found = invalid("it is not an object with `mcpServers`".to_owned()).help(help);
            return self.found.diagnostics.push(found);
        };
        // A name that is shown as it is comes first, or an odd one of the same look could keep it out.
        let (plain, odd): (Vec<_>, Vec<_>) = servers.iter().partition(|(name, _)| shown_name(name) == **name);
        for (server, value) in plain.into_iter().chain(odd) {
            let place = Place { file: &path, source: &source, name: server };
            let trusted = match layout.standing {
                Standing::Untrusted => Trusted::NotYet,
                // The very server that would be started, by its exact name.
                _ if layout.trust.allows(&TrustEntry::server(name, server, value)) => Trusted::Yes,
                _ => Trusted::Changed,
            };
            let folder = |cwd: &str| StartFolder::within(project.folder.join(cwd), &project.folder);
            match config_of(value) {
                Ok(config) => self.server(&place, &config, Source::Project, trusted, &folder),
                Err(why) => self.invalid(&place, &why),
            }
        }
    }

    fn invalid(&mut self, place: &Place<'_>, why: &str) {
        let message = format!("the MCP server `{}` is left out: {why}", place.name.escape_debug());
        self.found.diagnostics.push(place.diagnostic(&code::MCP_SERVER_INVALID, message));
    }

    fn server(
        &mut self,
        place: &Place<'_>,
        config: &McpServerConfig,
        source: Source,
        trusted: Trusted,
        folder: &dyn Fn(&str) -> StartFolder,
    ) {
        if config.disabled {
            return;
        }
        let shown = shown_name(place.name);
        if let Some(other) = self.shown.get(&shown).filter(|other| *other != place.name) {
            let why = format!("its name looks like that of `{}`", other.escape_debug());
            return self.invalid(place, &why);
        }
        self.shown.insert(shown, place.name.to_owned());
        if self.found.servers.len() == MAX_SERVERS {
            return self.invalid(place, &format!("there are {MAX_SERVERS} already"));
        }
        let how = match self.how(config, folder) {
            Ok(how) => how,
            Err(why) => return self.invalid(place, &why),
        };
        let Some(label) = self.label(place) else {
            return self.invalid(place, "its name has no letter and no digit");
        };
        let word = |code, message: String| place.diagnostic(code, message);
        if config.transport == Some(McpTransport::Sse) {
            let message = format!("`{label}` is of type `sse`; it is tried as `http`");
            self.found.diagnostics.push(word(&code::MCP_SERVER_SSE, message));
        }
        match trusted {
            Trusted::Yes => {}
            Trusted::NotYet => {
                let message = format!("the MCP server `{label}` is not started: the project is not trusted");
                let help = "look at it with `metier trust --preview`, then `metier trust`";
                self.found.diagnostics.push(word(&code::MCP_SERVER_UNTRUSTED, message).help(help));
            }
            Trusted::Changed => {
                let message = format!("the MCP server `{label}` is other than when you trusted the project");
                let help = "look at it with `metier trust --preview`, then `metier trust` again";
                self.found.diagnostics.push(word(&code::MCP_SERVER_CHANGED, message).help(help));
            }
        }
        let aliases = config.aliases.clone();
        self.found.servers.push(ServerConfig { label, how, source, trusted, aliases });
    }

    /// The server's name where tools can have it, else something like it; the user's servers come first and keep theirs.
    fn label(&mut self, place: &Place<'_>) -> Option<String> {
        let name = place.name;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_fine =
            (1..=MAX_LABEL).contains(&name.len()) && name.bytes().all(is_plain) && !name.contains("__");
        let plain: String = if is_fine {
            name.to_owned()
        } else {
            slug(name).chars().filter(char::is_ascii).take(MAX_LABEL).collect()
        };
        if plain.is_empty() {
            return None;
        }
        let mut label = plain.clone();
        for number in 2..=self.taken.len() + 2 {
            if !self.taken.contains(&label) {
                break;
            }
            label = format!("{plain}-{number}");
        }
        if label != name {
            let message = format!("the MCP server `{}` goes by `{label}`", one_line(name, 80));
            self.found.diagnostics.push(place.diagnostic(&code::MCP_SERVER_RENAMED, message));
        }
        self.taken.insert(label.clone());
        Some(label)
    }

    fn how(&self, config: &McpServerConfig, folder: &dyn Fn(&str) -> StartFolder) -> Result<How, String> {
        let filled = |map: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
            map.iter().map(|(name, value)| Ok((name.clone(), self.filled(value)?))).collect()
        };
        let (command, url) = (config.command.as_deref(), config.url.as_deref());
        match (config.transport, command, url) {
            (Some(McpTransport::Http | McpTransport::Sse), Some(_), None) => {
                Err("it is of type `http` and has a `command`".to_owned())
            }
            (Some(McpTransport::Stdio), None, Some(_)) => {
                Err("it is of type `stdio` and has a `url`".to_owned())
            }
            (_, Some(_), Some(_)) => Err("it has a `command` and a `url`; one of them is meant".to_owned()),
            (_, None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
            (_, Some(command), None) => {
                if command.trim().is_empty() {
                    return Err("its `command` is empty".to_owned());
                }
                let mut hosts = Vec::new();
                for host in &config.hosts {
                    hosts.push(host.parse().map_err(|_| format!("`{}` is no host", one_line(host, 80)))?);
                }
                let args = config.args.iter().map(|arg| self.filled(arg)).collect::<Result<_, _>>()?;
                Ok(How::Program(ProgramConfig {
                    command: self.filled(command)?,
                    args,
                    env: filled(&config.env)?,
                    folder: config.cwd.as_deref().map(folder).map(StartFolder::checked).transpose()?,
                    hosts,
                }))
            }
            (_, None, Some(url)) => {
                let url = self.filled(url)?;
                if !url.starts_with("https://") && !url.starts_with("http://") {
                    return Err("its `url` begins with neither `https://` nor `http://`".to_owned());
                }
                Ok(How::Address { url, headers: filled(&config.headers)? })
            }
        }
    }

    /// Puts values in the places of `${NAME}` and `${NAME:-text}`. What is put in is not looked at again.
    fn filled(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("${") {
            filled.push_str(before);
            let Some((inside, behind)) = from.split_once('}') else {
                filled.push_str("${");
                rest = from;
                continue;
            };
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            let value = (self.variable)(name).or_else(|| default.map(str::to_owned));
            filled
                .push_str(&value.ok_or_else(|| format!("the variable `{}` is not set", one_line(name, 80)))?);
            rest = behind;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

/// The settings of a server as other clients write them. Keys that metier does not know are theirs and are passed over.
fn config_of(value: &Value) -> Result<McpServerConfig, String> {
    let server = value.as_object().ok_or("it is not an object")?;
    let wrong = |key: &str, kind: &str| format!("its `{key}` is not {kind}");
    let text = |key: &str| match server.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(key, "a text")),
    };
    let texts = |key: &str| -> Result<Vec<String>, String> {
        let Some(list) = server.get(key) else { return Ok(Vec::new()) };
        let list = list.as_array().ok_or_else(|| wrong(key, "a list of texts"))?;
        list.iter()
            .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "a list of texts")))
            .collect()
    };
    let map = |key: &str| -> Result<BTreeMap<String, String>, String> {
        let none = Map::new();
        let map = match server.get(key) {
            None | Some(Value::Null) => &none,
            Some(map) => map.as_object().ok_or_else(|| wrong(key, "an object of texts"))?,
        };
        let one = |(name, value): (&String, &Value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
            _ => Err(wrong(key, "an object of texts")),
        };
        map.iter().map(one).collect()
    };
    let transport = match text("type")?.as_deref() {
        None => None,
        Some("stdio") => Some(McpTransport::Stdio),
        Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => Some(McpTransport::Http),
        Some("sse") => Some(McpTransport::Sse),
        Some(other) => return Err(format!("there is no type `{}`", one_line(other, 40))),
    };
    let url = text("url")?.or(text("serverUrl")?).or(text("httpUrl")?);
    Ok(McpServerConfig {
        transport,
        command: text("command")?,
        args: texts("args")?,
        env: map("env")?,
        cwd: text("cwd")?,
        hosts: texts("hosts")?,
        url,
        headers: map("headers")?,
        disabled: server.get("disabled").and_then(Value::as_bool).unwrap_or_default(),
        aliases: BTreeMap::new(),
    })
}

/// A name as people see it. Two names that look alike are one to whoever decides, so the second is refused.
fn shown_name(name: &str) -> String {
    one_line(name, usize::MAX)
}

fn expand_home(written: &str, home: Option<&Path>, from: &Path) -> PathBuf {
    match (written.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => from.join(written),
    }
}

/// The byte at a line and a column, both counted from 1.
fn offset(source: &str, line: usize, column: usize) -> usize {
    let before: usize = source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (before + column.saturating_sub(1)).min(source.len());
    source.floor_char_boundary(at)
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
