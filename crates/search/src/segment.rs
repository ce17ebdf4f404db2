//! Many skills, counted and turned round: from each term to the skills that have it. A segment never changes; it is made of
//! leaves or of other segments, and it is bytes on disk.

use crate::abbreviation::Abbreviation;
use crate::bytes::{Parts, put, take};
use crate::leaf::{Key, Leaf};
use crate::posting::{Kind, Posting, count, pack, unpack};
use crate::term::Term;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Marks a segment on disk; the number changes with everything that changes what is counted.
const MAGIC: &[u8; 8] = b"metidx\x00\x04";

/// Many skills, counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// All terms, rising.
    terms: Vec<Term>,
    /// Where the list of each ends.
    ends: Vec<u32>,
    lists: Lists,
    pub(crate) skills: Vec<Record>,
    /// What skills are not for, packed; a record says where its part ends.
    against: Vec<u8>,
    pub(crate) abbreviations: Vec<(u32, Abbreviation)>,
}

/// The lists of a segment, wherever they are.
#[derive(Clone, Debug)]
pub enum Lists {
    /// In memory.
    Here(Vec<u8>),
    /// Elsewhere: a request asks for a few dozen of two hundred thousand.
    Shelved {
        /// Who fetches them.
        shelf: Arc<dyn Shelf>,
        /// How many bytes they are.
        length: usize,
    },
}

/// Who fetches lists that are not in memory.
pub trait Shelf: fmt::Debug + Send + Sync {
    /// The bytes from one place up to another. What cannot be had reads as nothing: a list that is missing is a word that nobody
    /// has.
    fn fetch(&self, from: usize, to: usize) -> Vec<u8>;
}

impl Default for Lists {
    fn default() -> Self {
        Self::Here(Vec::new())
    }
}

impl PartialEq for Lists {
    fn eq(&self, other: &Self) -> bool {
        self.part(0, self.len()) == other.part(0, other.len())
    }
}

impl Lists {
    /// How many bytes they are.
    pub fn len(&self) -> usize {
        match self {
            Self::Here(lists) => lists.len(),
            Self::Shelved { length, .. } => *length,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn part(&self, from: usize, to: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Here(lists) => Cow::Borrowed(lists.get(from..to).unwrap_or_default()),
            Self::Shelved { shelf, .. } => Cow::Owned(shelf.fetch(from, to)),
        }
    }
}

/// The skills that have a term.
pub(crate) struct List<'a> {
    kind: Kind,
    bytes: Cow<'a, [u8]>,
}

impl List<'_> {
    /// How many they are, gone ones among them.
    pub(crate) fn count(&self) -> u32 {
        count(&self.bytes)
    }

    /// Calls `each` with every one of them.
    #[inline]
    pub(crate) fn each(&self, each: impl FnMut(Posting)) {
        unpack(self.kind, &self.bytes, each);
    }
}

/// One skill of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) key: Key,
    pub(crate) body: u64,
    pub(crate) length: u32,
    pub(crate) piece_length: u32,
    pub(crate) is_joined: bool,
    against_end: u32,
}

/// Why bytes are no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// They are something else, or of another version.
    #[error("it is no index of this version")]
    Foreign,
    /// A part is missing or does not fit the others.
    #[error("it is damaged")]
    Damaged,
}

impl Segment {
    /// Makes a segment of leaves, which keep their order.
    pub fn new(leaves: Vec<Leaf>) -> Self {
        let all = turned_round(&leaves);
        let mut segment = Self::default();
        for (skill, leaf) in (0_u32..).zip(leaves) {
            for sentence in &leaf.against {
                put(&mut segment.against, u32::try_from(sentence.len()).unwrap_or_default());
                segment.against.extend(sentence.iter().flat_map(|term| term.0.to_le_bytes()));
            }
            let against_end = u32::try_from(segment.against.len()).unwrap_or(u32::MAX);
            let Leaf { key, body, length, piece_length, is_joined, .. } = leaf;
            segment.skills.push(Record { key, body, length, piece_length, is_joined, against_end });
            segment.abbreviations.extend(leaf.abbreviations.into_iter().map(|short| (skill, short)));
        }
        let mut list = Vec::new();
        for same in all.chunk_by(|(one, _), (other, _)| one == other) {
            list.clear();
            list.extend(same.iter().map(|(_, posting)| *posting));
            segment.push_list(same[0].0, &list);
        }
        segment
    }

