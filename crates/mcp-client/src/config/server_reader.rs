//! Builds server configurations from settings: validated, with a unique label, and with diagnostics.

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
use super::{
    ConfigSource, ConfiguredServers, ProgramConfig, ServerConfig, ServerTransport, ServerTrust, StartFolder,
};
use crate::code;

/// The largest file of servers. Real ones have a few kilobytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The most servers. Each is a process or a connection, and its tools cost tokens in every turn.
const MAX_SERVERS: usize = 32;

/// The longest label. It is part of every tool name, and providers allow 64 characters.
const MAX_LABEL: usize = 24;

/// Where a server is declared.
pub(super) struct Declaration<'a> {
    pub(super) file: &'a Arc<Path>,
    pub(super) source: &'a str,
    pub(super) name: &'a str,
}

impl Declaration<'_> {
    /// A diagnostic at the line of the server's name.
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

/// Reads servers from several files in order.
pub(super) struct ServerReader<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    pub(super) found: ConfiguredServers,
    taken: BTreeSet<String>,
    /// Displayed names, each with the exact name that has it.
    shown: BTreeMap<String, String>,
}

impl<'a> ServerReader<'a> {
    pub(super) fn new(variable: &'a dyn Fn(&str) -> Option<String>, taken: BTreeSet<String>) -> Self {
        Self { variable, found: ConfiguredServers::default(), taken, shown: BTreeMap::new() }
    }

    pub(super) fn file(&mut self, layout: &Layout, project: &Project, name: &str) {
        let path: Arc<Path> = project.folder.join(name).into();
        let invalid = |why: String| Diagnostic::new(&code::MCP_FILE_INVALID, why).in_file(&path);
        let bytes = match read_bounded(&path, MAX_FILE_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return self.found.diagnostics.push(invalid(format!("cannot be read: {error}"))),
        };
        let source = String::from_utf8_lossy(&bytes);
        let file: Value = match serde_json::from_str(&source) {
            Ok(file) => file,
            Err(error) => {
                let at = offset(&source, error.line(), error.column());
                let found = invalid(format!("invalid JSON: {error}"));
                return self.found.diagnostics.push(found.at(Span::from(at..at), &source));
            }
        };
        let servers = file.get("mcpServers").or_else(|| file.get("servers"));
        let Some(servers) = servers.and_then(Value::as_object) else {
            let help = "write `{\"mcpServers\": {\"NAME\": {\"command\": …}}}`";
            let found = invalid("not an object with `mcpServers`".to_owned()).help(help);
            return self.found.diagnostics.push(found);
        };
        // Names that are displayed unchanged come first, so that a lookalike cannot displace them.
        let (plain, odd): (Vec<_>, Vec<_>) = servers.iter().partition(|(name, _)| shown_name(name) == **name);
        for (server, value) in plain.into_iter().chain(odd) {
            let declaration = Declaration { file: &path, source: &source, name: server };
            let trusted = match layout.standing {
                Standing::Untrusted => ServerTrust::NotYet,
                // Trust covers this exact server, by its exact name.
                _ if layout.trust.allows(&TrustEntry::server(name, server, value)) => ServerTrust::Yes,
                _ => ServerTrust::Changed,
            };
            let folder = |cwd: &str| StartFolder::within(project.folder.join(cwd), &project.folder);
            match parse_server(value) {
                Ok(config) => self.server(&declaration, &config, ConfigSource::Project, trusted, &folder),
                Err(why) => self.invalid(&declaration, &why),
            }
        }
    }

    pub(super) fn invalid(&mut self, declaration: &Declaration<'_>, why: &str) {
        let message = format!("the MCP server `{}` is ignored: {why}", declaration.name.escape_debug());
        self.found.diagnostics.push(declaration.diagnostic(&code::MCP_SERVER_INVALID, message));
    }

