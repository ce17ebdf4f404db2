//! From an entry to its paths. Kept apart from the snapshot, which does not exist yet while identities are settled.

use crate::entry::{Entry, folder_call_name};
use crate::layout::Layout;
use metier_diagnostic::{Code, Diagnostic};
use metier_files::{Error, SkillDir};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `join` puts a slash behind a path that nothing is joined to.
pub(crate) fn below(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}

/// The folder of an entry, absolute.
pub(crate) fn folder(layout: &Layout, entry: &Entry) -> PathBuf {
    below(&layout.roots[entry.root as usize].path, &entry.folder)
}

/// The `SKILL.md` of an entry, absolute.
pub(crate) fn document_path(layout: &Layout, entry: &Entry) -> PathBuf {
    folder(layout, entry).join(entry.card.document_name.as_str())
}

/// What the folder calls the skill.
pub(crate) fn folder_name(layout: &Layout, entry: &Entry) -> Option<String> {
    let root = &layout.roots[entry.root as usize].path;
    folder_call_name(&entry.folder).or_else(|| folder_call_name(root)).map(std::borrow::Cow::into_owned)
}

/// Opens the folder of an entry, the real one where links lead to it.
pub(crate) fn open(layout: &Layout, entry: &Entry) -> Result<SkillDir, Error> {
    match entry.card.links.as_ref().and_then(|links| links.folder.as_deref()) {
        Some(real) => SkillDir::open(real),
        None => SkillDir::open(&folder(layout, entry)),
    }
}

/// Adds what was found out about an entry among others.
pub(crate) fn report_on(
    entry: &mut Entry,
    layout: &Layout,
    code: &'static Code,
    message: String,
    help: impl Into<String>,
) {
    let path: Arc<Path> = document_path(layout, entry).into();
    Arc::make_mut(&mut entry.card).diagnostics.push(Diagnostic::new(code, message).in_file(&path).help(help));
}
