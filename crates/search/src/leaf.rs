//! One skill, counted: what a segment is made of.

use crate::abbreviation::{Abbreviation, abbreviations};
use crate::anatomy::{Place, Reader, SkillText, beginning, take_apart};
use crate::gram::grams;
use crate::lexicon::Lexicon;
use crate::script::Script;
use crate::term::Term;
use crate::words::{Load, Word};

/// Passages of a body. With the head (name, title, description, tags) they are the 16 bits of a mask. Eight passages cost
/// a point of hit@1, thirty-two gain nothing that holds on other repositories.
const PASSAGES: usize = 15;

/// The shortest passage, in words. A request is a sentence or two; what answers it fits into this.
const PASSAGE: usize = 40;

/// Counts are kept in quarters, since a word in a block of code counts a quarter.
pub(crate) const QUARTERS: u32 = 4;

/// The most a count is kept as. It is saturated long before.
pub(crate) const MAX_COUNT: u8 = 127;

/// The most sentences of what a skill is not for, and words in each, that are kept: a page of exclusions excludes nothing.
const MAX_SENTENCES: usize = 64;
const MAX_SENTENCE: usize = 32;

/// More distinct pairs than this make a skill one that is written in a script without blanks, too; fewer are a quoted
/// phrase. Rarity in such a script is counted among these skills only.
const JOINED_PAIRS: usize = 20;

/// The key under which a skill's content is known: a digest of its bytes, made by whoever reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 16]);

/// A skill, counted.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub(crate) key: Key,
    /// Equal for skills with the same body, whatever their frontmatter says.
    pub(crate) body: u64,
    /// Words, each once, in the order in which they are met first.
    pub(crate) words: Vec<Counted>,
    /// Pieces of the words of name, title and description, by term.
    pub(crate) pieces: Vec<(Term, u8)>,
    /// The sum of all counts, in quarters.
    pub(crate) length: u32,
    /// How many pieces there are.
    pub(crate) piece_length: u32,
    /// Whether it counts among the skills of a script without blanks.
    pub(crate) is_joined: bool,
    /// Sentences of what it is not for, each as its distinct terms.
    pub(crate) against: Vec<Vec<Term>>,
    pub(crate) abbreviations: Vec<Abbreviation>,
}

/// A word of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) term: Term,
    /// How often, in quarters and weighted by place.
    pub(crate) count: u8,
    /// In which passages: bit 0 is the head.
    pub(crate) passages: u16,
}

/// What a word at a place counts, in quarters.
const fn quarters(place: Place) -> u32 {
    QUARTERS
        * match place {
            Place::Name => 5,
            Place::Title | Place::Description | Place::Tags => 3,
            Place::Heading => 2,
            Place::Body | Place::Script => 1,
            // What it is not for is no reason to offer it; it is asked sentence by sentence.
            Place::Against => 0,
            Place::Code => return 1,
        }
}

impl Leaf {
    /// Counts a skill that stands alone; many are counted faster by one [`Counter`].
    pub fn new(key: Key, skill: &SkillText<'_>) -> Self {
        Counter { lexicon: Lexicon::default(), sums: Sums::default() }.count(key, skill)
    }
}

/// Counts skills, one after another, and remembers the words that it met.
#[derive(Debug)]
pub struct Counter {
    lexicon: Lexicon,
    sums: Sums,
}

impl Default for Counter {
    fn default() -> Self {
        Self { lexicon: Lexicon::remembering(), sums: Sums::default() }
    }
}

impl Counter {
    /// Counts a skill.
    pub fn count(&mut self, key: Key, skill: &SkillText<'_>) -> Leaf {
        let mut heard = Heard::default();
        take_apart(skill, &mut self.lexicon, &mut heard);
        heard.finish(key, body_number(skill.body.trim().as_bytes()), &mut self.sums)
    }
}

/// Where the words of one skill are summed up, term by term.
#[derive(Debug, Default)]
struct Sums {
    /// The places in `all`, each by its term or in the next free slot behind; zero is free, so they are one too high.
    slots: Vec<u32>,
    all: Vec<Sum>,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    term: Term,
    quarters: u32,
    passages: u16,
}

impl Sums {
    /// Makes room for a skill of so many words: at most half of the slots are taken, so that a search ends soon.
    fn clear(&mut self, words: usize) {
        self.slots.clear();
        self.slots.resize((words * 2).next_power_of_two(), 0);
        self.all.clear();
    }

    fn add(&mut self, term: Term, quarters: u32, passages: u16) {
        let last = self.slots.len() - 1;
        // A term is a hash already; its lower bits are as good as any.
        let mut at = term.0 as usize & last;
        loop {
            let Some(place) = self.slots[at].checked_sub(1) else {
                self.all.push(Sum { term, quarters, passages });
                self.slots[at] = self.all.len() as u32;
                return;
            };
            let sum = &mut self.all[place as usize];
            if sum.term == term {
                sum.quarters += quarters;
                sum.passages |= passages;
                return;
            }
            at = (at + 1) & last;
        }
    }
}

