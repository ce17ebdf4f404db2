//! Which entries are called by which name.

use crate::entry::{Entry, EntryId};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// The entries of one name, as a chain through [`Entry::next`], in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) first: EntryId,
    pub(crate) last: EntryId,
}

/// A map from names to chains that keeps no names: it goes by their hashes, which the workers of the sweep have computed,
/// and looks at an entry's own name only where two hashes are equal. Ten thousand names are so mapped without touching
/// ten thousand strings that another core has just written.
#[derive(Debug)]
pub(crate) struct Names {
    hasher: NameHasher,
    chains: HashMap<u64, Chain, AsItIs>,
}

/// How names are hashed: with a key of this process, so that nobody can write names that all have one hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameHasher(RandomState);

impl NameHasher {
    pub(crate) fn hash(&self, name: &str) -> u64 {
        self.0.hash_one(name)
    }
}

impl Names {
    pub(super) fn new(hasher: NameHasher, capacity: usize) -> Self {
        Self { hasher, chains: HashMap::with_capacity_and_hasher(capacity, AsItIs::default()) }
    }

    /// The entries called `name`.
    pub(crate) fn get(&self, entries: &[Entry], name: &str) -> Option<Chain> {
        self.slot(entries, self.hasher.hash(name), name).1
    }

    /// The hash of a name.
    pub(super) fn hash(&self, name: &str) -> u64 {
        self.hasher.hash(name)
    }

    /// Puts an entry at the end of its name's chain, and gives back the chain where it is not the only one on it.
    pub(super) fn append(&mut self, entries: &mut [Entry], at: usize) -> Option<Chain> {
        let id = EntryId::new(at);
        let (slot, chain) = self.slot(entries, entries[at].hash, entries[at].card.name.as_str());
        let first = chain.map_or(id, |chain| {
            entries[chain.last.at()].next = Some(id);
            chain.first
        });
        let chain = Chain { first, last: id };
        self.chains.insert(slot, chain);
        (first != id).then_some(chain)
    }

    /// The place of a name: its hash, or the next one where another name has that.
    fn slot(&self, entries: &[Entry], hash: u64, name: &str) -> (u64, Option<Chain>) {
        let mut slot = hash;
        loop {
            match self.chains.get(&slot) {
                None => return (slot, None),
                Some(chain) if entries[chain.first.at()].card.name.as_str() == name => {
                    return (slot, Some(*chain));
                }
                Some(_) => slot = slot.wrapping_add(1),
            }
        }
    }
}

/// Builds hashers that take their input as it is, because it is a hash already. A collision costs one slow lookup and gains an
/// attacker nothing.
pub(crate) type AsItIs = BuildHasherDefault<FirstBytes>;

/// See [`AsItIs`].
#[derive(Debug, Default)]
pub(crate) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<8>() {
            self.0 ^= u64::from_le_bytes(*first);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 ^= number;
    }
}

/// The entries of a chain, in the order of precedence.
pub(crate) fn members(entries: &[Entry], chain: Chain) -> impl Iterator<Item = EntryId> {
    std::iter::successors(Some(chain.first), |id| entries.get(id.at()).and_then(|entry| entry.next))
}
