//! What the sweep is told: which roots in which order, and where links may lead.

use super::{Include, Stamps};
use crate::code;
use crate::layout::Layout;
use crate::root::{Root, RootTrust};
use metier_diagnostic::Diagnostic;
use metier_files::{Bounds, Ignore, LinkPolicy, Nested, SweepRoot};
use std::path::{Path, PathBuf};

/// What the sweep is told.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) roots: Vec<SweepRoot>,
    /// For each of them, its place in the layout.
    pub(crate) order: Vec<usize>,
    pub(crate) bounds: Bounds,
    pub(crate) stamps: Stamps,
    /// What was odd about what the layout says.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Plan {
    pub(crate) fn new(layout: &Layout, include: Include, stamps: Stamps) -> Self {
        let mut diagnostics = Vec::new();
        // Of two paths to one real folder the sweep keeps the one in the earlier root. A project that links to one of
        // the user's skills must not make it the project's, so roots that are not trusted come last.
        let mut order: Vec<usize> = (0..layout.roots.len()).collect();
        order.sort_by_key(|at| layout.roots[*at].trust == RootTrust::Untrusted);
        let reachable = reachable(layout);
        let roots = order.iter().map(|at| {
            let root = &layout.roots[*at];
            let links = match root.trust {
                RootTrust::Trusted => LinkPolicy::Anywhere,
                RootTrust::Untrusted => LinkPolicy::Inside(reachable.clone()),
            };
            let mut sweep = SweepRoot::new(&root.path, links);
            let depth = root.depth.or(layout.settings.discovery.depth);
            sweep.depth = depth.map_or(sweep.depth, std::num::NonZeroU16::get);
            sweep.ignore = ignore(root, &mut diagnostics);
            if root.nested || include == Include::Nested {
                sweep.nested = Nested::Search;
            }
            sweep
        });
        let roots = roots.collect();
        let mut bounds = Bounds::default();
        if let Some(entries) = layout.settings.discovery.entries {
            bounds.entries = entries.get() as usize;
        }
        Self { roots, order, bounds, stamps, diagnostics }
    }
}

/// Where the links of an untrusted project may lead: into every root, but its own only where they lie in the project.
/// A project that makes `.claude/skills` a link to the user's documents has not thereby made them a root.
fn reachable(layout: &Layout) -> Vec<PathBuf> {
    let in_project =
        |path: &Path| layout.project.as_ref().is_some_and(|project| path.starts_with(&project.folder));
    let roots = layout.roots.iter().filter_map(|root| Some((root.trust, root.real.as_ref()?)));
    roots
        .filter(|(trust, real)| *trust == RootTrust::Trusted || in_project(real))
        .map(|(_, real)| real.clone())
        .collect()
}

fn ignore(root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Option<Ignore> {
    let mut valid = Vec::with_capacity(root.ignore.len());
    for pattern in &root.ignore {
        match Ignore::new([pattern]) {
            Ok(_) => valid.push(pattern),
            Err(error) => diagnostics.push(Diagnostic::new(&code::IGNORE_INVALID, error.to_string())),
        }
    }
    if valid.is_empty() { None } else { Ignore::new(valid).ok() }
}