/// A number by which equal bodies are known. Eight bytes at a time: a body is long.
fn body_number(body: &[u8]) -> u64 {
    /// An odd number with its bits spread evenly: the golden ratio.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = body.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().copied().chain([last, (body.len() as u64).to_le_bytes()]);
    words.fold(0, |number, word| (number ^ u64::from_le_bytes(word)).wrapping_mul(SPREAD).rotate_left(29))
}

/// What was heard of one skill.
#[derive(Default)]
struct Heard {
    /// Term, quarters and the passage's mask, one for each word outside the body's text.
    seen: Vec<(Term, u32, u16)>,
    /// The body's own words, in order: which passage they are in is known at the end.
    body: Vec<Term>,
    pieces: Vec<Term>,
    against: Vec<Vec<Term>>,
    abbreviations: Vec<Abbreviation>,
}

impl<'a> Reader<'a> for Heard {
    fn word(&mut self, place: Place, word: Word<'a>) {
        match place {
            Place::Body => return self.body.push(word.term),
            Place::Against => {
                if let Some(sentence) = self.against.last_mut()
                    && word.load == Load::Content
                    && sentence.len() < MAX_SENTENCE
                    && !sentence.contains(&word.term)
                {
                    sentence.push(word.term);
                }
                return;
            }
            _ => {}
        }
        let is_head = matches!(place, Place::Name | Place::Title | Place::Description | Place::Tags);
        self.seen.push((word.term, quarters(place), u16::from(is_head)));
        if matches!(place, Place::Name | Place::Title | Place::Description) {
            grams(word.written, |piece| {
                // A character of a script without blanks stands in two pairs, and is counted with the first.
                if piece.script() == Script::Spaced || self.pieces.last() != Some(&piece) {
                    self.pieces.push(piece);
                }
            });
        }
    }

    fn sentence_against(&mut self, _sentence: &'a str) {
        if self.against.len() < MAX_SENTENCES {
            self.against.push(Vec::new());
        }
    }

    fn text(&mut self, place: Place, text: &'a str) {
        if matches!(place, Place::Description | Place::Body) {
            abbreviations(beginning(text), &mut self.abbreviations);
        }
    }
}

impl Heard {
    fn finish(mut self, key: Key, body: u64, sums: &mut Sums) -> Leaf {
        sums.clear(self.seen.len() + self.body.len());
        for (term, quarters, passages) in self.seen {
            sums.add(term, quarters, passages);
        }
        let passage = self.body.len().div_ceil(PASSAGES).max(PASSAGE);
        for (number, words) in self.body.chunks(passage).enumerate() {
            let mask = 2_u16 << number.min(PASSAGES - 1);
            for term in words {
                sums.add(*term, QUARTERS, mask);
            }
        }
        let length = sums.all.iter().map(|sum| sum.quarters).sum();
        let counted = |sum: &Sum| {
            let count = u8::try_from(sum.quarters).unwrap_or(MAX_COUNT).min(MAX_COUNT);
            Counted { term: sum.term, count, passages: sum.passages }
        };
        let words: Vec<Counted> = sums.all.iter().map(counted).collect();
        let piece_length = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        self.pieces.sort_unstable();
        let pieces = self
            .pieces
            .chunk_by(PartialEq::eq)
            .map(|same| (same[0], u8::try_from(same.len()).unwrap_or(MAX_COUNT).min(MAX_COUNT)));
        let pieces = pieces.collect();
        let joined = words.iter().filter(|word| word.term.script() == Script::Joined).count();
        self.against.retain(|sentence| !sentence.is_empty());
        Leaf {
            key,
            body,
            words,
            pieces,
            length,
            piece_length,
            is_joined: joined > JOINED_PAIRS,
            against: self.against,
            abbreviations: self.abbreviations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Key, Leaf};
    use crate::anatomy::SkillText;
    use crate::term::Term;

    fn leaf(skill: &SkillText<'_>) -> Leaf {
        Leaf::new(Key([0; 16]), skill)
    }

    fn counted(leaf: &Leaf, stem: &str) -> Option<Counted> {
        leaf.words.iter().find(|word| word.term == Term::word(stem.as_bytes())).copied()
    }

    #[test]
    fn a_word_counts_by_where_it_stands() {
        let body = format!("{} zeta\n```\ncode\n```", "filler ".repeat(50));
        let skill = SkillText { name: "alpha", description: "beta", body: &body, ..SkillText::default() };
        let leaf = leaf(&skill);
        let check = |stem: &str, count: u8, passages: u16| {
            let found = counted(&leaf, stem).map(|word| (word.count, word.passages));
            assert_eq!(found, Some((count, passages)), "{stem}");
        };
        check("alpha", 20, 1);
        check("beta", 12, 1);
        check("zeta", 4, 0b100);
        check("code", 1, 0);
        check("fill", 127, 0b110);
    }

    #[test]
    fn equal_bodies_are_known_by_their_number() {
        let one = leaf(&SkillText { name: "a", body: "text\n", ..SkillText::default() });
        let other = leaf(&SkillText { name: "b", body: "\ntext", ..SkillText::default() });
        assert_eq!(one.body, other.body);
    }

    #[test]
    fn a_body_without_end_is_cut() {
        let body = "word ".repeat(200_000);
        let leaf = leaf(&SkillText { body: &body, ..SkillText::default() });
        assert_eq!(leaf.words.len(), 1);
        assert!(leaf.length < 300_000);
    }
}
