//! Words that were met before, and what they are to the index.
//!
//! Of the words of a library nine in ten were met shortly before. Lower case, endings and the hash are made once for them, and found
//! again by how the word is written.

use crate::term::Term;
use crate::words::Load;

/// The longest word that is remembered, in bytes: one number holds it. Longer ones are rare, and are worked out each time.
const MAX_WORD: usize = 16;

/// Slots, a power of two. Together they stay within the cache of one core; a word whose slot another one took is worked out again.
const SLOTS: usize = 1 << 13;

/// A word as it is written, as one number; never zero, since no word has a zero byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written(u128);

impl Written {
    /// The word between two places of a text; `None` where it is too long to be remembered.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let length = end - start;
        if length == 0 || length > MAX_WORD {
            return None;
        }
        // Sixteen bytes at once wherever the text has them; what stands behind the word is masked away.
        let number = if let Some(chunk) = text[start..].first_chunk::<MAX_WORD>() {
            u128::from_le_bytes(*chunk) & (u128::MAX >> (8 * (MAX_WORD - length)))
        } else {
            let mut chunk = [0; MAX_WORD];
            chunk[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(chunk)
        };
        Some(Self(number))
    }

    fn slot(self) -> usize {
        /// An odd number with its bits spread evenly: the golden ratio.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let mixed = (low ^ high.rotate_left(32).wrapping_mul(SPREAD)).wrapping_mul(SPREAD);
        (mixed >> (64 - SLOTS.trailing_zeros())) as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    written: Written,
    term: Term,
    load: Load,
}

/// See the module. One that remembers nothing is for a text that stands alone: clearing the slots costs more than reading a page.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    slots: Vec<Slot>,
    /// Where a word is worked out.
    pub(crate) buffer: Vec<u8>,
}

impl Lexicon {
    /// One that remembers, for many texts.
    pub(crate) fn remembering() -> Self {
        let free = Slot { written: Written::default(), term: Term(0), load: Load::Content };
        Self { slots: vec![free; SLOTS], buffer: Vec::new() }
    }

    /// What a word is, if it was met before.
    #[inline]
    pub(crate) fn recall(&self, written: Written) -> Option<(Term, Load)> {
        let slot = self.slots.get(written.slot())?;
        (slot.written == written).then_some((slot.term, slot.load))
    }

    pub(crate) fn remember(&mut self, written: Written, term: Term, load: Load) {
        if let Some(slot) = self.slots.get_mut(written.slot()) {
            *slot = Slot { written, term, load };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lexicon, Written};
    use crate::words::{Load, words};

    #[test]
    fn a_word_is_the_same_number_wherever_it_stands() {
        let all = b"lint the linter and the lint";
        assert_eq!(Written::of(all, 5, 8), Written::of(all, 20, 23));
        assert_eq!(Written::of(all, 0, 4), Written::of(all, 24, 28));
        assert_ne!(Written::of(all, 0, 4), Written::of(all, 9, 15));
        assert_eq!(Written::of(b"seventeen-letters", 0, 17), None);
    }

    proptest::proptest! {
        #[test]
        fn remembering_changes_no_word(texts in proptest::collection::vec("([a-cA-C'é測 ]{0,12}|\\PC{0,40})", 1..20)) {
            let mut lexicon = Lexicon::remembering();
            for text in &texts {
                let (mut anew, mut recalled) = (Vec::new(), Vec::new());
                words(text, |word| anew.push((word.term, word.written, word.load == Load::Function)));
                lexicon.words(text, |word| recalled.push((word.term, word.written, word.load == Load::Function)));
                assert_eq!(anew, recalled);
            }
        }
    }
}
