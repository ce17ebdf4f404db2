//! Words of running text, for rules that look for a meaning: the words before and after one, in the same sentence.
//!
//! Nothing is allocated and nothing is lower-cased: a rule looks for one rare word and reads on from there.

use crate::skill::Skill;
use metier_diagnostic::Span;

/// A word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Its first byte in the text it was taken from.
    pub(crate) at: usize,
    /// The word as written.
    pub(crate) text: &'a str,
}

impl Word<'_> {
    /// The byte behind it.
    pub(crate) fn end(self) -> usize {
        self.at + self.text.len()
    }

    /// Whether it is one of these, given in lower case and with a straight apostrophe.
    pub(crate) fn is_one_of(self, words: &[&str]) -> bool {
        words.iter().any(|word| is_same(self.text, word))
    }
}

fn is_same(written: &str, word: &str) -> bool {
    if written.is_ascii() {
        return written.eq_ignore_ascii_case(word);
    }
    let straight = |c: char| if c == '’' { '\'' } else { c.to_ascii_lowercase() };
    written.chars().map(straight).eq(word.chars())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '_')
}

/// What ends a sentence or a part of it that stands for itself. Emphasis and line breaks inside a paragraph do not.
fn is_stop(gap: &str) -> bool {
    gap.contains(['.', '!', '?', ':', ';', '|', '(', ')', '—', '❌', '✅']) || has_blank_line(gap)
}

/// A blank line, or a line that begins a list item or a heading. `* ` begins an item, `**` is emphasis.
fn has_blank_line(gap: &str) -> bool {
    let has_several = gap.matches('\n').count() > 1;
    gap.split('\n').skip(1).map(str::trim_start).any(|line| {
        (has_several && line.is_empty()) || line.starts_with(['-', '+', '#', '>']) || line.starts_with("* ")
    })
}

/// How words begin: for each first letter the second ones, as bits. Letters are told by their lower five bits, which are the same
/// in both cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginnings([u32; 32]);

impl Beginnings {
    const fn of(words: &[&str]) -> Self {
        let mut all = [0; 32];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            assert!(word.len() > 1, "a word of a single letter stands everywhere");
            all[(word[0] & 31) as usize] |= 1 << (word[1] & 31);
            at += 1;
        }
        Self(all)
    }

    /// These and others.
    pub(crate) const fn or(mut self, others: Self) -> Self {
        let mut at = 0;
        while at < self.0.len() {
            self.0[at] |= others.0[at];
            at += 1;
        }
        self
    }

    fn has(&self, first: u8, second: u8) -> bool {
        self.0[usize::from(first & 31)] >> (second & 31) & 1 != 0
    }
}

/// Some ASCII words in lower case, of two letters or more, to be looked for in texts.
pub(crate) struct Sought {
    words: &'static [&'static str],
    pub(crate) beginnings: Beginnings,
}

impl Sought {
    /// Makes the words ready.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        Self { words, beginnings: Beginnings::of(words) }
    }

    /// The places of the words in a text, in any case, where words of it that begin like them stand at these places.
    pub(crate) fn find<'a>(
        &'static self,
        text: &'a str,
        starts: &'a [u32],
    ) -> impl Iterator<Item = Word<'a>> {
        let bytes = text.as_bytes();
        let is_word = |at: usize| bytes.get(at).is_some_and(|byte| IS_WORD[usize::from(*byte)]);
        starts.iter().filter_map(move |at| {
            let at = *at as usize;
            let rest = bytes.get(at..)?;
            let [first, second, ..] = rest else { return None };
            if !self.beginnings.has(*first, *second) {
                return None;
            }
            let fits = |word: &&&str| {
                rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
                    && !is_word(at + word.len())
            };
            let word = self.words.iter().find(fits)?;
            Some(Word { at, text: text.get(at..at + word.len())? })
        })
    }
}

/// Where words of ASCII begin in a text that begin like one of these: every rule about words asks for it over every file, so it
/// is found once for all. Sixty-four bytes at a time are made bits of, since asking at each byte whether a word begins there is
/// a guess that processors lose.
pub(crate) fn word_starts(text: &str, like: &Beginnings) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = Vec::with_capacity(text.len() / 16);
    let mut before = 0;
    for (chunk, base) in bytes.chunks(64).zip((0u32..).step_by(64)) {
        let words =
            chunk.iter().rev().fold(0u64, |bits, byte| bits << 1 | u64::from(IS_WORD[usize::from(*byte)]));
        let mut begin = words & !(words << 1 | before);
        // Whether the last byte was of a word; the last chunk of a text is followed by none.
        before = words >> 63;
        while begin != 0 {
            let at = base + begin.trailing_zeros();
            if let Some([first, second]) = bytes.get(at as usize..).and_then(|rest| rest.first_chunk())
                && like.has(*first, *second)
            {
                starts.push(at);
            }
            begin &= begin - 1;
        }
    }
    starts
}

