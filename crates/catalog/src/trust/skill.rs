//! What one skill of a project switches on.

use super::entry::{EntryDigest, TrustEntry, TrustKind, exact_path};
use super::item::{Detail, TrustItem};
use crate::capability::Capabilities;
use crate::entry::Entry;
use crate::layout::Layout;
use crate::origin::Class;
use crate::place::{self, below};
use crate::snapshot::Snapshot;
use crate::trust::Standing;
use std::path::Path;

/// The digest of a skill: the name it is called by, where its folder really is, and where its `SKILL.md` leads to.
pub(super) fn skill_digest(called: &str, folder: &str, document: Option<&str>) -> EntryDigest {
    let document = document.unwrap_or_default();
    EntryDigest::of_parts(&[called.as_bytes(), folder.as_bytes(), document.as_bytes()])
}

/// What a skill is recorded under: its folder, by the path on which it was found.
pub(super) fn skill_place(layout: &Layout, entry: &Entry) -> String {
    exact_path(project(layout), &place::folder(layout, entry))
}

/// A skill of the project as it is recorded. Known without opening its folder, since every listing asks.
pub(crate) fn skill_entry(layout: &Layout, entry: &Entry) -> TrustEntry {
    let place = skill_place(layout, entry);
    let root = &layout.roots[entry.root as usize];
    let links = entry.card.links.as_deref();
    let real = links.and_then(|links| links.folder.clone());
    let real = real.unwrap_or_else(|| below(root.real.as_deref().unwrap_or(&root.path), &entry.folder));
    let real = exact_path(project(layout), &real);
    let document = links.and_then(|links| links.document.as_deref());
    let document = document.map(|path| exact_path(project(layout), path));
    let digest = skill_digest(entry.card.name.as_str(), &real, document.as_deref());
    TrustEntry::new(TrustKind::Skill, &place, "", digest)
}

/// A link in the project at `place` by which a skill of another origin was found as well.
pub(crate) fn link_entry(layout: &Layout, place: &Path, leads_to: &Path) -> TrustEntry {
    let project = project(layout);
    let digest = EntryDigest::of(&exact_path(project, leads_to));
    TrustEntry::new(TrustKind::Link, &exact_path(project, place), "", digest)
}

/// Whether a skill may be used as far as trust in its project goes. Its code is another question: see
/// [`Snapshot::is_unchanged`].
pub(crate) fn is_trusted(layout: &Layout, entry: &Entry) -> bool {
    let root = &layout.roots[entry.root as usize];
    root.origin.class != Class::Project
        || layout.standing == Standing::Mine
        || layout.trust.allows(&skill_entry(layout, entry))
}

fn project(layout: &Layout) -> &Path {
    layout.project.as_ref().map_or(Path::new(""), |project| &project.folder)
}

impl Snapshot {
    /// What a skill of the project switches on, the skill itself first.
    pub(super) fn trust_items(&self, entry: &Entry, capabilities: &Capabilities) -> Vec<TrustItem> {
        let layout = self.layout();
        let place = skill_place(layout, entry);
        let mut details = Vec::new();
        for other in self.called(entry.name().as_str()).into_iter().filter_map(|id| self.entry(id)) {
            let origin = &self.root(other).origin;
            if !matches!(origin.class, Class::Project | Class::Mcp) {
                details
                    .push(Detail::new(format!("takes the name of your skill `{origin}:{}`", other.name())));
            }
        }
        if let Some(links) = entry.card.links.as_deref() {
            let ends = links.folder.iter().chain(&links.document);
            details.extend(ends.map(|end| Detail::new(format!("is a link to {}", end.display()))));
        }
        let what = format!("skill `{}`", entry.name());
        let mut items = vec![TrustItem::called(what, skill_entry(layout, entry), details)];
        items.extend(capability_items(&place, capabilities));
        items
    }

    /// Whether everything that a skill of the project can do is what the user trusted. The whole folder is read.
    pub fn is_unchanged(&self, entry: &Entry) -> bool {
        self.is_unchanged_with(entry, &self.capabilities(entry))
    }

    /// The same of a skill that can do `now`, such as a copy of it that is about to run.
    pub fn is_unchanged_with(&self, entry: &Entry, now: &Capabilities) -> bool {
        let items = self.trust_items(entry, now);
        items.iter().all(|item| self.layout().trust.allows_item(item))
    }

    /// What a skill can do now. One whose folder cannot be read has something that cannot be compared, and so is never
    /// taken for unchanged.
    pub(super) fn capabilities(&self, entry: &Entry) -> Capabilities {
        let read = || {
            let folder = self.open(entry)?;
            Capabilities::of(&folder, &self.read(entry)?)
        };
        read().unwrap_or_else(|error| Capabilities::unreadable(&error))
    }
}

fn capability_items(place: &str, now: &Capabilities) -> Vec<TrustItem> {
    let mut items = Vec::new();
    let mut add = |kind: TrustKind, name: &str, digest: EntryDigest, detail: Option<String>| {
        let details = detail.map(Detail::new).into_iter().collect();
        items.push(TrustItem::new(TrustEntry::new(kind, place, name, digest), details));
    };
    for (path, script) in &now.scripts {
        let kind = if script.is_known() { TrustKind::Code } else { TrustKind::Unreadable };
        let detail = match (script.is_known(), script.executable) {
            (false, _) => Some(script.digest.clone()),
            (true, true) => Some("executable".to_owned()),
            (true, false) => None,
        };
        add(kind, path, script.entry_digest(), detail);
    }
    for command in &now.commands {
        let shell = now.shell.as_ref().map(|shell| format!("with the shell {shell}"));
        add(TrustKind::Command, command, now.command_digest(command), shell);
    }
    for (path, target) in &now.links {
        add(TrustKind::Link, path, EntryDigest::of(target), Some(format!("leads to {target}")));
    }
    if let (Some(digest), Some(hooks)) = (now.hooks_digest(), &now.hooks) {
        add(TrustKind::Hooks, "hooks", digest, Some(hooks.clone()));
    }
    for need in &now.needs {
        add(TrustKind::Need, need, EntryDigest::of(need), None);
    }
    for (kind, name, value) in
        [(TrustKind::Model, "model", &now.model), (TrustKind::Runner, "agent", &now.agent)]
    {
        if let Some(value) = value {
            add(kind, name, EntryDigest::of(value), Some(value.clone()));
        }
    }
    for (key, list) in now.tool_lists() {
        let Some(digest) = now.tools_digest(key) else { continue };
        let named = list.as_deref().unwrap_or_default().join(", ");
        add(TrustKind::Tools, key, digest, Some(if named.is_empty() { "none".to_owned() } else { named }));
    }
    let gone = now.tool_lists().into_iter().filter(|(_, list)| list.is_none());
    items.extend(gone.map(|(key, _)| TrustItem::absent(TrustKind::Tools, place, key)));
    items
}
