//! Who is who: names given out, states settled, collisions resolved.
//!
//! Identity is where a skill is, never what it is called. A name is something that one skill at a time can have, and this
//! decides which. Everything here is one pass over the entries and one map over names; only entries that share a name
//! cost more.

mod clash;
mod collision;
mod numbering;
mod standing;

use crate::disabled::Disabled;
use crate::entry::{Entry, EntryId};
use crate::layout::Layout;
use crate::snapshot::{Failure, Include};
use metier_skill::SkillName;
use std::collections::HashMap;

/// The entries of one name, as a chain through [`Entry::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) first: EntryId,
    pub(crate) last: EntryId,
}

/// Which entries have a name.
pub(crate) type Names = HashMap<SkillName, Chain>;

/// What the states of entries depend on beside the entries.
pub(crate) struct Circumstances<'a> {
    pub(crate) layout: &'a Layout,
    /// For each root of the layout, what its file disables.
    pub(crate) disabled: &'a [Disabled],
    pub(crate) failures: &'a [Failure],
    pub(crate) include: Include,
}

/// Settles names, states and relations of all entries, which are in the order of precedence.
pub(crate) fn settle(entries: &mut [Entry], circumstances: &Circumstances<'_>) -> Names {
    let names = numbering::give_names(entries, circumstances.layout);
    standing::stand(entries, circumstances);
    collision::resolve(entries, &names, circumstances.layout);
    clash::report(entries, &names, circumstances.layout);
    names
}

/// The entries of a chain, in the order of precedence.
pub(crate) fn members(entries: &[Entry], chain: Chain) -> impl Iterator<Item = EntryId> {
    std::iter::successors(Some(chain.first), |id| entries.get(id.at()).and_then(|entry| entry.next))
}
