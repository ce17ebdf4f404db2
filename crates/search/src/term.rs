//! Words as numbers.

use crate::script::Script;

/// A word, a pair of characters or a piece of a word, as the index knows it: a hash of its bytes.
///
/// The index keeps no words: with 64 bits, two of a million meet once in 30 million libraries, and all that would come of it
/// is a wrong rank. What a person is shown is read from the skill's text again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(pub(crate) u64);

/// The kinds of terms lie in parts of their own, told apart by the upper two bits.
const KIND: u32 = 62;

impl Term {
    /// A word between blanks.
    pub(crate) fn word(bytes: &[u8]) -> Self {
        Self::new(0, bytes)
    }

    /// A pair of characters, or a single one, of a script without blanks.
    pub(crate) fn pair(bytes: &[u8]) -> Self {
        Self::new(1, bytes)
    }

    /// A piece of a word.
    pub(crate) fn gram(bytes: &[u8]) -> Self {
        Self::new(2, bytes)
    }

    /// A single character of a script without blanks, as a piece.
    pub(crate) fn character(bytes: &[u8]) -> Self {
        Self::new(3, bytes)
    }

    /// Whether it is a piece, not a word.
    pub(crate) const fn is_piece(self) -> bool {
        self.0 >> KIND >= 2
    }

    /// The script it is counted with.
    pub(crate) const fn script(self) -> Script {
        if self.0 >> KIND & 1 == 0 { Script::Spaced } else { Script::Joined }
    }

    fn new(kind: u64, bytes: &[u8]) -> Self {
        /// An odd number with its bits spread evenly: the golden ratio.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        // Eight bytes at a time, since most words have fewer. The length tells a word from one that ends with zeros.
        let (whole, rest) = bytes.as_chunks::<8>();
        let whole = whole.iter().map(|eight| u64::from_le_bytes(*eight));
        let rest = rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let mix = |hash: u64, part: u64| (hash ^ part).wrapping_mul(SPREAD).rotate_left(29);
        let hash = mix(whole.fold(bytes.len() as u64, mix), rest);
        // A product leaves its lower bits uneven; the last steps of MurmurHash3 even them out.
        let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        let hash = hash ^ hash >> 33;
        Self(kind << KIND | hash >> 2)
    }
}
