//! The files of a project that would be acted on once it is trusted, read far enough to say what they ask for.

use crate::config::{Config, EnvConfig};
use crate::layout::{CREW_SUFFIX, crew_files, folder_names};
use crate::project::Project;
use crate::shown::one_line;
use metier_files::{FileDigest, plain_path, read_bounded};
use metier_skill::yaml::{self, Node};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that is looked into. One that is larger is listed with that as its reason.
const MAX_FILE: u64 = 1024 * 1024;

/// agentmd keeps the servers of its agents in a file of this name.
const AGENTMD_SERVERS: &str = "mcp-servers.json";

/// Characters of a command or a value that are shown.
const MAX_SHOWN: usize = 200;

/// A file of the project that would be acted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectFile {
    /// Its path in the project.
    pub path: String,
    /// What it asks for; empty where nothing in it was understood.
    pub acts: Vec<Act>,
}

/// One thing that a file asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Act {
    /// What it is, such as ``MCP server `github` ``: one of its kind in a file.
    pub what: String,
    /// What it would do, in words.
    pub detail: String,
    /// The digest of what is written there, so that a change is seen.
    #[serde(skip)]
    pub digest: String,
}

impl Act {
    fn new(what: impl Into<String>, detail: impl Into<String>, written: &str) -> Self {
        // Shown to somebody who decides about it, so nothing in it may move the cursor or hide. Names are cut too, and then
        // told apart by the digest.
        let (what, detail) = (one_line(&what.into(), MAX_SHOWN), one_line(&detail.into(), MAX_SHOWN));
        Self { what, detail, digest: FileDigest::of(written.as_bytes()).to_string() }
    }

    /// Whether it is about MCP servers.
    pub(super) fn is_about_servers(&self) -> bool {
        self.what.starts_with("MCP server")
            || ["`mcp`", "`mcp_servers`", "`mcpServers`"].contains(&self.what.as_str())
    }

    fn json(what: impl Into<String>, detail: impl Into<String>, written: &Value) -> Self {
        Self::new(what, detail, &written.to_string())
    }
}

