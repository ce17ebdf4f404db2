//! Which skills have a term, packed.
//!
//! A list is a row of skills in rising order, each as its distance from the one before. Behind it stands, for a word, how often and
//! in which passages. Two of three words stand in one passage and nowhere else: they take one byte. For a piece the lowest bit of
//! the distance says whether a count follows.

use crate::bytes::{put, take};
use crate::leaf::MAX_COUNT;

/// One skill in the list of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) skill: u32,
    pub(crate) count: u8,
    pub(crate) passages: u16,
}

/// What a list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Piece,
}

/// The counts that the short form can say, in quarters.
const SHORT: [u8; 8] = [1, 2, 3, 4, 8, 12, 16, 24];

/// Marks the long form.
const LONG: u8 = 0x80;

/// Packs a list, its length first.
pub(crate) fn pack(kind: Kind, postings: &[Posting], bytes: &mut Vec<u8>) {
    put(bytes, u32::try_from(postings.len()).unwrap_or(u32::MAX));
    let mut last = 0;
    for &posting in postings {
        let distance = posting.skill - last;
        last = posting.skill;
        match kind {
            Kind::Word => {
                put(bytes, distance);
                let short = SHORT.iter().position(|count| *count == posting.count);
                if let (Some(short), 1) = (short, posting.passages.count_ones()) {
                    bytes.push((short as u8) << 4 | posting.passages.trailing_zeros() as u8);
                } else {
                    bytes.push(LONG | posting.count.min(MAX_COUNT));
                    bytes.extend_from_slice(&posting.passages.to_le_bytes());
                }
            }
            Kind::Piece => {
                put(bytes, distance << 1 | u32::from(posting.count > 1));
                if posting.count > 1 {
                    bytes.push(posting.count);
                }
            }
        }
    }
}

/// How many skills are in a list.
pub(crate) fn count(bytes: &[u8]) -> u32 {
    take(bytes, &mut 0)
}

/// Calls `each` with every skill of a list.
#[inline]
pub(crate) fn unpack(kind: Kind, bytes: &[u8], mut each: impl FnMut(Posting)) {
    let (mut at, mut skill) = (0, 0_u32);
    take(bytes, &mut at);
    let byte = |at: &mut usize| {
        let byte = bytes.get(*at).copied().unwrap_or_default();
        *at += 1;
        byte
    };
    while at < bytes.len() {
        let number = take(bytes, &mut at);
        let (count, passages);
        match kind {
            Kind::Word => {
                skill = skill.wrapping_add(number);
                let form = byte(&mut at);
                if form & LONG == 0 {
                    count = SHORT[usize::from(form >> 4 & 7)];
                    passages = 1 << (form & 15);
                } else {
                    count = form & !LONG;
                    passages = u16::from_le_bytes([byte(&mut at), byte(&mut at)]);
                }
            }
            Kind::Piece => {
                skill = skill.wrapping_add(number >> 1);
                count = if number & 1 == 1 { byte(&mut at) } else { 1 };
                passages = 0;
            }
        }
        each(Posting { skill, count, passages });
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Posting, pack, unpack};
    use proptest::prelude::*;

    fn list() -> impl Strategy<Value = Vec<(u32, u8, u16)>> {
        proptest::collection::vec((0_u32..3_000, 1_u8..=127, any::<u16>()), 0..50)
    }

    proptest! {
        #[test]
        fn lists_come_back(list in list()) {
            let mut skill = 0;
            let words: Vec<_> = list
                .iter()
                .map(|(distance, count, passages)| {
                    skill += distance + 1;
                    Posting { skill, count: *count, passages: *passages }
                })
                .collect();
            let pieces = words.iter().map(|posting| Posting { passages: 0, ..*posting }).collect();
            for (kind, postings) in [(Kind::Word, words), (Kind::Piece, pieces)] {
                let (mut bytes, mut back) = (Vec::new(), Vec::new());
                pack(kind, &postings, &mut bytes);
                unpack(kind, &bytes, |posting| back.push(posting));
                prop_assert_eq!(super::count(&bytes) as usize, postings.len());
                prop_assert_eq!(back, postings);
            }
        }

        #[test]
        fn any_bytes_are_unpacked_without_harm(bytes: Vec<u8>) {
            for kind in [Kind::Word, Kind::Piece] {
                let mut postings = Vec::new();
                unpack(kind, &bytes, |posting| postings.push(posting));
                prop_assert!(postings.len() <= bytes.len());
            }
        }
    }

    #[test]
    fn the_usual_word_takes_two_bytes() {
        let mut bytes = Vec::new();
        pack(Kind::Word, &[Posting { skill: 7, count: 4, passages: 0b1000 }], &mut bytes);
        assert_eq!(bytes.len(), 1 + 2);
    }
}
