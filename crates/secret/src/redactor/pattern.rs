//! From the shapes of a secret to the words that are looked for.
//!
//! Line ends are not part of any word, since programs break lines where they like; the scan passes over them. A long shape
//! is looked for in pieces that overlap: each stands for itself when only a part is printed, and what has to be held back
//! stays short.

use std::collections::BTreeSet;

use crate::Secret;
use crate::encoding::{Form, encoded, plain};

/// How many bytes of a word have to be there before a line end may be in the middle of it. With fewer, every line that ends
/// with the first letter of a secret would be held back until the next one comes.
pub(super) const BEFORE_BREAK: usize = 4;

/// A shape of this length is looked for as a whole, a longer one in pieces of half to all of it.
const MAX_WHOLE: usize = 64;

/// By how much pieces overlap. At least [`BEFORE_BREAK`], so that a line end between two of them is inside one.
const OVERLAP: usize = 8;

/// The shortest word that is not the plain value. Six digits of base64 are there by chance once in 70 billion places.
const MIN_WORD: usize = 6;

/// The shortest rest of a word that is looked for when its first letters may stand at the end of the line before.
const MIN_REST: usize = 8;

/// How much of a word is needed to recognise a digit at its edge.
const BESIDE_EDGE: usize = 8;

/// All words for one secret, each once, in a fixed order.
pub(super) fn patterns(secret: &Secret) -> BTreeSet<Vec<u8>> {
    let mut words = BTreeSet::new();
    for form in plain(secret.expose()) {
        add(&form, crate::secret::MIN_SECRET, &mut words);
    }
    for form in encoded(secret.expose()) {
        add(&form, MIN_WORD, &mut words);
    }
    words
}

fn add(form: &Form, shortest: usize, words: &mut BTreeSet<Vec<u8>>) {
    let bytes = unbroken(&form.bytes);
    if bytes.len() < shortest {
        return;
    }
    for skipped in 1..BEFORE_BREAK {
        // The rest of a word whose first letters stand before a line end. The digits at an edge count as letters.
        let rest = bytes.get(skipped..).map(trimmed).filter(|rest| rest.len() >= MIN_REST);
        if let Some(rest) = rest {
            words.insert(rest[..rest.len().min(MAX_WHOLE)].to_vec());
        }
    }
    for front in &form.edges.front {
        words.insert([&[*front], &bytes[..bytes.len().min(BESIDE_EDGE)]].concat());
    }
    for back in &form.edges.back {
        words.insert([&bytes[bytes.len().saturating_sub(BESIDE_EDGE)..], &[*back]].concat());
    }
    for piece in pieces(&bytes) {
        words.insert(piece.to_vec());
    }
}

/// A shape without line ends and without blanks around it. Where a line end comes within the first few bytes, what stands
/// before it is left out: a bracket, in what people keep.
fn unbroken(bytes: &[u8]) -> Vec<u8> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut rest = trimmed(bytes);
    while let Some(at) = rest.iter().take(BEFORE_BREAK).position(is_end) {
        rest = trimmed(&rest[at..]);
    }
    rest.iter().copied().filter(|byte| !is_end(byte)).collect()
}

/// Without blanks and line ends at both ends: the scan passes over blanks after a line end, so no word may begin with one.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let is_seen = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    match (bytes.iter().position(is_seen), bytes.iter().rposition(is_seen)) {
        (Some(from), Some(to)) => &bytes[from..=to],
        _ => &[],
    }
}

/// A long word in overlapping pieces of about the same length.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    if bytes.len() <= MAX_WHOLE {
        return vec![bytes];
    }
    let count = (bytes.len() - OVERLAP).div_ceil(MAX_WHOLE - OVERLAP);
    let step = (bytes.len() - OVERLAP).div_ceil(count);
    (0..count)
        .map(|index| {
            let from = index * step;
            let piece = &bytes[from.min(bytes.len())..(from + step + OVERLAP).min(bytes.len())];
            // A piece is a word, too, and no word begins with a blank; what is cut off is in the piece before.
            trimmed(piece)
        })
        .filter(|piece| !piece.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_overlap_and_leave_nothing_out() {
        let bytes = vec![b'x'; 3000];
        for length in [1, 63, 64, 65, 120, 121, 500, 3000] {
            let pieces = pieces(&bytes[..length]);
            let mut end = 0;
            for piece in &pieces {
                let from = piece.as_ptr().addr() - bytes.as_ptr().addr();
                assert!(end == 0 || from + BEFORE_BREAK <= end, "{length}");
                assert!(
                    piece.len() <= MAX_WHOLE && (pieces.len() == 1 || piece.len() >= MAX_WHOLE / 2),
                    "{length}"
                );
                end = from + piece.len();
            }
            assert_eq!(end, length);
        }
    }

    #[test]
    fn words_have_no_line_ends_and_begin_with_something_to_see() {
        for (shape, word) in [
            ("one\ntwo\r\nthree\nfour", "threefour"),
            ("  \n{\n  \"key\": 1\n}\n", "\"key\": 1}"),
            ("four\nfive ", "fourfive"),
            (" a b ", "a b"),
            ("\n\n", ""),
        ] {
            assert_eq!(unbroken(shape.as_bytes()), word.as_bytes(), "{shape:?}");
        }
    }

    #[test]
    fn the_number_of_words_stays_in_bounds() {
        for (length, most) in [(8, 600), (40, 900), (2000, 4000)] {
            let secret: String =
                (0..length).map(|at| char::from(b'!' + u8::try_from(at * 7 % 90).unwrap())).collect();
            let words = patterns(&Secret::new(secret).unwrap());
            assert!(words.len() < most, "{length}: {}", words.len());
        }
    }
}
