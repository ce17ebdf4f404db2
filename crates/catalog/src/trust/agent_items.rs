//! The agents and crews of a project: what their files switch on.

use super::entry::{EntryDigest, TrustEntry, TrustKind};
use super::item::{Detail, TrustItem};
use metier_files::{plain_path, read_bounded};
use metier_skill::yaml::{self, Node};
use std::path::{Path, PathBuf};

/// The largest file of instructions whose beginning is read.
const MAX_INSTRUCTIONS: u64 = 1024 * 1024;

/// An agent: all of its frontmatter but what describes it, since a key that is gone may have restricted. Its text is text.
pub(super) fn agent(place: &str, text: &str) -> Vec<TrustItem> {
    let head = metier_skill::head(text);
    let Some(tree) = &head.keys else { return vec![whole(place, head.diagnostics.len(), text, head.body)] };
    let mut details = Vec::new();
    let mut written = String::new();
    for entry in tree.entries().unwrap_or_default().iter().filter(|entry| entry.key != "description") {
        let value = serde_json::to_string(&entry.value).unwrap_or_default();
        written.push_str(&format!("{:?}{value}\n", entry.key));
        if entry.key != "name" {
            details.push(Detail::filled(format!("{}: {value}", entry.key)));
        }
    }
    vec![TrustItem::new(TrustEntry::new(TrustKind::Agent, place, place, EntryDigest::of(&written)), details)]
}

/// An agent without frontmatter that could be read. Where something is there that cannot be read, every byte of it counts.
fn whole(place: &str, problems: usize, text: &str, body: usize) -> TrustItem {
    let written = if problems == 0 { "" } else { text.get(..body).unwrap_or(text) };
    TrustItem::new(TrustEntry::new(TrustKind::Agent, place, place, EntryDigest::of(written)), Vec::new())
}

/// A crew: all of its file, and the models that its files of instructions name.
pub(super) fn crew(place: &str, file: &Path, text: &str) -> Vec<TrustItem> {
    let tree = yaml::parse(text, 0).ok().flatten();
    let mut written = tree.as_ref().map_or_else(|| text.to_owned(), json);
    let mut details = Vec::new();
    for role in tree.as_ref().and_then(|tree| tree.get("agents")).and_then(Node::entries).unwrap_or_default()
    {
        let name = &role.key;
        let listed = |list: &str, key: &str| {
            let items = role.value.get(list).and_then(Node::items).unwrap_or_default();
            items.iter().filter_map(|item| item.get(key)?.text()).map(str::to_owned).collect::<Vec<_>>()
        };
        let skills = listed("skills", "folderPath");
        details.extend(
            skills.iter().map(|folder| Detail::new(format!("agent {name} uses the skill in {folder}"))),
        );
        let servers = listed("mcp_servers", "filePath");
        details.extend(
            servers.iter().map(|file| Detail::new(format!("agent {name} starts the server of {file}"))),
        );
        let instructions = role.value.get("instructionsPath").and_then(Node::text);
        if let Some(model) = instructions.and_then(|path| instructed_model(&beside(file, path))) {
            written.push_str(&format!("{name:?}{model:?}"));
            details.push(Detail::new(format!("agent {name} asks the model {model}")));
        }
    }
    vec![TrustItem::new(TrustEntry::new(TrustKind::Agent, place, place, EntryDigest::of(&written)), details)]
}

fn json(tree: &Node<'_>) -> String {
    serde_json::to_string(tree).unwrap_or_default()
}

fn beside(file: &Path, path: &str) -> PathBuf {
    plain_path(&file.parent().unwrap_or(Path::new("/")).join(path))
}

fn instructed_model(file: &Path) -> Option<String> {
    let text = read_bounded(file, MAX_INSTRUCTIONS).ok()??;
    let text = String::from_utf8_lossy(&text);
    metier_skill::head(&text).keys?.get("model").map(json)
}

/// The files of servers that a crew names.
pub(super) fn server_files(text: &str, crew: &Path) -> Vec<PathBuf> {
    let Ok(Some(tree)) = yaml::parse(text, 0) else { return Vec::new() };
    let roles = tree.get("agents").and_then(Node::entries).unwrap_or_default();
    let servers =
        roles.iter().flat_map(|role| role.value.get("mcp_servers").and_then(Node::items).unwrap_or_default());
    servers.filter_map(|server| Some(beside(crew, server.get("filePath")?.text()?))).collect()
}
