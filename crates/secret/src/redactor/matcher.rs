//! All words of all secrets in one automaton, with what a stream needs to know of each of its states.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};

use super::marker::marker;
use super::pattern::patterns;
use crate::{Secret, SecretName};

pub(super) use aho_corasick::automaton::StateID;

/// What a state of the automaton means for what is held back.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// How many bytes of a word have been read.
    pub(super) read: usize,
    /// How many of the bytes that were read last can still become a word.
    pub(super) open: usize,
}

/// What is looked for.
pub(super) struct Matcher {
    nfa: NFA,
    /// Only states in the middle of a word are here.
    progress: HashMap<StateID, Progress>,
    /// Whose word it is, by its number.
    owners: Vec<usize>,
    /// What stands in place of each secret.
    markers: Vec<Vec<u8>>,
}

impl Matcher {
    pub(super) fn new(secrets: &[(&SecretName, &Secret)]) -> Result<Self, BuildError> {
        let mut words: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for (index, (_, secret)) in secrets.iter().enumerate() {
            for word in patterns(secret) {
                // Upper and lower case are the same word.
                words.entry(word.to_ascii_lowercase()).or_insert(index);
            }
        }
        // Every match counts, also one inside another: what is taken out is the union of all.
        let nfa = NFA::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(words.keys())?;
        let all: Vec<&[u8]> = words.keys().map(Vec::as_slice).collect();
        let markers = secrets.iter().map(|(name, _)| marker(name.as_str(), &all)).collect();
        let progress = progress(&nfa, &all);
        Ok(Self { nfa, progress, owners: words.into_values().collect(), markers })
    }

    /// Where every text begins.
    pub(super) fn start(&self) -> StateID {
        // An automaton that was built for searches from anywhere has this state.
        self.nfa.start_state(Anchored::No).unwrap_or_default()
    }

    pub(super) fn next(&self, state: StateID, byte: u8) -> StateID {
        self.nfa.next_state(Anchored::No, state, byte)
    }

    pub(super) fn progress(&self, state: StateID) -> Progress {
        self.progress.get(&state).copied().unwrap_or_default()
    }

    /// The longest word that ends here, as its length and whose it is.
    pub(super) fn longest(&self, state: StateID) -> Option<(usize, usize)> {
        if !self.nfa.is_match(state) {
            return None;
        }
        (0..self.nfa.match_len(state))
            .map(|index| self.nfa.match_pattern(state, index))
            .map(|word| {
                (self.nfa.pattern_len(word), self.owners.get(word.as_usize()).copied().unwrap_or_default())
            })
            .max_by_key(|(length, owner)| (*length, std::cmp::Reverse(*owner)))
    }

    pub(super) fn marker(&self, owner: usize) -> &[u8] {
        self.markers.get(owner).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Walks every word once: the state after its first bytes is the one that stands for exactly these bytes.
fn progress(nfa: &NFA, words: &[&[u8]]) -> HashMap<StateID, Progress> {
    let start = nfa.start_state(Anchored::No).unwrap_or_default();
    let mut states = HashMap::new();
    let mut ends = Vec::new();
    for word in words {
        let mut state = start;
        for (at, byte) in word.iter().enumerate() {
            state = nfa.next_state(Anchored::No, state, *byte);
            let read = at + 1;
            if read < word.len() {
                states.insert(state, Progress { read, open: read });
            }
        }
        ends.push((state, word));
    }
    // A word that is no beginning of another is done with its last byte; what stays open is the longest end of it that
    // begins a word. Short words first, since such an end may be the whole of one.
    ends.sort_by_key(|(_, word)| word.len());
    for (state, word) in ends {
        if states.contains_key(&state) {
            continue;
        }
        let after = word.iter().skip(1).fold(start, |state, byte| nfa.next_state(Anchored::No, state, *byte));
        let open = states.get(&after).map_or(0, |progress| progress.open);
        states.insert(state, Progress { read: word.len(), open });
    }
    states
}
