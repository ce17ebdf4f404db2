//! Reads a definition from the disk, with the files that it names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_diagnostic::{Diagnostic, Span};
use metier_files::{read_bounded, real_path};
use metier_skill::{Spanned, head};
use serde_json::Value;

use crate::slash::SlashCommand;
use crate::value_reader::Reader;
use crate::{
    AgentDefinition, DefinitionFormat, ParsedDefinition, Role, ServerDescription, ServerRef, SkillList, code,
};

/// The largest definition file that is read. The largest public agent file has a tenth of it, and all of it goes into every
/// request to the model.
pub const MAX_FILE: u64 = 256 * 1024;

/// Where agentmd keeps the servers that agents of a folder may name.
const AGENTMD_SERVERS: [&str; 2] = ["mcp-servers.json", "_config/mcp-servers.json"];

impl AgentDefinition {
    /// Reads a file and the files that it names: instructions, commands, servers. Opens nothing outside `boundary`, a real path.
    /// Never fails: an unreadable file is a diagnostic.
    pub fn read(format: DefinitionFormat, file: &Path, boundary: &Path) -> ParsedDefinition {
        let path: Arc<Path> = file.into();
        let text = match text(file, boundary) {
            Ok(text) => text,
            Err(why) => {
                let name = Spanned { value: DefinitionFormat::stem(file), span: Span::empty(0) };
                let definition = Self {
                    format,
                    file: Arc::clone(&path),
                    roles: vec![Role { skills: SkillList::Named(Vec::new()), ..Role::named(name.clone()) }],
                    name,
                    entry: 0,
                    commands: Vec::new(),
                };
                let found = Diagnostic::new(&code::AGENT_UNREADABLE, why).in_file(&path);
                let diagnostics = vec![found.help("look at its path and its rights")];
                return ParsedDefinition { definition, diagnostics, source: String::new() };
            }
        };
        let mut read = Self::parse(format, &path, &text, boundary);
        let mut reader = Reader::new(&path, &text);
        let mut others = Vec::new();
        let roles = std::mem::take(&mut read.definition.roles);
        read.definition.roles =
            roles.into_iter().map(|role| instructed(role, boundary, &mut reader, &mut others)).collect();
        for role in &mut read.definition.roles {
            if format == DefinitionFormat::AgentMd {
                known_beside(role, file, boundary, &mut reader);
            }
            servers(role, boundary, &mut reader);
        }
        let commands = std::mem::take(&mut read.definition.commands);
        read.definition.commands = commands
            .into_iter()
            .filter_map(|command| followed(command, boundary, &mut reader, &mut others))
            .collect();
        read.diagnostics.extend(reader.finish());
        read.diagnostics.sort_by_key(|found| found.place.map(|place| place.span.start));
        read.diagnostics.extend(others);
        read
    }
}

