//! The files of a project that are acted on, and everything that they switch on.

use super::agent_items::{agent, crew, server_files};
use super::config_items::{config_items, mode, rule, variable};
use super::entry::{EntryDigest, TrustEntry, TrustKind, exact_path};
use super::item::{Detail, TrustItem};
use super::project_trust::ProjectTrust;
use super::server_items::{bare_servers, server_file, servers};
use crate::config::Config;
use crate::declared_name::{self, MANIFESTS};
use crate::layout::{CREW_SUFFIX, Layout, crew_files};
use crate::project::Project;
use metier_files::{ListBounds, SkillDir, read_bounded};
use metier_policy::{Layer, List, Owner, Source, from_agents_json, from_claude_settings};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that is looked into. Nothing of a larger one is used.
const MAX_FILE: u64 = 1024 * 1024;

/// Names below one folder of agents that are looked at. A folder with more is a heap of data and no place for agents.
const MAX_NAMES: usize = 4_096;

/// Files of a project that name MCP servers.
pub const SERVER_FILES: [&str; 3] = [".mcp.json", ".agents/mcp.json", ".agents/.mcp.json"];

/// agentmd's folders, in each of which a file names the servers of its agents.
const AGENTMD_SERVERS: [&str; 4] = [
    "agents/mcp-servers.json",
    "agents/_config/mcp-servers.json",
    "workspace/agents/mcp-servers.json",
    "workspace/agents/_config/mcp-servers.json",
];

/// Reads the rules of another client's file.
pub type ReadRules = fn(&str, Source) -> Layer;

/// Files of other clients below a project that have rules.
pub const RULE_FILES: [(&str, ReadRules); 3] = [
    (".agents/config.json", from_agents_json),
    (".claude/settings.json", from_claude_settings),
    (".claude/settings.local.json", from_claude_settings),
];

/// The folders of a project in which agents and crews lie, and how deep. agentmd's are flat; the others group.
pub const AGENT_FOLDERS: [(&str, usize); 7] = [
    (".metier/agents", 3),
    (".agents/agents", 3),
    (".claude/agents", 3),
    ("workspace/agents", 1),
    ("agents", 1),
    ("crews", 3),
    ("skillets", 3),
];

/// A file of the project that would be acted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectFile {
    /// Its path in the project.
    pub path: String,
    /// What it switches on.
    pub acts: Vec<TrustItem>,
}

/// The files of a project that are acted on, by path, with everything that they switch on. Those that are not there, or
/// switch nothing on, are left out.
pub(super) fn project_files(layout: &Layout) -> Vec<ProjectFile> {
    let Some(project) = &layout.project else { return Vec::new() };
    let mut files = Vec::new();
    let mut add = |file: &Path, items: &dyn Fn(&str, &str) -> Vec<TrustItem>| {
        let place = exact_path(&project.folder, file);
        let acts = match read_bounded(file, MAX_FILE) {
            Ok(None) => return,
            Ok(Some(bytes)) => items(&place, &String::from_utf8_lossy(&bytes)),
            Err(error) => vec![unreadable(&place, &error.to_string())],
        };
        if !acts.is_empty() {
            files.push(ProjectFile { path: place, acts });
        }
    };
    let at = |path: &str| project.folder.join(path);
    let of_config = |config: &Config| config_items(config, &project.folder, &layout.places);
    // What is trusted is what was read and is used, not what the file says by now. One that could not be used is looked into
    // all the same.
    if layout.project_config().is_none() {
        let path: Arc<Path> = Path::new("metier.toml").into();
        add(&project.config_file(), &|_, text| of_config(&Config::read(text, &path).0));
    }
    for path in SERVER_FILES {
        add(&at(path), &|place, text| json(place, text, servers));
    }
    for path in AGENTMD_SERVERS {
        add(&at(path), &|place, text| json(place, text, bare_servers));
    }
    for (path, read) in RULE_FILES {
        add(&at(path), &|place, text| rules(place, &read(text, Source::new(Owner::Project, place))));
    }
    for path in MANIFESTS {
        add(&at(path), &|place, text| {
            let declared = declared_name::names_in(text, &at(path).into(), &mut Vec::new());
            declared.iter().map(|name| variable(place, &name.name, &name.config)).collect()
        });
    }
    for file in definitions(project) {
        add(&file, &|place, text| definition(place, &file, text));
        if is_crew(&file) {
            let text = read_bounded(&file, MAX_FILE).ok().flatten().unwrap_or_default();
            for server in server_files(&String::from_utf8_lossy(&text), &file) {
                // The code that starts servers does not read one outside of the project.
                if server.starts_with(&project.folder) {
                    add(&server, &|place, text| json(place, text, server_file));
                }
            }
        }
    }
    if let Some(acts) = layout.project_config().map(of_config).filter(|acts| !acts.is_empty()) {
        files.push(ProjectFile { path: exact_path(&project.folder, &project.config_file()), acts });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path && a.acts == b.acts);
    files
}

