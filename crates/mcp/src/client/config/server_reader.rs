//! Servers from their settings: checked, with a label of their own, and with what was wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use metier_catalog::{Layout, McpServerConfig, McpTransport, Project, Standing, TrustEntry, one_line};
use metier_diagnostic::{Code, Diagnostic, Span};
use metier_files::read_bounded;
use metier_skill::slug;
use serde_json::Value;

use super::server_json::{offset, parse_server};
use super::variables::with_variables;
use super::{Configured, How, ProgramConfig, ServerConfig, Source, StartFolder, Trusted};
use crate::client::code;

/// The largest file of servers that is read. Real ones have a few kilobytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The most servers. Each is a process or a connection, and its tools are paid for in every turn.
const MAX_SERVERS: usize = 32;

/// The longest label. It stands in the name of every tool of the server, of which providers take 64 characters.
const MAX_LABEL: usize = 24;

/// Where a server is written down.
pub(super) struct Declaration<'a> {
    pub(super) file: &'a Arc<Path>,
    pub(super) source: &'a str,
    pub(super) name: &'a str,
}

impl Declaration<'_> {
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

/// Reads servers from several files, one after the other.
pub(super) struct ServerReader<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    pub(super) found: Configured,
    taken: BTreeSet<String>,
    /// The names of servers as people see them, each with its exact name.
    shown: BTreeMap<String, String>,
}

impl<'a> ServerReader<'a> {
    pub(super) fn new(variable: &'a dyn Fn(&str) -> Option<String>, taken: BTreeSet<String>) -> Self {
        Self { variable, found: Configured::default(), taken, shown: BTreeMap::new() }
    }

    pub(super) fn file(&mut self, layout: &Layout, project: &Project, name: &str) {
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
            let place = Declaration { file: &path, source: &source, name: server };
            let trusted = match layout.standing {
                Standing::Untrusted => Trusted::NotYet,
                // The very server that would be started, by its exact name.
                _ if layout.trust.allows(&TrustEntry::server(name, server, value)) => Trusted::Yes,
                _ => Trusted::Changed,
            };
            let folder = |cwd: &str| StartFolder::within(project.folder.join(cwd), &project.folder);
            match parse_server(value) {
                Ok(config) => self.server(&place, &config, Source::Project, trusted, &folder),
                Err(why) => self.invalid(&place, &why),
            }
        }
    }

    pub(super) fn invalid(&mut self, place: &Declaration<'_>, why: &str) {
        let message = format!("the MCP server `{}` is left out: {why}", place.name.escape_debug());
        self.found.diagnostics.push(place.diagnostic(&code::MCP_SERVER_INVALID, message));
    }

    pub(super) fn server(
        &mut self,
        place: &Declaration<'_>,
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
    fn label(&mut self, place: &Declaration<'_>) -> Option<String> {
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

    fn filled_in(&self, text: &str) -> Result<String, String> {
        with_variables(text, self.variable)
    }

    fn how(&self, config: &McpServerConfig, folder: &dyn Fn(&str) -> StartFolder) -> Result<How, String> {
        let filled = |map: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
            map.iter().map(|(name, value)| Ok((name.clone(), self.filled_in(value)?))).collect()
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
                let args = config.args.iter().map(|arg| self.filled_in(arg)).collect::<Result<_, _>>()?;
                Ok(How::Program(ProgramConfig {
                    command: self.filled_in(command)?,
                    args,
                    env: filled(&config.env)?,
                    folder: config.cwd.as_deref().map(folder).map(StartFolder::checked).transpose()?,
                    hosts,
                    write: config.write.clone(),
                }))
            }
            (_, None, Some(url)) => {
                if !config.write.is_empty() {
                    return Err(
                        "it has a `url`, so metier does not start it and cannot give it `write`".to_owned()
                    );
                }
                let url = self.filled_in(url)?;
                if !url.starts_with("https://") && !url.starts_with("http://") {
                    return Err("its `url` begins with neither `https://` nor `http://`".to_owned());
                }
                Ok(How::Address { url, headers: filled(&config.headers)? })
            }
        }
    }
}

/// A name as people see it. A person who decides cannot tell two names apart that look alike, so the second is refused.
fn shown_name(name: &str) -> String {
    one_line(name, usize::MAX)
}
