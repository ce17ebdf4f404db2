//! Two skills, one name: who has it, who stands beside it, who is shadowed, who is a copy.

use super::{Chain, Names, members};
use crate::code;
use crate::entry::{Entry, EntryId, Relation, State};
use crate::layout::Layout;
use crate::place::{document_path, open, report_on};
use crate::source::SOURCE_FILE;
use crate::version::{Version, rank};
use metier_files::{LeftOut, ListBounds, Listed, TreeDigest};
use std::collections::HashMap;

pub(super) fn resolve(entries: &mut [Entry], names: &Names, layout: &Layout) {
    for at in 0..entries.len() {
        // Through the entries and not through the map, whose order is another one every time.
        let chain = names.get(&entries[at].card.name).copied();
        match chain.filter(|chain| chain.first.at() == at) {
            Some(chain) if chain.first != chain.last => Collision::new(layout).resolve(entries, chain),
            _ => {
                if !entries[at].state.holds_name() && chain.is_some_and(|chain| chain.first == chain.last) {
                    entries[at].relation = Relation::Aside;
                }
            }
        }
    }
}

struct Collision<'a> {
    layout: &'a Layout,
    digests: HashMap<EntryId, Option<TreeDigest>>,
}

impl<'a> Collision<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self { layout, digests: HashMap::new() }
    }

    fn resolve(&mut self, entries: &mut [Entry], chain: Chain) {
        let all: Vec<EntryId> = members(entries, chain).collect();
        let able: Vec<EntryId> =
            all.iter().copied().filter(|id| entries[id.at()].state.holds_name()).collect();
        let kept = match able.first() {
            Some(first) => self.resolve_able(entries, &able, entries[first.at()].root),
            None => Kept::new(),
        };
        self.resolve_aside(entries, &all, kept);
    }

    /// Among those that can have the name: the highest root, in it the highest version, among equals the first by path.
    fn resolve_able(&mut self, entries: &mut [Entry], able: &[EntryId], root: u16) -> Kept {
        let version = |id: EntryId| entries[id.at()].version();
        let mut holder = able[0];
        for id in able.iter().copied().filter(|id| entries[id.at()].root == root) {
            if rank(version(id).as_ref(), version(holder).as_ref()).is_gt() {
                holder = id;
            }
        }
        let mut kept = Kept::from([(version(holder), holder)]);
        entries[holder.at()].relation = Relation::Holder;
        for id in able.iter().copied().filter(|id| *id != holder) {
            let version = entries[id.at()].version();
            let relation = match kept.get(&version) {
                Some(same) if self.are_equal(entries, *same, id) => Relation::CopyOf(*same),
                None if entries[id.at()].root == root => {
                    kept.insert(version, id);
                    Relation::VersionBeside(holder)
                }
                _ => Relation::ShadowedBy(holder),
            };
            self.relate(entries, id, relation);
        }
        kept
    }

    /// Those that cannot have the name keep their state, and are not shown on their own where they equal one that is.
    fn resolve_aside(&mut self, entries: &mut [Entry], all: &[EntryId], mut kept: Kept) {
        for id in all.iter().copied() {
            if entries[id.at()].state.holds_name() {
                continue;
            }
            entries[id.at()].relation = Relation::Aside;
            // What is off or disabled was meant, and is shown as what it is.
            if entries[id.at()].state != State::Untrusted {
                continue;
            }
            let version = entries[id.at()].version();
            match kept.get(&version) {
                Some(same) if self.are_equal(entries, *same, id) => {
                    entries[id.at()].relation = Relation::CopyOf(*same);
                }
                Some(_) => {}
                None => drop(kept.insert(version, id)),
            }
        }
    }

    fn relate(&self, entries: &mut [Entry], id: EntryId, relation: Relation) {
        let entry = &mut entries[id.at()];
        entry.relation = relation;
        match relation {
            Relation::CopyOf(_) => entry.state = State::Shadowed,
            Relation::ShadowedBy(by) => {
                entry.state = State::Shadowed;
                let winner = &entries[by.at()];
                let origin = &self.layout.roots[winner.root as usize].origin;
                let path = document_path(self.layout, winner);
                let message =
                    format!("`{}` is shadowed by `{}` ({origin})", winner.card.name, path.display());
                let own = &self.layout.roots[entries[id.at()].root as usize].origin;
                let help = if own == origin {
                    "give one of them another `name`, or another `version`".to_owned()
                } else {
                    format!("it is still reached as `{own}:{}`", winner.card.name)
                };
                report_on(&mut entries[id.at()], self.layout, &code::NAME_SHADOWED, message, help);
            }
            Relation::Holder | Relation::VersionBeside(_) | Relation::Aside => {}
        }
    }

    /// Whether two skills are the same, byte for byte. Asked in the order of what it costs: the cards are at hand, the
    /// list of files takes a walk, the digest reads everything. A stranger's folder is so read whole only when it has the
    /// very files and sizes of ours.
    fn are_equal(&mut self, entries: &[Entry], a: EntryId, b: EntryId) -> bool {
        let (one, other) = (&entries[a.at()], &entries[b.at()]);
        let cards = |entry: &Entry| {
            let card = &entry.card;
            (
                card.title.clone(),
                card.when_to_use.clone(),
                card.argument_hint.clone(),
                card.version.clone(),
                card.user_only,
            )
        };
        one.card.description == other.card.description
            && cards(one) == cards(other)
            && self.files(one).is_some_and(|files| self.files(other) == Some(files))
            && self.digest(a, one).is_some_and(|digest| self.digest(b, other) == Some(digest))
    }

    fn files(&self, entry: &Entry) -> Option<(Vec<Listed>, Vec<LeftOut>)> {
        let mut listing = open(self.layout, entry).ok()?.list(ListBounds::default()).ok()?;
        listing.files.retain(|file| file.path.as_str() != Some(SOURCE_FILE));
        listing.extent.is_whole().then_some((listing.files, listing.left_out))
    }

    fn digest(&mut self, id: EntryId, entry: &Entry) -> Option<TreeDigest> {
        let layout = self.layout;
        let digest = || open(layout, entry).ok().and_then(|folder| TreeDigest::of(&folder).ok());
        *self.digests.entry(id).or_insert_with(digest)
    }
}

/// The entries that are shown under a name, by version.
type Kept = HashMap<Option<Version>, EntryId>;