    /// Makes one segment of several. `keep` says which skills go on living, by segment and number.
    pub fn merge(segments: &[&Self], keep: impl Fn(usize, usize) -> bool) -> Self {
        let mut merged = Self::default();
        let mut numbers: Vec<Vec<Option<u32>>> = Vec::new();
        for (at, segment) in segments.iter().enumerate() {
            let mut renumbered = Vec::with_capacity(segment.skills.len());
            for (skill, record) in segment.skills.iter().enumerate() {
                let kept = keep(at, skill);
                renumbered.push(kept.then(|| u32::try_from(merged.skills.len()).unwrap_or(u32::MAX)));
                if kept {
                    merged.against.extend_from_slice(segment.against_of(skill));
                    let against_end = u32::try_from(merged.against.len()).unwrap_or(u32::MAX);
                    merged.skills.push(Record { against_end, ..*record });
                }
            }
            let moved = segment.abbreviations.iter().filter_map(|(skill, short)| {
                let skill = renumbered.get(*skill as usize).copied().flatten()?;
                Some((skill, short.clone()))
            });
            merged.abbreviations.extend(moved);
            numbers.push(renumbered);
        }
        let mut at = vec![0_usize; segments.len()];
        let mut together = Vec::new();
        loop {
            let next = segments.iter().zip(&at).filter_map(|(segment, at)| segment.terms.get(*at)).min();
            let Some(&term) = next else { break };
            together.clear();
            for ((segment, at), numbers) in segments.iter().zip(&mut at).zip(&numbers) {
                if segment.terms.get(*at) == Some(&term) {
                    unpack(kind(term), &segment.list(*at), |posting| {
                        if let Some(skill) = numbers.get(posting.skill as usize).copied().flatten() {
                            together.push(Posting { skill, ..posting });
                        }
                    });
                    *at += 1;
                }
            }
            if !together.is_empty() {
                merged.push_list(term, &together);
            }
        }
        merged
    }

