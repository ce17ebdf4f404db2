//! Pieces of words: four letters at a time, so that `a11y-check` is found by `a11y checks` and `PostgreSQL` by `postgres`.

use crate::script::{Script, is_hiragana, script_of};
use crate::stop_word::is_stop_word;
use crate::term::Term;
use unicode_normalization::UnicodeNormalization;

/// Letters in a piece. Three meet by chance, five meet too rarely.
const LENGTH: usize = 4;

/// Longer words are not taken to pieces: they are no words.
const MAX_WORD: usize = 40;

/// Calls `each` with every piece of every word that is no function word: of a word its letters four by four, beginning and end
/// marked; of a script without blanks each character but hiragana.
pub(crate) fn grams(text: &str, mut each: impl FnMut(Term)) {
    if text.len() <= MAX_WORD && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return ascii_pieces(text.as_bytes(), each);
    }
    let mut word: Vec<char> = Vec::new();
    let mut bytes = Vec::new();
    let mut flush = |word: &mut Vec<char>, each: &mut dyn FnMut(Term)| {
        pieces(word, &mut bytes, each);
        word.clear();
    };
    for character in text.chars() {
        if !character.is_alphanumeric() {
            if character != '\'' && character != '’' {
                flush(&mut word, &mut each);
            }
        } else if script_of(character) == Script::Joined {
            flush(&mut word, &mut each);
            if !is_hiragana(character) {
                each(Term::character(character.encode_utf8(&mut [0; 4]).as_bytes()));
            }
        } else if character.is_ascii() {
            word.push(character.to_ascii_lowercase());
        } else {
            word.extend(character.nfkc().flat_map(char::to_lowercase));
        }
    }
    flush(&mut word, &mut each);
}

/// The same for a single word of ASCII, as nearly all are: a byte is a letter, and nothing is set aside for it.
fn ascii_pieces(word: &[u8], mut each: impl FnMut(Term)) {
    if word.is_empty() {
        return;
    }
    let mut marked = [b'_'; MAX_WORD + 2];
    let letters = &mut marked[1..=word.len()];
    letters.copy_from_slice(word);
    letters.make_ascii_lowercase();
    if is_stop_word(letters) {
        return;
    }
    let marked = &marked[..word.len() + 2];
    for piece in marked.windows(LENGTH.min(marked.len())) {
        each(Term::gram(piece));
    }
}

fn pieces(word: &[char], bytes: &mut Vec<u8>, each: &mut dyn FnMut(Term)) {
    if word.is_empty() || word.len() > MAX_WORD {
        return;
    }
    bytes.clear();
    extend(bytes, word);
    if is_stop_word(bytes) {
        return;
    }
    let marked = |at: usize| if at == 0 || at > word.len() { '_' } else { word[at - 1] };
    for start in 0..(word.len() + 2).saturating_sub(LENGTH - 1).max(1) {
        bytes.clear();
        for at in start..(start + LENGTH).min(word.len() + 2) {
            extend(bytes, &[marked(at)]);
        }
        each(Term::gram(bytes));
    }
}

fn extend(bytes: &mut Vec<u8>, characters: &[char]) {
    for character in characters {
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::grams;
    use crate::term::Term;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        grams(text, |term| found.push(term));
        let expected: Vec<_> = expected.iter().map(|gram| Term::gram(gram.as_bytes())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_come_apart_with_their_edges_marked() {
        check("Lint", &["_lin", "lint", "int_"]);
        check("a11y", &["_a11", "a11y", "11y_"]);
        check("go ci", &["_ci_"]);
        check("x", &["_x_"]);
    }

    #[test]
    fn characters_stand_for_themselves() {
        let mut found = Vec::new();
        grams("測る", |term| found.push(term));
        assert_eq!(found, [Term::character("測".as_bytes())]);
    }
}
