//! The last good version of a file that broke.

use crate::code;
use crate::place::below;
use crate::snapshot::{Harvest, Plan, diagnostic_of};
use crate::visit::{Kept, Visited};
use metier_diagnostic::{Diagnostic, Severity};
use metier_files::{Found, Problem};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a skill was found `before` and is there no more because its file cannot be read or does not load, puts it back
/// with the reason. Whatever is gone stays gone, and what never loaded is left a failure.
pub(super) fn keep_last_good(before: &[Found<Visited>], plan: &Plan, next: &mut Harvest) {
    let mut broken = broken(next);
    if broken.is_empty() {
        return;
    }
    for found in before {
        let Some(loaded) = found.value.loaded() else { continue };
        let folder = below(&plan.roots[found.root].path, &found.folder);
        let Some(Broken { root, reason, at }) = broken.remove(&folder) else { continue };
        let why = diagnostic(&reason, &folder.join(loaded.card.document_name.as_str()));
        let value = Visited::Kept(Box::new(Kept { loaded: loaded.clone(), why }));
        if let Some(at) = at {
            next.sweep.found[at].value = value;
        } else {
            next.sweep.problems.retain(|problem| folder_of(problem) != Some(&*folder));
            let (folder, real) = (found.folder.clone(), found.real.clone());
            next.sweep.found.push(Found { root, folder, real, value });
        }
    }
    // What was put back behind the others goes to its place; the rest is there already.
    next.sweep.found.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
}

/// A file that does not load now.
struct Broken {
    root: usize,
    reason: Diagnostic,
    /// Its place among what was found, where it could be read at all.
    at: Option<usize>,
}

/// The files that do not load now, by their folders.
fn broken(next: &Harvest) -> HashMap<PathBuf, Broken> {
    let mut broken = HashMap::new();
    for (at, found) in next.sweep.found.iter().enumerate() {
        if let Visited::Refused(diagnostics) = &found.value {
            let is_error = |found: &&Diagnostic| found.severity() == Severity::Error;
            let Some(reason) = diagnostics.iter().find(is_error).or(diagnostics.first()) else { continue };
            let folder = below(&next.plan.roots[found.root].path, &found.folder);
            broken.insert(folder, Broken { root: found.root, reason: reason.clone(), at: Some(at) });
        }
    }
    for problem in &next.sweep.problems {
        if let (Some(folder), Some(root)) = (folder_of(problem), problem.root()) {
            let reason = diagnostic_of(problem);
            broken.entry(folder.to_owned()).or_insert(Broken { root, reason, at: None });
        }
    }
    broken
}

/// The skill's folder that a problem is about, if it may be about one.
fn folder_of(problem: &Problem) -> Option<&Path> {
    match problem {
        Problem::UnreadableFile { path, .. } | Problem::NotAFile { path, .. } => path.parent(),
        Problem::Unreadable { path, .. } => Some(path),
        _ => None,
    }
}

/// What is said of the skill, at the place of the reason.
fn diagnostic(reason: &Diagnostic, document: &Path) -> Diagnostic {
    let message = format!(
        "the file does not load any more, and what is shown is how it was before: {}",
        reason.message
    );
    let mut diagnostic = Diagnostic::new(&code::KEPT_LAST_GOOD, message);
    diagnostic.path = reason.path.clone().or_else(|| Some(Arc::from(document)));
    diagnostic.place = reason.place;
    diagnostic.help.clone_from(&reason.help);
    diagnostic
}
