//! Two skills, one name: who has it, who stands beside it, who is shadowed, who is a copy.

use super::names::{Chain, members};
use super::numbering::Shared;
use crate::code;
use crate::entry::{Entry, EntryId, Relation, State};
use crate::layout::Layout;
use crate::place::{document_path, open, report_on};
use crate::source::SOURCE_FILE;
use crate::version::{Version, rank};
use metier_files::{LeftOut, ListBounds, Listed, TreeDigest};
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::thread;

/// Collisions below which no second thread is started: a dozen folders are compared in the time that takes.
const FEW: usize = 16;

/// Settles the relations of all entries that share a name.
pub(super) fn resolve(entries: &mut [Entry], shared: &Shared, layout: &Layout) {
    let chains: Vec<Chain> = shared.values().copied().collect();
    for (id, relation) in decide_all(entries, &chains, layout) {
        relate(entries, layout, id, relation);
    }
}

/// What becomes of one entry.
type Decision = (EntryId, Relation);

/// Decides every collision. Equal folders are found by reading them, so where there are many (two roots with the same
/// hundred skills) the work is shared; no decision depends on another.
fn decide_all(entries: &[Entry], chains: &[Chain], layout: &Layout) -> Vec<Decision> {
    let decide = |chains: &[Chain]| -> Vec<Decision> {
        chains
            .iter()
            .flat_map(|chain| Collision { entries, layout, digests: HashMap::new() }.decide(*chain))
            .collect()
    };
    // To ask for the processors is to read half a dozen files, so that comes second.
    if chains.len() < FEW {
        return decide(chains);
    }
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if workers == 1 {
        return decide(chains);
    }
    thread::scope(|scope| {
        let parts = chains.chunks(chains.len().div_ceil(workers));
        let workers: Vec<_> = parts.map(|part| scope.spawn(|| decide(part))).collect();
        let decided =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|why| resume_unwind(why)));
        decided.flatten().collect()
    })
}

fn relate(entries: &mut [Entry], layout: &Layout, id: EntryId, relation: Relation) {
    entries[id.at()].relation = relation;
    let holds_name = entries[id.at()].state.holds_name();
    match relation {
        Relation::CopyOf(_) if holds_name => entries[id.at()].state = State::Shadowed,
        Relation::ShadowedBy(by) => {
            entries[id.at()].state = State::Shadowed;
            let winner = &entries[by.at()];
            let origin = &layout.roots[winner.root as usize].origin;
            let own = &layout.roots[entries[id.at()].root as usize].origin;
            let (name, path) = (&winner.card.name, document_path(layout, winner));
            let message = format!("`{name}` is shadowed by `{}` ({origin})", path.display());
            let help = if own == origin {
                "give one of them another `name`, or another `version`".to_owned()
            } else {
                format!("it is still reached as `{own}:{name}`")
            };
            report_on(&mut entries[id.at()], layout, &code::NAME_SHADOWED, message, help);
        }
        _ => {}
    }
}

/// The entries that are shown under a name, by version.
type Kept = HashMap<Option<Version>, EntryId>;

/// One name and the entries that share it.
struct Collision<'a> {
    entries: &'a [Entry],
    layout: &'a Layout,
    digests: HashMap<EntryId, Option<TreeDigest>>,
}

impl Collision<'_> {
    fn decide(mut self, chain: Chain) -> Vec<Decision> {
        let entries = self.entries;
        // A server's skill has no short name, so it takes part in no contest for one.
        let locals = members(entries, chain).filter(|id| entries[id.at()].remote().is_none());
        let (able, aside): (Vec<EntryId>, Vec<EntryId>) =
            locals.partition(|id| entries[id.at()].state.holds_name());
        let mut decisions = Vec::with_capacity(able.len() + aside.len());
        let kept = self.decide_able(&able, &mut decisions);
        self.decide_aside(&aside, kept, &mut decisions);
        decisions
    }

    /// Among those that can have the name: the highest root, in it the highest version, among equals the first by path.
    fn decide_able(&mut self, able: &[EntryId], decisions: &mut Vec<Decision>) -> Kept {
        let entry = |id: EntryId| &self.entries[id.at()];
        let Some(root) = able.first().map(|id| entry(*id).root) else { return Kept::new() };
        let in_root = able.iter().copied().filter(|id| entry(*id).root == root);
        let higher = |best: EntryId, id: EntryId| {
            let order = rank(entry(id).version().as_ref(), entry(best).version().as_ref());
            if order.is_gt() { id } else { best }
        };
        let Some(holder) = in_root.reduce(higher) else { return Kept::new() };
        let mut kept = Kept::from([(entry(holder).version(), holder)]);
        decisions.push((holder, Relation::Holder));
        for id in able.iter().copied().filter(|id| *id != holder) {
            let (version, same_root) = (self.entries[id.at()].version(), self.entries[id.at()].root == root);
            let relation = match kept.get(&version) {
                Some(same) if self.are_equal(*same, id) => Relation::CopyOf(*same),
                None if same_root => {
                    kept.insert(version, id);
                    Relation::VersionBeside(holder)
                }
                _ => Relation::ShadowedBy(holder),
            };
            decisions.push((id, relation));
        }
        kept
    }

    /// Those that cannot have the name keep their state, and are not shown on their own where they equal one that is.
    fn decide_aside(&mut self, aside: &[EntryId], mut kept: Kept, decisions: &mut Vec<Decision>) {
        for id in aside.iter().copied() {
            let entry = &self.entries[id.at()];
            let mut relation = Relation::Aside;
            // What is off or disabled was meant, and is shown as what it is.
            if entry.state == State::Untrusted {
                match kept.get(&entry.version()) {
                    Some(same) if self.are_equal(*same, id) => relation = Relation::CopyOf(*same),
                    Some(_) => {}
                    None => drop(kept.insert(entry.version(), id)),
                }
            }
            decisions.push((id, relation));
        }
    }

    /// Whether two skills are the same, byte for byte. Asked in the order of what it costs: the cards are at hand, the
    /// list of files takes a walk, the digest reads everything. A stranger's folder is so read whole only when it has the
    /// very files and sizes of ours.
    fn are_equal(&mut self, a: EntryId, b: EntryId) -> bool {
        let (one, other) = (&self.entries[a.at()], &self.entries[b.at()]);
        have_equal_cards(one, other)
            && self.files(one).is_some_and(|files| self.files(other) == Some(files))
            && self.digest(a).is_some_and(|digest| self.digest(b) == Some(digest))
    }

    fn files(&self, entry: &Entry) -> Option<(Vec<Listed>, Vec<LeftOut>)> {
        let mut listing = open(self.layout, entry).ok()?.list(ListBounds::default()).ok()?;
        listing.files.retain(|file| file.path.as_str() != Some(SOURCE_FILE));
        listing.extent.is_whole().then_some((listing.files, listing.left_out))
    }

    fn digest(&mut self, id: EntryId) -> Option<TreeDigest> {
        let (layout, entry) = (self.layout, &self.entries[id.at()]);
        let digest = || open(layout, entry).ok().and_then(|folder| TreeDigest::of(&folder).ok());
        *self.digests.entry(id).or_insert_with(digest)
    }
}

fn have_equal_cards(one: &Entry, other: &Entry) -> bool {
    let (a, b) = (&one.card, &other.card);
    a.description == b.description
        && a.title == b.title
        && a.when_to_use == b.when_to_use
        && a.argument_hint == b.argument_hint
        && a.version == b.version
        && one.user_only == other.user_only
}