/// The text of a file inside the boundary, symbolic links followed.
fn text(file: &Path, boundary: &Path) -> Result<String, String> {
    let real = real_path(file).map_err(|error| format!("`{}` cannot be read: {error}", file.display()))?;
    if !real.starts_with(boundary) {
        return Err(format!("`{}` leads out of `{}`", file.display(), boundary.display()));
    }
    match read_bounded(&real, MAX_FILE) {
        Ok(Some(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Ok(None) => Err(format!("`{}` is not there", file.display())),
        Err(error) => Err(error.to_string()),
    }
}

/// The text of a file that the definition names, or a diagnostic where it names it.
fn named(path: &Spanned<PathBuf>, boundary: &Path, reader: &mut Reader<'_>) -> Option<String> {
    match text(&path.value, boundary) {
        Ok(text) => Some(text),
        Err(why) => {
            let is_outside = real_path(&path.value).is_ok_and(|real| !real.starts_with(boundary));
            let code = if is_outside { &code::AGENT_PATH_OUTSIDE } else { &code::AGENT_FILE_MISSING };
            reader.say(code, path.span, why, "paths are relative to the file that names them");
            None
        }
    }
}

/// A role with the text of its instructions file, whose frontmatter may say what it is for and which model it wants.
fn instructed(
    mut role: Role,
    boundary: &Path,
    reader: &mut Reader<'_>,
    others: &mut Vec<Diagnostic>,
) -> Role {
    let Some(path) = &role.instructions_file else { return role };
    let Some(text) = named(path, boundary, reader) else { return role };
    let file: Arc<Path> = path.value.as_path().into();
    let mut own = Reader::new(&file, &text);
    let head = head(&text);
    head.diagnostics.into_iter().for_each(|found| own.take(found));
    let mut value = |key: &str| {
        let node = head.keys.as_ref()?.get(key)?;
        own.text(key, node)
    };
    let (description, model) = (value("description"), value("model"));
    // They stand in another file; what is said of them later points to where that file is named.
    let here = |text: Spanned<String>| Spanned { span: path.span, ..text };
    role.description = description.map(here).or(role.description);
    role.model = model.map(here).or(role.model);
    text.get(head.body..).unwrap_or_default().trim().clone_into(&mut role.instructions);
    others.extend(own.finish());
    role
}

fn followed(
    command: SlashCommand,
    boundary: &Path,
    reader: &mut Reader<'_>,
    others: &mut Vec<Diagnostic>,
) -> Option<SlashCommand> {
    let text = named(&command.file, boundary, reader)?;
    let (command, found) = command.filled(&text);
    others.extend(found);
    Some(command)
}

/// agentmd keeps the servers that its agents name in one file beside them, an object of names.
fn known_beside(role: &mut Role, file: &Path, boundary: &Path, reader: &mut Reader<'_>) {
    let Some(folder) = file.parent().filter(|_| !role.servers.is_empty()) else { return };
    for place in AGENTMD_SERVERS.map(|place| folder.join(place)) {
        let Ok(text) = text(&place, boundary) else { continue };
        let known: Value = match serde_json::from_str(&text) {
            Ok(known) => known,
            Err(error) => {
                let message = format!("`{}` is not JSON: {error}", place.display());
                let span = role.servers.first().map_or(Span::empty(0), |server| server.span);
                reader.say(&code::AGENT_SERVER, span, message, "mend the line that is named");
                continue;
            }
        };
        let known = known.get("mcpServers").unwrap_or(&known);
        for server in &mut role.servers {
            let ServerRef::Named(name) = &server.value else { continue };
            let Some(settings) = known.get(name) else { continue };
            let described = ServerDescription { name: name.clone(), settings: settings.clone() };
            if let Some(problem) = described.problem() {
                let message = format!("the server `{name}` of `{}` {problem}", place.display());
                let help = "write `command` and `args`, or `url`";
                reader.say(&code::AGENT_SERVER, server.span, message, help);
            }
            server.value = ServerRef::File(place.clone(), Some(described));
        }
    }
}

/// The files of servers: each is a JSON object with a name and what is started or connected to.
fn servers(role: &mut Role, boundary: &Path, reader: &mut Reader<'_>) {
    for server in &mut role.servers {
        let ServerRef::File(file, described @ None) = &mut server.value else { continue };
        let shown = file.display().to_string();
        let problem = match text(file, boundary).map(|text| serde_json::from_str::<Value>(&text)) {
            Err(why) => Some(why),
            Ok(Err(error)) => Some(format!("`{shown}` is not JSON: {error}")),
            Ok(Ok(settings)) => match settings.get("name").and_then(Value::as_str) {
                None | Some("") => Some(format!("`{shown}` does not say what its server is called")),
                Some(name) => {
                    let read = ServerDescription { name: name.to_owned(), settings };
                    let problem = read.problem().map(|problem| format!("the server of `{shown}` {problem}"));
                    *described = Some(read);
                    problem
                }
            },
        };
        if let Some(problem) = problem {
            let help = "a server's file is a JSON object with `name`, `type` and what the type takes";
            reader.say(&code::AGENT_SERVER, server.span, problem, help);
        }
    }
}