/// Which bytes a word of ASCII is made of. A table, because every byte of every file is asked for.
static IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

fn next_word(text: &str, from: usize) -> Option<Word<'_>> {
    let rest = text.get(from..)?;
    let start = from + rest.find(is_word)?;
    let rest = text.get(start..)?;
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    Some(Word { at: start, text: rest.get(..length)? })
}

/// The words that follow byte `from` in the same sentence.
pub(crate) fn after(text: &str, from: usize) -> impl Iterator<Item = Word<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let found = next_word(text, at)?;
        if is_stop(text.get(at..found.at)?) {
            return None;
        }
        at = found.end();
        Some(found)
    })
}

/// How many words back a sentence is read. People write shorter ones, and in a hostile file that is a single sentence
/// every word would otherwise be read once for each of the others.
const MAX_BACK: usize = 60;

/// The words that precede byte `until` in the same sentence, the nearest first.
pub(crate) fn before(text: &str, until: usize) -> impl Iterator<Item = Word<'_>> {
    let mut at = until;
    std::iter::from_fn(move || {
        let rest = text.get(..at)?;
        let head = rest.trim_end_matches(|c| !is_word(c));
        if head.is_empty() || is_stop(rest.get(head.len()..)?) {
            return None;
        }
        at = head.trim_end_matches(is_word).len();
        Some(Word { at, text: head.get(at..)? })
    })
    .take(MAX_BACK)
}

/// The end of a text, at most so many bytes of it.
pub(crate) fn last_bytes(text: &str, most: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or_default()
}

