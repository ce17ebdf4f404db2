//! A text taken apart into words.
//!
//! Letters and digits make words, everything else parts them; `camelCase` is two words, an apostrophe is dropped. Where a
//! script has no blanks, every two neighbouring characters are a word. Upper case, full-width forms and ligatures are
//! evened out (NFKC), then English endings are taken off.

use crate::lexicon::{Lexicon, Written};
use crate::script::{Script, is_hiragana, script_of};
use crate::stem::stem;
use crate::stop_word::is_stop_word;
use crate::term::Term;
use unicode_normalization::UnicodeNormalization;

/// A longer run of letters and digits is a digest, a key or a picture, not a word.
const MAX_WORD: usize = 40;

/// One word of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    /// What the index knows it as.
    pub(crate) term: Term,
    /// How it is written in the text.
    pub(crate) written: &'a str,
    /// How much it says.
    pub(crate) load: Load,
}

/// How much a word says by itself, before it is known how many skills have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// It may be what the text is about.
    Content,
    /// A pair of hiragana: mostly an ending.
    Ending,
    /// A function word.
    Function,
}

/// Calls `each` with every word, in order.
pub(crate) fn words<'a>(text: &'a str, each: impl FnMut(Word<'a>)) {
    Lexicon::default().words(text, each);
}

impl Lexicon {
    /// The same, with what is remembered of earlier texts.
    pub(crate) fn words<'a>(&mut self, text: &'a str, mut each: impl FnMut(Word<'a>)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if CLASSES[usize::from(byte)] != Class::Other {
                at = ascii_word(text, at, self, &mut each);
            } else if byte.is_ascii() {
                at += 1;
            } else {
                at = other_word(text, at, &mut self.buffer, &mut each);
            }
        }
    }
}

/// What a byte is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It parts words.
    Other,
    Lower,
    Upper,
    Digit,
}

/// The class of every byte: each byte of a library is asked for.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Reads a word that begins with an ASCII letter or digit; most texts are made of these. Returns where it ends.
fn ascii_word<'a>(
    text: &'a str,
    start: usize,
    lexicon: &mut Lexicon,
    each: &mut impl FnMut(Word<'a>),
) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut before) = (start, Class::Other);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class == Class::Other || (class == Class::Upper && before == Class::Lower) {
            break;
        }
        before = class;
        at += 1;
    }
    if bytes.get(at).is_some_and(|next| *next == b'\'' || !next.is_ascii()) {
        return mixed_word(text, start, &mut lexicon.buffer, each);
    }
    let key = Written::of(bytes, start, at);
    if let Some((term, load)) = key.and_then(|key| lexicon.recall(key)) {
        each(Word { term, written: &text[start..at], load });
        return at;
    }
    let buffer = &mut lexicon.buffer;
    buffer.clear();
    buffer.extend_from_slice(&bytes[start..at]);
    buffer.make_ascii_lowercase();
    if let Some((term, load)) = known_as(buffer) {
        if let Some(key) = key {
            lexicon.remember(key, term, load);
        }
        each(Word { term, written: &text[start..at], load });
    }
    at
}

/// The same for a word behind which an apostrophe or something that is not ASCII stands: it may go on there.
fn mixed_word<'a>(
    text: &'a str,
    start: usize,
    buffer: &mut Vec<u8>,
    each: &mut impl FnMut(Word<'a>),
) -> usize {
    let bytes = text.as_bytes();
    buffer.clear();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            if byte.is_ascii_uppercase() && at > start && bytes[at - 1].is_ascii_lowercase() {
                break;
            }
            buffer.push(byte.to_ascii_lowercase());
        } else if byte == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) {
            // `don't` is one word, and `'quoted'` is not.
        } else if byte.is_ascii() || is_apostrophe(text, at) {
            break;
        } else {
            let next = text[at..].chars().next().unwrap_or_default();
            // An accent makes it a word for the long way; a Chinese character begins another word.
            if next.is_alphanumeric() && script_of(next) == Script::Spaced {
                return other_word(text, start, buffer, each);
            }
            break;
        }
        at += 1;
    }
    emit(&text[start..at], buffer, each);
    at.max(start + 1)
}

fn is_apostrophe(text: &str, at: usize) -> bool {
    text.as_bytes()[at..].starts_with("’".as_bytes())
}