    /// How many skills it has.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The keys of its skills, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Key> {
        self.skills.iter().map(|record| record.key)
    }

    fn push_list(&mut self, term: Term, postings: &[Posting]) {
        if let Lists::Here(lists) = &mut self.lists {
            pack(kind(term), postings, lists);
        }
        self.terms.push(term);
        self.ends.push(u32::try_from(self.lists.len()).unwrap_or(u32::MAX));
    }

    /// Brings lists that are elsewhere into memory: for whoever asks for most of them.
    pub fn fetch(&mut self) {
        if let Lists::Shelved { .. } = self.lists {
            self.lists = Lists::Here(self.lists.part(0, self.lists.len()).into_owned());
        }
    }

    fn list(&self, at: usize) -> Cow<'_, [u8]> {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        let end = self.ends.get(at).copied().unwrap_or_default();
        self.lists.part(start as usize, end as usize)
    }

    /// The list of a term.
    pub(crate) fn find(&self, term: Term) -> Option<List<'_>> {
        let at = self.terms.binary_search(&term).ok()?;
        Some(List { kind: kind(term), bytes: self.list(at) })
    }

    fn against_of(&self, skill: usize) -> &[u8] {
        let end = |skill: usize| self.skills.get(skill).map_or(0, |record| record.against_end as usize);
        let start = skill.checked_sub(1).map_or(0, end);
        self.against.get(start..end(skill)).unwrap_or_default()
    }

    /// Calls `each` with the terms of every sentence that says what a skill is not for.
    pub(crate) fn each_against(&self, skill: usize, mut each: impl FnMut(&[Term])) {
        let bytes = self.against_of(skill);
        let mut at = 0;
        let mut sentence = Vec::new();
        while at < bytes.len() {
            let length = take(bytes, &mut at) as usize;
            let end = at.saturating_add(length.saturating_mul(8)).min(bytes.len());
            sentence.clear();
            sentence.extend(
                bytes[at.min(end)..end].as_chunks::<8>().0.iter().map(|term| Term(u64::from_le_bytes(*term))),
            );
            at = end;
            each(&sentence);
        }
    }

    /// The bytes for the disk: first all but the lists, which may then be read one by one.
    pub fn to_bytes(&self) -> (Vec<u8>, Cow<'_, [u8]>) {
        let mut bytes =
            Vec::with_capacity(self.terms.len() * 12 + self.skills.len() * 40 + self.against.len());
        bytes.extend_from_slice(MAGIC);
        let lengths = [
            self.terms.len(),
            self.lists.len(),
            self.skills.len(),
            self.against.len(),
            self.abbreviations.len(),
        ];
        for length in lengths {
            bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        }
        self.terms.iter().for_each(|term| bytes.extend_from_slice(&term.0.to_le_bytes()));
        self.ends.iter().for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
        for record in &self.skills {
            bytes.extend_from_slice(&record.key.0);
            bytes.extend_from_slice(&record.body.to_le_bytes());
            bytes.extend_from_slice(&record.length.to_le_bytes());
            bytes.extend_from_slice(&record.piece_length.to_le_bytes());
            bytes.extend_from_slice(&record.against_end.to_le_bytes());
            bytes.push(u8::from(record.is_joined));
        }
        bytes.extend_from_slice(&self.against);
        for (skill, abbreviation) in &self.abbreviations {
            bytes.extend_from_slice(&skill.to_le_bytes());
            bytes.extend_from_slice(&abbreviation.short.0.to_le_bytes());
            bytes.push(u8::try_from(abbreviation.long.len()).unwrap_or_default());
            abbreviation.long.iter().for_each(|term| bytes.extend_from_slice(&term.0.to_le_bytes()));
        }
        (bytes, self.lists.part(0, self.lists.len()))
    }

    /// Reads such bytes, with the lists wherever they are. Whatever the bytes are, the segment that comes of them can be used without
    /// harm.
    pub fn from_bytes(bytes: &[u8], lists: Lists) -> Result<Self, SegmentError> {
        let mut parts = Parts(bytes);
        if parts.bytes(MAGIC.len()) != Some(MAGIC) {
            return Err(SegmentError::Foreign);
        }
        let segment = Self::read(&mut parts, lists).ok_or(SegmentError::Damaged)?;
        if parts.0.is_empty() && segment.is_sound() { Ok(segment) } else { Err(SegmentError::Damaged) }
    }

    fn read(parts: &mut Parts<'_>, lists: Lists) -> Option<Self> {
        let mut lengths = [0_usize; 5];
        for length in &mut lengths {
            *length = parts.u32()? as usize;
        }
        let [terms, length, skills, against, abbreviations] = lengths;
        if lists.len() != length {
            return None;
        }
        let terms = parts.bytes(terms.checked_mul(8)?)?.as_chunks::<8>().0;
        let terms: Vec<Term> = terms.iter().map(|term| Term(u64::from_le_bytes(*term))).collect();
        let ends = parts.bytes(terms.len().checked_mul(4)?)?.as_chunks::<4>().0;
        let ends = ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        let mut records = Vec::new();
        for _ in 0..skills {
            records.push(Record {
                key: Key(parts.array()?),
                body: parts.u64()?,
                length: parts.u32()?,
                piece_length: parts.u32()?,
                against_end: parts.u32()?,
                is_joined: parts.array::<1>()? != [0],
            });
        }
        let against = parts.bytes(against)?.to_vec();
        let mut shorts = Vec::new();
        for _ in 0..abbreviations {
            let skill = parts.u32()?;
            let short = Term(parts.u64()?);
            let [length] = parts.array::<1>()?;
            let long = (0..length).map(|_| parts.u64().map(Term)).collect::<Option<_>>()?;
            shorts.push((skill, Abbreviation { short, long }));
        }
        Some(Self { terms, ends, lists, skills: records, against, abbreviations: shorts })
    }

    /// Whether the parts fit each other. Lists are not unpacked for it: a number out of range is passed over where it is met.
    fn is_sound(&self) -> bool {
        let against = self.skills.iter().map(|record| record.against_end);
        self.terms.is_sorted()
            && self.ends.is_sorted()
            && self.ends.last().copied().unwrap_or_default() as usize == self.lists.len()
            && against.is_sorted()
            && self.skills.last().map_or(0, |record| record.against_end) as usize == self.against.len()
    }
}

/// The postings of all leaves, by term and then by skill. They are parted by the upper bits of their terms first, which are even, since
/// terms are hashes: sorting many short rows, each within the nearest cache, takes half the time of sorting a long one.
fn turned_round(leaves: &[Leaf]) -> Vec<(Term, Posting)> {
    /// Upper bits of a term that choose its row.
    const BITS: u32 = 12;
    let row = |term: Term| (term.0 >> (u64::BITS - BITS)) as usize;
    let mut next = vec![0_usize; (1 << BITS) + 1];
    let terms = |leaf: &Leaf, each: &mut dyn FnMut(Term)| {
        leaf.words.iter().for_each(|word| each(word.term));
        leaf.pieces.iter().for_each(|(term, _)| each(*term));
    };
    for leaf in leaves {
        terms(leaf, &mut |term| next[row(term) + 1] += 1);
    }
    let mut total = 0;
    for start in &mut next {
        total += *start;
        *start = total;
    }
    let nobody = Posting { skill: 0, count: 0, passages: 0 };
    let mut all = vec![(Term(0), nobody); total];
    for (skill, leaf) in (0_u32..).zip(leaves) {
        let mut put = |term: Term, count: u8, passages: u16| {
            let at = &mut next[row(term)];
            all[*at] = (term, Posting { skill, count, passages });
            *at += 1;
        };
        leaf.words.iter().for_each(|word| put(word.term, word.count, word.passages));
        leaf.pieces.iter().for_each(|(term, count)| put(*term, *count, 0));
    }
    // Now `next` says where each row ends.
    let mut start = 0;
    for end in next {
        all[start..end.max(start)].sort_unstable_by_key(|(term, posting)| (*term, posting.skill));
        start = end.max(start);
    }
    all
}