    pub(super) fn server(
        &mut self,
        declaration: &Declaration<'_>,
        config: &McpServerConfig,
        source: ConfigSource,
        trusted: ServerTrust,
        folder: &dyn Fn(&str) -> StartFolder,
    ) {
        if config.disabled {
            return;
        }
        let shown = shown_name(declaration.name);
        if let Some(other) = self.shown.get(&shown).filter(|other| *other != declaration.name) {
            let why = format!("its name looks like `{}`", other.escape_debug());
            return self.invalid(declaration, &why);
        }
        self.shown.insert(shown, declaration.name.to_owned());
        if self.found.servers.len() == MAX_SERVERS {
            return self.invalid(declaration, &format!("there are more than {MAX_SERVERS} servers"));
        }
        let transport = match self.transport(config, folder) {
            Ok(transport) => transport,
            Err(why) => return self.invalid(declaration, &why),
        };
        let Some(label) = self.label(declaration) else {
            return self.invalid(declaration, "its name has no letter or digit");
        };
        let diagnostic = |code, message: String| declaration.diagnostic(code, message);
        if config.transport == Some(McpTransport::Sse) {
            let message = format!("the MCP server `{label}` has the type `sse`; metier uses streamable HTTP");
            self.found.diagnostics.push(diagnostic(&code::MCP_SERVER_SSE, message));
        }
        match trusted {
            ServerTrust::Yes => {}
            ServerTrust::NotYet => {
                let message =
                    format!("the MCP server `{label}` is not started because the project is not trusted");
                let help = "review it with `metier trust --preview`, then run `metier trust`";
                self.found.diagnostics.push(diagnostic(&code::MCP_SERVER_UNTRUSTED, message).help(help));
            }
            ServerTrust::Changed => {
                let message = format!("the MCP server `{label}` has changed since you trusted the project");
                let help = "review it with `metier trust --preview`, then run `metier trust` again";
                self.found.diagnostics.push(diagnostic(&code::MCP_SERVER_CHANGED, message).help(help));
            }
        }
        let aliases = config.aliases.clone();
        self.found.servers.push(ServerConfig { label, transport, source, trusted, aliases });
    }

    /// The server's label: its name if tool names can contain it, else a similar one. The user's servers come first and keep
    /// theirs.
    fn label(&mut self, declaration: &Declaration<'_>) -> Option<String> {
        let name = declaration.name;
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
            let message = format!("the MCP server `{}` gets the label `{label}`", one_line(name, 80));
            self.found.diagnostics.push(declaration.diagnostic(&code::MCP_SERVER_RENAMED, message));
        }
        self.taken.insert(label.clone());
        Some(label)
    }

    fn expanded(&self, text: &str) -> Result<String, String> {
        with_variables(text, self.variable)
    }

    fn transport(
        &self,
        config: &McpServerConfig,
        folder: &dyn Fn(&str) -> StartFolder,
    ) -> Result<ServerTransport, String> {
        let filled = |map: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
            map.iter().map(|(name, value)| Ok((name.clone(), self.expanded(value)?))).collect()
        };
        let (command, url) = (config.command.as_deref(), config.url.as_deref());
        match (config.transport, command, url) {
            (Some(McpTransport::Http | McpTransport::Sse), Some(_), None) => {
                Err("type `http` does not allow a `command`".to_owned())
            }
            (Some(McpTransport::Stdio), None, Some(_)) => {
                Err("type `stdio` does not allow a `url`".to_owned())
            }
            (_, Some(_), Some(_)) => Err("it has a `command` and a `url`; remove one of them".to_owned()),
            (_, None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
            (_, Some(command), None) => {
                if command.trim().is_empty() {
                    return Err("its `command` is empty".to_owned());
                }
                let mut hosts = Vec::new();
                for host in &config.hosts {
                    hosts.push(host.parse().map_err(|_| format!("invalid host `{}`", one_line(host, 80)))?);
                }
                let args = config.args.iter().map(|arg| self.expanded(arg)).collect::<Result<_, _>>()?;
                Ok(ServerTransport::Program(ProgramConfig {
                    command: self.expanded(command)?,
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
                        "`write` needs a `command`: metier does not start a server with a `url`".to_owned()
                    );
                }
                let url = self.expanded(url)?;
                if !url.starts_with("https://") && !url.starts_with("http://") {
                    return Err("its `url` must begin with `https://` or `http://`".to_owned());
                }
                Ok(ServerTransport::Address { url, headers: filled(&config.headers)? })
            }
        }
    }
}

/// A name as it is displayed. People cannot tell lookalikes apart, so the second of two is refused.
fn shown_name(name: &str) -> String {
    one_line(name, usize::MAX)
}