fn emit<'a>(written: &'a str, buffer: &mut Vec<u8>, each: &mut impl FnMut(Word<'a>)) {
    if let Some((term, load)) = known_as(buffer) {
        each(Word { term, written, load });
    }
}

/// What the index knows a word in lower case as; `None` for what is no word.
fn known_as(word: &mut Vec<u8>) -> Option<(Term, Load)> {
    if word.is_empty() || word.len() > MAX_WORD {
        return None;
    }
    let load = if is_stop_word(word) { Load::Function } else { Load::Content };
    stem(word);
    Some((Term::word(word), load))
}

/// Reads a run of letters and digits of any script.
fn other_word<'a>(
    text: &'a str,
    start: usize,
    buffer: &mut Vec<u8>,
    each: &mut impl FnMut(Word<'a>),
) -> usize {
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else { return text.len() };
    if !first.is_alphanumeric() {
        return start + first.len_utf8();
    }
    let script = script_of(first);
    let belongs = |next: char| next.is_alphanumeric() && script_of(next) == script;
    let end = start + rest.find(|next| !belongs(next)).unwrap_or(rest.len());
    let run = &text[start..end];
    match script {
        Script::Spaced => {
            buffer.clear();
            for character in run.nfkc().flat_map(char::to_lowercase) {
                buffer.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            emit(run, buffer, each);
        }
        Script::Joined => pairs(run, buffer, each),
    }
    end
}

fn pairs<'a>(run: &'a str, buffer: &mut Vec<u8>, each: &mut impl FnMut(Word<'a>)) {
    let mut starts = run.char_indices().peekable();
    let mut count = 0;
    while let Some((at, character)) = starts.next() {
        let next = starts.peek().map(|&(_, next)| next);
        if next.is_none() && count > 0 {
            return;
        }
        count += 1;
        let end = at + character.len_utf8() + next.map_or(0, char::len_utf8);
        let written = &run[at..end];
        buffer.clear();
        for part in written.nfkc() {
            buffer.extend_from_slice(part.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let load = if written.chars().all(is_hiragana) { Load::Ending } else { Load::Content };
        each(Word { term: Term::pair(buffer), written, load });
    }
}

#[cfg(test)]
mod tests {
    use super::{Load, words};
    use crate::term::Term;

    fn check(text: &str, expected: &[&str]) {
        let mut written = Vec::new();
        words(text, |word| written.push(word.written));
        assert_eq!(written, expected, "{text}");
    }

    #[test]
    fn words_are_parted_by_what_is_no_letter() {
        check("Review my_code, e.g. src/main.rs!", &["Review", "my", "code", "e", "g", "src", "main", "rs"]);
        check("openAPI fetchUserData HTTPServer", &["open", "API", "fetch", "User", "Data", "HTTPServer"]);
        check("don't 'quote' it", &["don't", "quote", "it"]);
        check("", &[]);
        check("…—·", &[]);
    }

    #[test]
    fn scripts_without_blanks_give_pairs() {
        check("帮我写测试", &["帮我", "我写", "写测", "测试"]);
        check("用 PDF 吧", &["用", "PDF", "吧"]);
        check("PDF文件", &["PDF", "文件"]);
        check("naïve café", &["naïve", "café"]);
    }

    #[test]
    fn forms_of_writing_are_one_term() {
        let term = |text: &str| {
            let mut found = Vec::new();
            words(text, |word| found.push(word.term));
            found
        };
        assert_eq!(term("ＡＰＩ"), term("api"));
        assert_eq!(term("Reviews"), term("reviewing"));
        assert_eq!(term("ﬁle"), term("file"));
        assert_ne!(term("file"), vec![Term::gram(b"file")]);
    }

    #[test]
    fn endings_and_function_words_are_told() {
        let mut loads = Vec::new();
        words("the 診断して", |word| loads.push(word.load));
        assert_eq!(loads, [Load::Function, Load::Content, Load::Content, Load::Ending]);
    }

    #[test]
    fn what_is_no_word_is_left_out() {
        check(&"f".repeat(64), &[]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_apart_into_pieces_of_itself(text in "\\PC{0,80}") {
            let mut last = text.as_ptr() as usize;
            words(&text, |word| {
                let at = word.written.as_ptr() as usize;
                assert!(at >= last && !word.written.is_empty());
                last = at;
            });
        }
    }
}