/// The files of a project that would be acted on, by path. Those that are not there are left out.
pub fn project_files(project: &Project) -> Vec<ProjectFile> {
    let mut files = Vec::new();
    let mut add = |path: String, acts: fn(&str) -> Vec<Act>| {
        if let Some(file) = read(&project.folder, path, acts) {
            files.push(file);
        }
    };
    add("metier.toml".to_owned(), of_config);
    add(".mcp.json".to_owned(), |text| of_json(text, of_servers));
    add(".claude/settings.json".to_owned(), |text| of_json(text, of_settings));
    add(".claude/settings.local.json".to_owned(), |text| of_json(text, of_settings));
    for name in folder_names(&project.folder.join(".agents")) {
        let acts: fn(&str) -> Vec<Act> = match (name.as_str(), ending(&name)) {
            ("mcp.json" | ".mcp.json", _) => |text| of_json(text, of_servers),
            // JSON is YAML, and this one is a list of names.
            ("env.json", _) | (_, "yaml" | "yml") => of_keys,
            (_, "json") => |text| of_json(text, of_settings),
            _ => of_text,
        };
        add(format!(".agents/{name}"), acts);
    }
    for folder in ["agents", "workspace/agents", ".claude/agents", ".agents/agents", ".metier/agents"] {
        for name in folder_names(&project.folder.join(folder)).into_iter().filter(|name| ending(name) == "md")
        {
            add(format!("{folder}/{name}"), of_agent);
        }
    }
    for folder in ["agents", "workspace/agents"] {
        for name in [AGENTMD_SERVERS, "_config/mcp-servers.json"] {
            add(format!("{folder}/{name}"), |text| of_json(text, of_bare_servers));
        }
    }
    for file in crews(project) {
        let Some(path) = within(project, &file) else { continue };
        let described = read_bounded(&file, MAX_FILE).ok().flatten();
        for server in server_files(&String::from_utf8_lossy(&described.unwrap_or_default()), &file) {
            if let Some(path) = within(project, &server) {
                add(path, of_server_file);
            }
        }
        add(path, of_crew);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    files
}

/// What one file of a project asks for, whether it lies where such files are looked for or not.
pub(super) fn acts_of(project: &Project, path: &str) -> Vec<Act> {
    let acts: fn(&str) -> Vec<Act> = if path.ends_with(CREW_SUFFIX) {
        of_crew
    } else if path.ends_with(AGENTMD_SERVERS) {
        |text| of_json(text, of_bare_servers)
    } else if ending(path) == "md" {
        of_agent
    } else {
        of_server_file
    };
    read(&project.folder, path.to_owned(), acts).map(|file| file.acts).unwrap_or_default()
}

/// The crews of a project: where they are looked for, and around where somebody stands.
fn crews(project: &Project) -> Vec<PathBuf> {
    let around = project.current.ancestors().take_while(|folder| folder.starts_with(&project.folder));
    let mut files: Vec<PathBuf> = around.flat_map(crew_files).collect();
    for folder in ["crews", "skillets"] {
        files.extend(crew_files(&project.folder.join(folder)));
    }
    files
}

/// A path in the project as it is written down; `None` outside of it.
fn within(project: &Project, file: &Path) -> Option<String> {
    Some(file.strip_prefix(&project.folder).ok()?.to_string_lossy().into_owned())
}

/// The files of servers that a crew names.
fn server_files(text: &str, crew: &Path) -> Vec<PathBuf> {
    let Ok(Some(tree)) = yaml::parse(text, 0) else { return Vec::new() };
    let base = crew.parent().unwrap_or(Path::new("/"));
    let roles = tree.get("agents").and_then(Node::entries).unwrap_or_default();
    let servers =
        roles.iter().flat_map(|role| role.value.get("mcp_servers").and_then(Node::items).unwrap_or_default());
    let named = servers.filter_map(|server| server.get("filePath").and_then(Node::text));
    named.map(|path| plain_path(&base.join(path))).collect()
}

/// The file of one server, as a crew names them.
fn of_server_file(text: &str) -> Vec<Act> {
    of_json(text, |server| {
        let name = server.get("name").and_then(Value::as_str).unwrap_or_default();
        vec![of_server(name, server)]
    })
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn read(project: &Path, path: String, acts: fn(&str) -> Vec<Act>) -> Option<ProjectFile> {
    let acts = match read_bounded(&project.join(&path), MAX_FILE) {
        Ok(bytes) => acts(&String::from_utf8_lossy(&bytes?)),
        Err(error) => vec![Act::new("unreadable", error.to_string(), &error.to_string())],
    };
    Some(ProjectFile { path, acts })
}

fn of_config(text: &str) -> Vec<Act> {
    let path: Arc<Path> = Path::new("metier.toml").into();
    let (config, _) = Config::read(text, &path);
    let roots = config.roots.iter().map(|root| {
        Act::new(format!("root `{}`", root.path), "its skills are listed and used", &format!("{root:?}"))
    });
    let skills = config.skills.iter().filter_map(|(name, skill)| {
        let visibility = skill.visibility?.word();
        Some(Act::new(format!("skill `{name}`"), format!("is set to `{visibility}`"), visibility))
    });
    // What only narrows holds without trust, so it is nothing that trust would switch on.
    let rules = config
        .gate
        .allow
        .iter()
        .map(|rule| Act::new(format!("rule `{rule}`"), "is allowed without a question", rule));
    let mode = config.gate.mode.iter().map(|mode| Act::new("mode", format!("is set to `{mode}`"), mode));
    let names = config.env.iter().map(|(name, env)| declares(name, env));
    let model = config
        .model
        .iter()
        .map(|model| Act::new("model", format!("`{model}` is asked where you name none"), model));
    let models = config.models.iter().map(|(name, model)| {
        Act::new(format!("model `{name}`"), format!("means `{}`", model.model), &format!("{model:?}"))
    });
    // Shown, since whoever looks at the file should see that it tries.
    let providers = config.providers.iter().map(|(name, provider)| {
        let detail = "has no effect: providers are set in your own configuration only";
        Act::new(format!("provider `{name}`"), detail, &format!("{provider:?}"))
    });
    let asked = model.chain(models).chain(providers);
    roots.chain(skills).chain(rules).chain(mode).chain(names).chain(asked).collect()
}

fn declares(name: &str, env: &EnvConfig) -> Act {
    let detail = if env.sensitive {
        "is given to processes of skills that name it and get a yes"
    } else {
        "is put into texts of skills and given to their processes"
    };
    Act::new(format!("environment name `{name}`"), detail, &format!("{env:?}"))
}

fn of_json(text: &str, acts: fn(&Value) -> Vec<Act>) -> Vec<Act> {
    match serde_json::from_str(text) {
        Ok(value) => acts(&value),
        Err(error) => vec![Act::new("unreadable", format!("not JSON: {error}"), text)],
    }
}

/// `{"mcpServers": {NAME: {"command", "args"} or {"url"}}}`.
fn of_servers(file: &Value) -> Vec<Act> {
    let servers = file.get("mcpServers").or_else(|| file.get("servers")).and_then(Value::as_object);
    servers.into_iter().flatten().map(|(name, server)| of_server(name, server)).collect()
}

/// The same, also without a name for the whole, as agentmd has it.
fn of_bare_servers(file: &Value) -> Vec<Act> {
    let servers = file.get("mcpServers").unwrap_or(file).as_object();
    servers.into_iter().flatten().map(|(name, server)| of_server(name, server)).collect()
}

fn of_server(name: &str, server: &Value) -> Act {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let detail = match (text("command"), text("url")) {
        (Some(command), _) => format!("starts `{}`", command_line(command, server)),
        (None, Some(url)) => format!("connects to {url}"),
        (None, None) => "names neither a command nor an address".to_owned(),
    };
    Act::json(format!("MCP server `{name}`"), detail, server)
}

fn command_line(command: &str, server: &Value) -> String {
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
    let mut line = command.to_owned();
    for arg in args {
        line.push(' ');
        line.push_str(&arg.as_str().map_or_else(|| arg.to_string(), str::to_owned));
    }
    line
}

/// `permissions`, `hooks`, `env` and servers, as Claude's and core-agent's settings have them.
fn of_settings(file: &Value) -> Vec<Act> {
    let mut acts = of_servers(file);
    let permissions = file.get("permissions");
    for list in ["allow", "deny", "ask"] {
        if let Some(rules) = permissions.and_then(|permissions| permissions.get(list)) {
            let shown: Vec<_> = rules.as_array().into_iter().flatten().map(shown).collect();
            acts.push(Act::json(format!("`{list}` rules"), shown.join(", "), rules));
        }
    }
    for key in ["mode", "defaultMode"] {
        if let Some(mode) = permissions.and_then(|permissions| permissions.get(key)) {
            acts.push(Act::json(format!("`{key}`"), shown(mode), mode));
        }
    }
    for (key, says) in [("hooks", "runs commands on"), ("env", "sets the environment names")] {
        if let Some(value) = file.get(key) {
            let names: Vec<_> =
                value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            acts.push(Act::json(format!("`{key}`"), format!("{says} {}", names.join(", ")), value));
        }
    }
    acts
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The top-level keys of a YAML file.
fn of_keys(text: &str) -> Vec<Act> {
    let Ok(Some(tree)) = yaml::parse(text, 0) else { return of_text(text) };
    let Some(entries) = tree.entries() else { return of_text(text) };
    let acts = entries.iter().map(|entry| {
        let written = serde_json::to_string(&entry.value).unwrap_or_default();
        Act::new(format!("`{}`", entry.key), written.clone(), &written)
    });
    acts.collect()
}

/// A file whose form is not known: that it is there, and whether it changes.
fn of_text(text: &str) -> Vec<Act> {
    vec![Act::new("content", format!("{} bytes", text.len()), text)]
}

/// An agent's frontmatter: skills, tools, model, servers. Its text is text.
fn of_agent(text: &str) -> Vec<Act> {
    let parsed = metier_skill::parse(text.as_bytes(), Some("agent"));
    let Some(document) = parsed.document else { return Vec::new() };
    let Some(frontmatter) = document.frontmatter else { return Vec::new() };
    let Ok(Some(tree)) = yaml::parse(frontmatter.of(text), 0) else { return of_text(frontmatter.of(text)) };
    let keys = [
        "skills",
        "tools",
        "allowed-tools",
        "model",
        "mcp",
        "mcp_servers",
        "mcpServers",
        "permissions",
        "hooks",
    ];
    let acts = keys.iter().filter_map(|key| {
        let written = serde_json::to_string(tree.get(key)?).unwrap_or_default();
        Some(Act::new(format!("`{key}`"), written.clone(), &written))
    });
    acts.collect()
}

/// A crew's skills, servers and runtime.
fn of_crew(text: &str) -> Vec<Act> {
    let Ok(Some(tree)) = yaml::parse(text, 0) else { return of_text(text) };
    let mut acts = Vec::new();
    for agent in tree.get("agents").and_then(Node::entries).unwrap_or_default() {
        let listed = |list: &str, key: &str| {
            let items = agent.value.get(list).and_then(Node::items).unwrap_or_default();
            items
                .iter()
                .filter_map(|item| item.get(key).and_then(Node::text))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for folder in listed("skills", "folderPath") {
            let what = format!("skill folder `{folder}` of agent `{}`", agent.key);
            acts.push(Act::new(what, "its skill is listed and used", &folder));
        }
        for file in listed("mcp_servers", "filePath") {
            let what = format!("MCP server file `{file}` of agent `{}`", agent.key);
            acts.push(Act::new(what, "its servers are started", &file));
        }
    }
    if let Some(runtime) = tree.get("script_runtime") {
        let written = serde_json::to_string(runtime).unwrap_or_default();
        acts.push(Act::new("`script_runtime`", written.clone(), &written));
    }
    acts
}
