//! All skills that can be asked for: a few segments, and which of their skills are still alive.

use crate::leaf::Key;
use crate::segment::Segment;
use crate::term::Term;
use crate::weights as by;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What can be asked. Ranks do not depend on how skills are spread over segments, nor on what was there before.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(crate) segments: Vec<Part>,
    /// How many skills are alive.
    pub(crate) alive: u32,
    /// How many of them count as written in a script without blanks.
    pub(crate) joined: u32,
    /// How much each skill is held back for its length, beside the mean of all; gone ones, too.
    pub(crate) lengths: Vec<Lengths>,
    /// Short and long forms, from each to the other.
    pub(crate) learned: HashMap<Term, Learned>,
}

/// How much a skill is held back for its length: what stands beside a count before it is divided, and the part of a weight that a
/// single one counts. Nine of ten pieces stand once, and a product is cheaper than a quotient.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lengths {
    pub(crate) words: f32,
    pub(crate) pieces: f32,
    pub(crate) one_piece: f32,
}

/// What was learned of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Learned {
    /// It is a short form of these words.
    Long(Vec<Term>),
    /// It is the first word of long forms, each with its short form.
    Short(Vec<(Vec<Term>, Term)>),
}

/// A segment and who of it is alive.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) segment: Arc<Segment>,
    /// `true` for those that are gone; empty when nobody is.
    pub(crate) gone: Vec<bool>,
    /// The number of its first skill among those of all segments.
    pub(crate) first: u32,
}

impl Part {
    pub(crate) fn is_gone(&self, skill: u32) -> bool {
        self.gone.get(skill as usize).copied().unwrap_or_default()
    }
}

impl Index {
    /// An index of segments.
    pub fn new(segments: Vec<Segment>) -> Self {
        let part = |segment| Part { segment: Arc::new(segment), gone: Vec::new(), first: 0 };
        let mut index = Self { segments: segments.into_iter().map(part).collect(), ..Self::default() };
        index.settle();
        index
    }

    /// Lets skills go: those whose key `is_gone` names.
    pub fn bury(&mut self, is_gone: impl Fn(Key) -> bool) {
        for part in &mut self.segments {
            let gone: Vec<bool> = part
                .segment
                .keys()
                .enumerate()
                .map(|(at, key)| part.is_gone(at as u32) || is_gone(key))
                .collect();
            part.gone = if gone.contains(&true) { gone } else { Vec::new() };
        }
        self.settle();
    }

    /// Adds a segment.
    pub fn push(&mut self, segment: Segment) {
        self.segments.push(Part { segment: Arc::new(segment), gone: Vec::new(), first: 0 });
        self.settle();
    }

    /// Lets all but the first of those with the same key go.
    pub fn part_twins(&mut self) {
        let mut seen = std::collections::HashSet::new();
        let mut changed = false;
        for part in &mut self.segments {
            for at in 0..part.segment.len() {
                if !part.is_gone(at as u32) && !seen.insert(part.segment.skills[at].key) {
                    part.gone.resize(part.segment.len(), false);
                    part.gone[at] = true;
                    changed = true;
                }
            }
        }
        if changed {
            self.settle();
        }
    }

    /// Its segments.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &Segment> {
        self.segments.iter().map(|part| &*part.segment)
    }

    /// Brings all lists into memory: for whoever asks again and again.
    pub fn fetch(&mut self) {
        for part in &mut self.segments {
            Arc::make_mut(&mut part.segment).fetch();
        }
    }

    /// One segment of all that is alive.
    pub fn merged(&mut self) -> Segment {
        // Every list is needed, and one by one would be two hundred thousand reads.
        self.fetch();
        let segments: Vec<&Segment> = self.segments.iter().map(|part| &*part.segment).collect();
        Segment::merge(&segments, |at, skill| !self.segments[at].is_gone(skill as u32))
    }

    /// How many skills are alive.
    pub fn len(&self) -> usize {
        self.alive as usize
    }

    /// Whether nobody is.
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// How many skills of its segments are gone, which says when merging pays.
    pub fn gone(&self) -> usize {
        self.segments.iter().map(|part| part.gone.iter().filter(|gone| **gone).count()).sum()
    }

    /// The keys of those alive.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.segments.iter().flat_map(|part| {
            part.segment.keys().enumerate().filter(|(at, _)| !part.is_gone(*at as u32)).map(|(_, key)| key)
        })
    }

    fn settle(&mut self) {
        let (mut first, mut alive, mut joined, mut length, mut pieces) = (0, 0_u32, 0, 0_u64, 0_u64);
        let mut shorts: BTreeMap<Term, BTreeMap<Vec<Term>, u32>> = BTreeMap::new();
        for part in &mut self.segments {
            part.first = first;
            first += u32::try_from(part.segment.len()).unwrap_or(u32::MAX);
            for (at, record) in (0_u32..).zip(&part.segment.skills) {
                if part.is_gone(at) {
                    continue;
                }
                alive += 1;
                joined += u32::from(record.is_joined);
                length += u64::from(record.length);
                pieces += u64::from(record.piece_length);
            }
            for (skill, abbreviation) in &part.segment.abbreviations {
                if !part.is_gone(*skill) {
                    *shorts
                        .entry(abbreviation.short)
                        .or_default()
                        .entry(abbreviation.long.clone())
                        .or_default() += 1;
                }
            }
        }
        (self.alive, self.joined) = (alive, joined);
        let mean = |sum: u64| (sum as f64 / f64::from(alive.max(1))).max(1.0) as f32;
        let (length, pieces) = (mean(length), mean(pieces));
        let held = |share: f32, saturation: f32, own: u32, mean: f32| {
            saturation * (1.0 - share + share * own as f32 / mean)
        };
        let records = self.segments.iter().flat_map(|part| &part.segment.skills);
        let lengths = records.map(|record| {
            let words = held(by::WORD_LENGTH, by::WORD_SATURATION, record.length, length);
            let pieces = held(by::PIECE_LENGTH, by::PIECE_SATURATION, record.piece_length, pieces);
            Lengths { words, pieces, one_piece: 1.0 / (1.0 + pieces) }
        });
        self.lengths = lengths.collect();
        self.learned = learned(shorts);
    }
}

/// Of every short form the long one that most skills give, the smaller one where they are even.
fn learned(shorts: BTreeMap<Term, BTreeMap<Vec<Term>, u32>>) -> HashMap<Term, Learned> {
    let mut learned = HashMap::new();
    let mut longs: BTreeMap<Term, Vec<(Vec<Term>, Term)>> = BTreeMap::new();
    for (short, choices) in shorts {
        let best = choices.into_iter().rev().max_by_key(|(_, count)| *count);
        if let Some((long, _)) = best
            && let Some(first) = long.first()
        {
            longs.entry(*first).or_default().push((long.clone(), short));
            learned.insert(short, Learned::Long(long));
        }
    }
    for (first, forms) in longs {
        learned.entry(first).or_insert(Learned::Short(forms));
    }
    learned
}
