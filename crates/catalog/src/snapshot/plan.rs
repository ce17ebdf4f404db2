//! What the sweep is told: which roots in which order, and where links may lead.

use super::{Include, Stamps};
use crate::code;
use crate::layout::Layout;
use crate::origin::Class;
use crate::root::{Root, RootTrust};
use metier_diagnostic::Diagnostic;
use metier_files::{Bounds, Ignore, LinkPolicy, Nested, SweepRoot, plain_path};
use std::path::PathBuf;

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
        // the user's skills must not make it the project's, trusted or not, so a project's roots come last.
        // What servers list is not looked for in folders: their shelves are caches, and no roots.
        let is_swept = |at: &usize| layout.roots[*at].origin.class != Class::Mcp;
        let mut order: Vec<usize> = (0..layout.roots.len()).filter(is_swept).collect();
        order.sort_by_key(|at| layout.roots[*at].origin.class == Class::Project);
        let reachable = reachable(layout);
        let roots = order.iter().map(|at| {
            let root = &layout.roots[*at];
            let links = match root.origin.class {
                Class::Project => LinkPolicy::Inside(reachable.clone()),
                _ => LinkPolicy::Anywhere,
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

/// Where the links of a project may lead, trusted or not: into the project, and into the roots that the user trusts for other
/// reasons. A link is one line of a commit, and must not make a skill of a file of the user's. A project that makes
/// `.claude/skills` a link to the user's documents has not thereby made them a root; one that its `metier.toml` or a crew
/// names outside of it is where it says, and is trusted by that path.
fn reachable(layout: &Layout) -> Vec<PathBuf> {
    let lies_outside = |root: &Root| {
        layout.project.as_ref().is_none_or(|own| !plain_path(&root.path).starts_with(&own.folder))
    };
    let is_named =
        |root: &Root| root.trust == RootTrust::Trusted && root.is_named_by_project && lies_outside(root);
    let roots = layout.roots.iter().filter(|root| root.origin.class != Class::Project || is_named(root));
    let roots = roots.filter_map(|root| root.real.clone());
    layout.project.iter().map(|project| project.folder.clone()).chain(roots).collect()
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
