//! What a sweep gave, before anybody's name is settled. A plain load settles it and is done; a watcher keeps it, exchanges
//! the parts that changed and settles it again.

use super::plan::Plan;
use super::{Include, Stamps};
use crate::identity::NameHasher;
use crate::layout::Layout;
use crate::visit::{Visited, visit};
use metier_files::{Candidate, Place, Sweep, sweep, sweep_places};

/// What a sweep gave. Roots are numbered as in its plan.
#[derive(Clone, Debug)]
pub(crate) struct Harvest {
    pub(crate) plan: Plan,
    /// The key of the hashes that the visited have; they mean nothing under another one.
    pub(crate) hasher: NameHasher,
    pub(crate) sweep: Sweep<Visited>,
}

impl Harvest {
    /// Sweeps the roots of a layout.
    pub(crate) fn gather(layout: &Layout, include: Include, stamps: Stamps, hasher: NameHasher) -> Self {
        let plan = Plan::new(layout, include, stamps);
        let visitor = |candidate: Candidate<'_>| visit(&candidate, &plan, &hasher);
        let sweep = sweep(&plan.roots, &plan.bounds, visitor);
        Self { plan, hasher, sweep }
    }

    /// Sweeps some places by the same plan, and changes nothing yet.
    pub(crate) fn look_at(&self, places: &[Place]) -> Sweep<Visited> {
        let plan = &self.plan;
        sweep_places(&plan.roots, &plan.bounds, places, |candidate| visit(&candidate, plan, &self.hasher))
    }
}