/// The beginning of a text, at most so many bytes of it.
pub(crate) fn first_bytes(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// Whether one of the words says "not": `don't`, `never`, `without`.
pub(crate) fn is_negation(word: Word<'_>) -> bool {
    word.is_one_of(&[
        "not",
        "never",
        "don't",
        "dont",
        "no",
        "cannot",
        "can't",
        "mustn't",
        "shouldn't",
        "won't",
        "doesn't",
        "didn't",
        "isn't",
        "without",
        "avoid",
        "nor",
        "neither",
        "refuse",
        "stop",
        "prevent",
        "forbidden",
    ])
}

/// Whether a place of a skill's file is a quotation or code: a skill about attacks quotes them.
pub(crate) fn is_quoted(skill: &Skill<'_>, start: usize, end: usize) -> bool {
    let markdown = &skill.markdown();
    let block = markdown.blocks.partition_point(|block| block.span.start as usize <= start);
    let block = block.checked_sub(1).and_then(|at| markdown.blocks.get(at)).map(|block| block.span);
    let code = markdown.codes.partition_point(|code| code.start as usize <= start);
    let code = code.checked_sub(1).and_then(|at| markdown.codes.get(at)).copied();
    if [block, code].into_iter().flatten().any(|span| span.contains(start)) {
        return true;
    }
    let behind = first_bytes(skill.source.get(end..).unwrap_or_default(), MAX_PARAGRAPH);
    let behind = behind.split("\n\n").next().unwrap_or_default();
    let ahead = last_bytes(skill.source.get(..start).unwrap_or_default(), MAX_PARAGRAPH);
    let ahead = ahead.rsplit("\n\n").next().unwrap_or_default();
    is_between_quotes(ahead, behind)
}

/// The phrases of a skill's file, but for quoted ones. `phrase` says where the one around a word begins and ends.
pub(crate) fn phrases(
    skill: &Skill<'_>,
    words: &'static Sought,
    phrase: fn(&str, Word<'_>) -> Option<(usize, usize)>,
) -> impl Iterator<Item = Span> {
    let found = words.find(skill.source, skill.word_starts());
    let found = found.filter_map(move |word| phrase(skill.source, word));
    found.filter(|(start, end)| !is_quoted(skill, *start, *end)).map(|(start, end)| Span::new(start, end))
}

/// How far a quotation may reach to be seen as one.
const MAX_PARAGRAPH: usize = 2_000;

/// Whether the text before leaves a quotation open that the text behind closes.
fn is_between_quotes(ahead: &str, behind: &str) -> bool {
    let odd = |mark: char| ahead.matches(mark).count() % 2 == 1 && behind.contains(mark);
    let open = |open: char, close: char| {
        ahead.rfind(open).is_some_and(|at| ahead.rfind(close).is_none_or(|closed| closed < at))
            && behind.contains(close)
    };
    // An apostrophe is a quote only where a word cannot go on before it.
    let single = ahead.rfind('\'').is_some_and(|at| {
        let before = ahead.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
    });
    odd('"')
        || open('“', '”')
        || open('«', '»')
        || open('„', '“')
        || open('「', '」')
        || (single && behind.contains('\''))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts<'a>(found: impl Iterator<Item = Word<'a>>) -> Vec<&'a str> {
        found.map(|word| word.text).collect()
    }

    #[test]
    fn a_sentence_is_read_in_both_directions_and_no_further() {
        let check = |text: &str, ahead: &[&str], behind: &[&str]| {
            let at = text.find("HERE").unwrap();
            assert_eq!(texts(before(text, at)), ahead, "before, in {text:?}");
            assert_eq!(texts(after(text, at + 4)), behind, "after, in {text:?}");
        };
        check("One. do **not** HERE the\nuser, ever. Two", &["not", "do"], &["the", "user", "ever"]);
        check("- a\n- don’t HERE\n- b", &["don’t"], &[]);
        check("a\n\nHERE\n\nb", &[], &[]);
        check("| x | HERE y | z |", &[], &["y"]);
        check("é HERE ü", &["é"], &["ü"]);
        check("# Title\nx HERE\n* y", &["x", "Title"], &[]);
    }

    #[test]
    fn words_are_found_whole_and_in_any_case() {
        static TELL: Sought = Sought::new(&["tell", "telling"]);
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(texts(TELL.find(text, &word_starts(text, &TELL.beginnings))), expect, "{text:?}");
        };
        check("Tell me, TELLING (tell)", &["Tell", "TELLING", "tell"]);
        check("retell tells tell_it é", &[]);
        check("—tell’s", &["tell"]);
        check("tell", &["tell"]);
        check("4%,, t", &[]);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!((last_bytes("aéé", 3), first_bytes("éaé", 1)), ("é", ""));
        assert_eq!((last_bytes("aé", 9), first_bytes("aé", 9)), ("aé", "aé"));
    }

    #[test]
    fn quotations_are_told_from_apostrophes() {
        let check = |text: &str, expect: bool| {
            let at = text.find("HERE").unwrap();
            assert_eq!(is_between_quotes(&text[..at], &text[at + 4..]), expect, "{text:?}");
        };
        check("such as \"x HERE y\"", true);
        check("such as “x HERE y”", true);
        check("e.g. 'x HERE y'", true);
        check("“a” HERE “b”", false);
        check("\"a\" HERE \"b\"", false);
        check("it's HERE it's", false);
        check("don't HERE", false);
    }

    static SHORT: Sought = Sought::new(&["ae", "be"]);

    proptest! {
        #[test]
        fn a_word_is_found_wherever_it_stands_whole(text in "[abeABE_4é ,]{0,200}") {
            let found: Vec<usize> = SHORT.find(&text, &word_starts(&text, &SHORT.beginnings)).map(|word| word.at).collect();
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let mut at = 0;
            let mut expect = Vec::new();
            for piece in text.split_inclusive(|c| !is_part(c)) {
                let word = piece.trim_end_matches(|c| !is_part(c));
                if ["ae", "be"].iter().any(|sought| word.eq_ignore_ascii_case(sought)) {
                    expect.push(at);
                }
                at += piece.len();
            }
            prop_assert_eq!(found, expect);
        }

        #[test]
        fn both_directions_give_words_of_the_text(text in "[a-zé’' .*\n—漢-]{0,60}", cut in 0usize..60) {
            let cut = text.floor_char_boundary(cut.min(text.len()));
            for word in after(&text, cut).chain(before(&text, cut)).chain(SHORT.find(&text, &word_starts(&text, &SHORT.beginnings))) {
                prop_assert_eq!(text.get(word.at..word.end()), Some(word.text));
            }
        }
    }
}
