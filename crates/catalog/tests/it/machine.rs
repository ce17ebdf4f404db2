//! A machine with a home, a project and a system folder, all in one temporary workspace.

use metier_catalog::{Entry, Include, Layout, Places, Root, RootChoice, Snapshot};
use metier_testkit::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders below the workspace: `home`, `home/project` (the current folder), `etc/skills`, `tmp`.
pub(crate) struct Machine {
    pub(crate) files: Workspace,
    pub(crate) places: Places,
}

impl Machine {
    pub(crate) fn new(fill: impl FnOnce(Workspace) -> Workspace) -> Self {
        let files = fill(Workspace::new().dir("home/project/.git"));
        let places = places(files.path());
        Self { files, places }
    }

    /// The same machine with more on it.
    pub(crate) fn with(self, fill: impl FnOnce(Workspace) -> Workspace) -> Self {
        Self { files: fill(self.files), places: self.places }
    }

    /// The same machine, seen from another folder of it.
    pub(crate) fn current(mut self, folder: &str) -> Self {
        self.places.current = self.files.join(folder);
        self
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(&self.places, &RootChoice::Usual)
    }

    pub(crate) fn load(&self) -> Snapshot {
        Snapshot::load(Arc::new(self.layout()), Include::Usual)
    }

    pub(crate) fn load_all(&self) -> Snapshot {
        Snapshot::load(Arc::new(self.layout()), Include::Nested)
    }

    /// Loads the given roots alone, as `--root` does.
    pub(crate) fn load_roots(&self, roots: &[&str]) -> Snapshot {
        let roots =
            roots.iter().map(|root| if root.is_empty() { PathBuf::new() } else { self.files.join(root) });
        let choice = RootChoice::Given(roots.collect());
        Snapshot::load(Arc::new(Layout::new(&self.places, &choice)), Include::Usual)
    }
}

pub(crate) fn places(base: &Path) -> Places {
    Places {
        home: Some(base.join("home")),
        current: base.join("home/project"),
        temp: base.join("tmp"),
        config: base.join("home/.config/metier"),
        data: base.join("home/.local/share/metier"),
        user_skills: base.join("home/.config/metier/skills"),
        system_skills: base.join("etc/skills"),
        bundled: None,
        cache: None,
        remote: None,
        git_configs: Vec::new(),
    }
}

/// A `SKILL.md` with these lines of frontmatter.
pub(crate) fn skill(lines: &str, body: &str) -> String {
    format!("---\n{lines}\n---\n\n{body}\n")
}

/// Every entry as `origin:name state`, by precedence and path; copies are left out, as in a listing.
pub(crate) fn listed(snapshot: &Snapshot) -> Vec<String> {
    let shown = |entry: &Entry| format!("{}:{} {}", snapshot.root(entry).origin, entry.name(), entry.state());
    let own = |entry: &&Entry| !matches!(entry.relation(), metier_catalog::Relation::CopyOf(_));
    snapshot.entries().map(|(_, entry)| entry).filter(own).map(shown).collect()
}

/// The names that the model is offered.
pub(crate) fn offered(snapshot: &Snapshot) -> Vec<String> {
    snapshot.offered().iter().map(|(_, entry)| entry.name().to_string()).collect()
}

/// The entry that a reference means.
pub(crate) fn found<'a>(snapshot: &'a Snapshot, reference: &str) -> &'a Entry {
    match snapshot.find(&reference.parse().unwrap()) {
        metier_catalog::Lookup::Found(_, entry) => entry,
        other => panic!("{reference}: {}", snapshot.in_words(&other)),
    }
}

/// The codes of everything the snapshot says, entries and failures included.
pub(crate) fn codes(snapshot: &Snapshot) -> Vec<&'static str> {
    let entries = snapshot.entries().flat_map(|(_, entry)| entry.diagnostics());
    let failures = snapshot.failures().iter().flat_map(|failure| &failure.diagnostics);
    snapshot.diagnostics().iter().chain(entries).chain(failures).map(|found| found.code.name()).collect()
}

pub(crate) fn origins(roots: &[Root]) -> Vec<String> {
    roots.iter().map(|root| root.origin.to_string()).collect()
}
