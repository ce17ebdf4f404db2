//! Plugins: folders with a `.claude-plugin/plugin.json`, whose skills belong together.

use crate::entry::Entry;
use crate::snapshot::Snapshot;
use metier_files::{Kind, kind, read_bounded};
use std::path::{Path, PathBuf};

/// What makes a folder a plugin.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The largest manifest that is read. Real ones have a dozen lines.
const MAX_MANIFEST: u64 = 64 * 1024;

/// A plugin that a skill is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// What it is called: a stranger's text, never a path.
    pub name: String,
    /// Its folder, absolute.
    pub folder: PathBuf,
}

impl Plugin {
    fn at(folder: &Path) -> Option<Self> {
        let manifest = folder.join(MANIFEST);
        if kind(&manifest) != Kind::File {
            return None;
        }
        let text = read_bounded(&manifest, MAX_MANIFEST).ok().flatten().unwrap_or_default();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        // A manifest that cannot be read still makes a plugin: its skills belong together, whatever it is called.
        let name = value["name"].as_str().filter(|name| !name.trim().is_empty());
        let name = match (name, folder.file_name()) {
            (Some(name), _) => name.trim().to_owned(),
            (None, Some(name)) => name.to_string_lossy().into_owned(),
            (None, None) => return None,
        };
        Some(Self { name, folder: folder.to_owned() })
    }
}

impl Snapshot {
    /// The plugin that a skill is in: the nearest folder above it with a plugin's manifest. Looked for up to the skill's
    /// root, and in the folder above where the root is the `skills` of a plugin; a manifest further up is about something
    /// else.
    pub fn plugin(&self, entry: &Entry) -> Option<Plugin> {
        let (root, folder) = (&self.root(entry).path, self.folder(entry));
        let inside = folder.ancestors().skip(1).take_while(|above| above.starts_with(root));
        let above = root.parent().filter(|_| root.file_name().is_some_and(|name| name == "skills"));
        inside.chain(above).find_map(Plugin::at)
    }
}
