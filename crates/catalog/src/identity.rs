//! Who is who: names given out, states settled, collisions resolved.
//!
//! Identity is where a skill is, never what it is called. A name is something that one skill at a time can have, and this
//! decides which. Everything here is a pass over the entries that touches nothing but the entries; only those that share
//! a name, or have an odd one, cost more.

mod clash;
mod collision;
mod names;
mod numbering;
mod standing;

use crate::entry::Entry;
use crate::layout::Layout;
use crate::snapshot::{Failure, Include};
use std::collections::BTreeSet;

pub(crate) use names::{AsItIs, NameHasher, Names, members};
pub(crate) use standing::names_of;

/// What the states of entries depend on beside the entries.
pub(crate) struct Circumstances<'a> {
    pub(crate) layout: &'a Layout,
    /// For each root of the layout, what its file disables.
    pub(crate) disabled: &'a [BTreeSet<String>],
    pub(crate) failures: &'a [Failure],
    pub(crate) include: Include,
}

/// Settles names, states and relations of all entries, which are in the order of precedence.
pub(crate) fn settle(entries: &mut [Entry], circumstances: &Circumstances<'_>, hasher: NameHasher) -> Names {
    let (names, shared) = numbering::give_names(entries, circumstances.layout, hasher);
    standing::stand(entries, circumstances);
    collision::resolve(entries, &shared, circumstances.layout);
    clash::report(entries, &names, circumstances.layout);
    names
}