/// Whether a file is read from every folder of the project.
pub(super) fn is_looked_at(place: &str) -> bool {
    let is_in = |folder: &str| place.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    SERVER_FILES.contains(&place)
        || AGENTMD_SERVERS.contains(&place)
        || AGENT_FOLDERS.iter().any(|(folder, _)| is_in(folder))
}

/// Whether the agent or the crew in a file of the project is one that the user trusted.
pub fn trusts_definition(project: &Project, trust: &ProjectTrust, file: &Path) -> bool {
    let place = exact_path(&project.folder, file);
    let Ok(Some(bytes)) = read_bounded(file, MAX_FILE) else { return false };
    definition(&place, file, &String::from_utf8_lossy(&bytes)).iter().all(|item| trust.allows_item(item))
}

/// Whether a file lies where agents and crews of a project are looked for without being named.
pub fn is_listed_definition(project: &Project, file: &Path) -> bool {
    definitions(project).iter().any(|known| known == file)
}

fn definition(place: &str, file: &Path, text: &str) -> Vec<TrustItem> {
    if is_crew(file) { crew(place, file, text) } else { agent(place, text) }
}

fn is_crew(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(CREW_SUFFIX))
}

/// The files of agents and crews of a project: in the usual folders, and around the user's current folder.
fn definitions(project: &Project) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (folder, depth) in AGENT_FOLDERS {
        let folder = project.folder.join(folder);
        files.extend(
            files_below(&folder, depth)
                .into_iter()
                .filter(|file| is_crew(file) || file.extension().is_some_and(|ending| ending == "md")),
        );
    }
    files.extend(project.folders().flat_map(crew_files));
    files.sort();
    files.dedup();
    files
}

/// The files below a folder, by path; nothing where it cannot be read.
pub fn files_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let Ok(dir) = SkillDir::open(folder) else { return Vec::new() };
    let Ok(listing) = dir.list(ListBounds { entries: MAX_NAMES, depth }) else { return Vec::new() };
    let within = listing.files.iter().filter(|file| file.path.as_path().components().count() <= depth);
    let mut files: Vec<PathBuf> = within.map(|file| folder.join(file.path.as_path())).collect();
    files.sort();
    files
}

fn unreadable(place: &str, why: &str) -> TrustItem {
    let entry = TrustEntry::new(TrustKind::Unreadable, place, place, EntryDigest::of(why));
    TrustItem::new(entry, vec![Detail::new(why)])
}

fn json(place: &str, text: &str, items: fn(&str, &Value) -> Vec<TrustItem>) -> Vec<TrustItem> {
    match serde_json::from_str(text) {
        Ok(value) => items(place, &value),
        Err(error) => vec![unreadable(place, &format!("not JSON: {error}"))],
    }
}

/// The rules of another client's file. What denies holds without trust.
fn rules(place: &str, layer: &Layer) -> Vec<TrustItem> {
    let allow = layer.written(List::Allow).map(|text| rule(TrustKind::Allow, place, text));
    let ask = layer.written(List::Ask).map(|text| rule(TrustKind::Ask, place, text));
    let mode = layer.wanted_mode().map(|wanted| mode(place, &wanted.to_string()));
    allow.chain(ask).chain(mode).collect()
}