fn kind(term: Term) -> Kind {
    if term.is_piece() { Kind::Piece } else { Kind::Word }
}

#[cfg(test)]
mod tests {
    use super::{Lists, Segment, SegmentError, Shelf};
    use crate::anatomy::SkillText;
    use crate::leaf::{Key, Leaf};
    use proptest::prelude::*;
    use std::sync::Arc;

    #[derive(Debug)]
    struct InMemory(Vec<u8>);

    impl Shelf for InMemory {
        fn fetch(&self, from: usize, to: usize) -> Vec<u8> {
            self.0.get(from..to).unwrap_or_default().to_vec()
        }
    }

    fn leaf(number: u8, text: &str) -> Leaf {
        let description = "Reads a Wildly Important Goal (WIG). Not for taxes.";
        Leaf::new(
            Key([number; 16]),
            &SkillText { name: "n", description, body: text, ..SkillText::default() },
        )
    }

    fn segment(texts: &[&str]) -> Segment {
        Segment::new(texts.iter().zip(0..).map(|(text, number)| leaf(number, text)).collect())
    }

    #[test]
    fn a_segment_comes_back_from_its_bytes() {
        for segment in [segment(&["alpha beta", "beta gamma", "測試文件"]), Segment::default()] {
            let (bytes, lists) = segment.to_bytes();
            assert_eq!(Segment::from_bytes(&bytes, Lists::Here(lists.to_vec())).as_ref(), Ok(&segment));

            let shelf = Arc::new(InMemory(lists.to_vec()));
            let shelved = Lists::Shelved { shelf, length: lists.len() };
            let mut back = Segment::from_bytes(&bytes, shelved).unwrap();
            assert_eq!(back, segment);
            back.fetch();
            assert_eq!(back, segment);
        }
    }

    #[test]
    fn foreign_and_damaged_bytes_are_told_apart() {
        let segment = segment(&["alpha beta"]);
        let (bytes, lists) = segment.to_bytes();
        let here = || Lists::Here(lists.to_vec());
        assert_eq!(Segment::from_bytes(b"something else", here()), Err(SegmentError::Foreign));
        assert_eq!(Segment::from_bytes(&bytes[..bytes.len() - 1], here()), Err(SegmentError::Damaged));
        assert_eq!(Segment::from_bytes(&bytes, Lists::default()), Err(SegmentError::Damaged));
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(Segment::from_bytes(&longer, here()), Err(SegmentError::Damaged));
    }

    #[test]
    fn merging_gives_what_making_at_once_gives() {
        let texts = ["alpha beta", "beta gamma", "gamma 測試", "delta"];
        let (one, other) = (segment(&texts[..2]), Segment::new(vec![leaf(2, texts[2]), leaf(3, texts[3])]));
        assert_eq!(Segment::merge(&[&one, &other], |_, _| true), segment(&texts));
        let without = Segment::new(vec![leaf(0, texts[0]), leaf(2, texts[2]), leaf(3, texts[3])]);
        assert_eq!(Segment::merge(&[&one, &other], |at, skill| (at, skill) != (0, 1)), without);
    }

    proptest! {
        #[test]
        fn damage_is_never_more_than_an_error_or_a_wrong_count(at: prop::sample::Index, byte: u8) {
            let segment = segment(&["alpha beta", "beta gamma"]);
            let (mut bytes, lists) = segment.to_bytes();
            let mut lists = lists.to_vec();
            let at = at.index(bytes.len() + lists.len());
            if let Some(at) = at.checked_sub(bytes.len()) {
                lists[at] = byte;
            } else {
                bytes[at] = byte;
            }
            if let Ok(segment) = Segment::from_bytes(&bytes, Lists::Here(lists)) {
                let index = crate::Index::new(vec![segment]);
                let _ = index.rank(&crate::Request::new("beta"), 5, &mut crate::Desk::default());
            }
        }
    }
}
