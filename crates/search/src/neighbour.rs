//! Which skills of a root a request could not tell apart, by what their names and descriptions say.
//!
//! A head is the set of the content words of a skill's name, description and the line that says when to use it, each with its
//! rarity. Two heads are as alike as the cosine of their words. Nobody compares each with each: skills meet in the bounded
//! list of a word they share, and only their rarest words have lists.

use crate::anatomy::{Place, Reader, SkillText, take_apart};
use crate::everyday::{everyday, wrapping};
use crate::lexicon::Lexicon;
use crate::script::Script;
use crate::term::Term;
use crate::words::{Load, Word, words};
use std::collections::HashMap;

/// How many skills one list holds. The first ones stay: what resembles a whole family resembles its first members.
const MAX_LIST: usize = 16;

/// How many words of a skill have lists. Two heads that are half alike share most of these.
const MAX_LISTS: usize = 12;

/// How many words of a head count. A longer description lists the world, and only costs time.
const MAX_WORDS: usize = 300;

/// Rarity is counted as if a root had at least so many skills: among three, a word that two of them share would weigh next
/// to nothing.
const MIN_SKILLS: usize = 30;

/// How much more alike two skills must be where the name of one of them tells it: a request for that one says its name, one
/// for the other may still be taken for it.
const FIRMER: f32 = 0.1;

/// In a smaller root nobody knows what is rare.
const MIN_ROOT: usize = 8;

/// A word that no more than this share of a root has is rare there, in hundredths.
const RARE: usize = 10;

/// With more rare words than this a head is about something, even when each of them is an everyday one.
const FEW: usize = 2;

/// The names and descriptions of the skills of a root.
#[derive(Debug)]
pub struct Heads<'a> {
    pub(crate) skills: Vec<SkillText<'a>>,
    pub(crate) all: Vec<Head<'a>>,
    /// How many heads have a word.
    counts: HashMap<Term, usize>,
}

/// The content words of a head, by term, each once and as it is first written.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    pub(crate) words: Vec<(Term, &'a str)>,
    /// Words of its name.
    name: Vec<Named>,
    /// The description in lower case: `opencode` of a name stands there as `OpenCode`, which is two words.
    text: String,
    /// Words of what it is not for.
    against: Vec<Term>,
}

/// A word of a name.
#[derive(Debug)]
struct Named {
    term: Term,
    /// In lower case.
    written: String,
    /// Whether the description has it, too.
    is_described: bool,
}

/// How well a skill's name tells it from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OwnName {
    /// It has no word that the other has not.
    None,
    /// A word that many skills have, such as `plan`.
    Everyday,
    /// A word that stands for what it is about, such as `android`.
    Telling,
    /// Such a word, and the other says that it is not for that.
    Ceded,
}

/// Two skills that are alike, as positions in the order they were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours<'a> {
    /// The later one.
    pub later: usize,
    /// The earlier one that it is most alike to.
    pub earlier: usize,
    /// From 0, no word in common, to 1, the same words.
    pub likeness: f32,
    /// How many words they share.
    pub common: usize,
    /// Those of them that a person can read, as the later one writes them, the rarest first. Pairs of characters are none.
    pub shared: Vec<&'a str>,
}

impl<'a> Heads<'a> {
    /// Reads names and descriptions; bodies are only read by [`Bodies`](crate::Bodies).
    pub fn new(skills: Vec<SkillText<'a>>) -> Self {
        let all: Vec<Head<'a>> = skills.iter().map(Head::new).collect();
        let mut counts = HashMap::new();
        for (term, _) in all.iter().flat_map(|head| &head.words) {
            *counts.entry(*term).or_insert(0) += 1;
        }
        Self { skills, all, counts }
    }

    /// For each skill the earlier one that it is most alike to, where that is at least `likeness` and `counts` says that the
    /// two may be a pair. Families with one skill for each product are no pairs: there the one differing word, which both name
    /// and description have, is the one that a request has, too.
    pub fn neighbours(&self, likeness: f32, counts: impl Fn(usize, usize) -> bool) -> Vec<Neighbours<'a>> {
        let lengths: Vec<f32> = self.all.iter().map(|head| self.length(head)).collect();
        let mut lists: HashMap<Term, Vec<usize>> = HashMap::new();
        // The skill with which each one was last compared, so that no two are compared twice.
        let mut compared_with = vec![usize::MAX; self.all.len()];
        let mut found = Vec::new();
        for (later, head) in self.all.iter().enumerate() {
            let mut best: Option<(f32, usize)> = None;
            for term in self.listed(head) {
                let list = lists.entry(term).or_default();
                for &earlier in list.iter() {
                    if std::mem::replace(&mut compared_with[earlier], later) == later {
                        continue;
                    }
                    let product: f32 =
                        shared(head, &self.all[earlier]).map(|(term, _)| self.rarity(term).powi(2)).sum();
                    let alike = product / (lengths[later] * lengths[earlier]);
                    let is_better = best.is_none_or(|(most, _)| alike > most);
                    let is_alike = alike >= likeness
                        && self.needed(likeness, later, earlier).is_some_and(|needed| alike >= needed);
                    if is_better && is_alike && counts(later, earlier) {
                        best = Some((alike, earlier));
                    }
                }
                if list.len() < MAX_LIST {
                    list.push(later);
                }
            }
            found.extend(best.map(|(likeness, earlier)| Neighbours {
                later,
                earlier,
                likeness,
                common: shared(head, &self.all[earlier]).count(),
                shared: self.shared_words(later, earlier),
            }));
        }
        found
    }

    /// Whether a head is so general that it fits everything: all of its words are everyday ones, and next to none of them is
    /// rare in this root.
    pub fn is_general(&self, skill: usize) -> bool {
        let Some(head) = self.all.get(skill).filter(|_| self.all.len() >= MIN_ROOT) else {
            return false;
        };
        let is_rare = |term: &Term| {
            let count = self.counts.get(term).copied().unwrap_or_default();
            // A word that nobody else has is rare in the smallest root.
            count <= 1 || count * 100 <= self.all.len() * RARE
        };
        let terms = || head.words.iter().map(|(term, _)| term);
        terms().all(|term| everyday().contains(term)) && terms().filter(|term| is_rare(term)).count() <= FEW
    }

    /// How alike two skills must be, given what their names tell; nothing where these tell enough.
    fn needed(&self, likeness: f32, one: usize, other: usize) -> Option<f32> {
        let (own, others) = (self.own_name(one, other), self.own_name(other, one));
        match (own.min(others), own.max(others)) {
            (OwnName::None, OwnName::Telling) => Some(likeness + FIRMER),
            (_, OwnName::Telling | OwnName::Ceded) => None,
            _ => Some(likeness),
        }
    }

    fn own_name(&self, skill: usize, other: usize) -> OwnName {
        let (head, other) = (&self.all[skill], &self.all[other]);
        let is_own = |named: &&Named| {
            // Versions do not tell: who asks for a thing seldom says which one.
            let has_letters = named.written.chars().any(char::is_alphabetic);
            let is_others = other.claims(named) || other.name.iter().any(|word| word.term == named.term);
            named.is_described && has_letters && !is_others
        };
        let own = head.name.iter().filter(is_own);
        let weigh = |named: &Named| {
            if everyday().contains(&named.term) {
                OwnName::Everyday
            } else if other.is_against(named.term) {
                OwnName::Ceded
            } else {
                OwnName::Telling
            }
        };
        own.map(weigh).max().unwrap_or(OwnName::None)
    }

    /// How much a word tells among these heads.
    pub(crate) fn rarity(&self, term: Term) -> f32 {
        rarity(self.counts.get(&term).copied().unwrap_or_default(), self.all.len())
    }

    fn length(&self, head: &Head<'_>) -> f32 {
        head.words.iter().map(|(term, _)| self.rarity(*term).powi(2)).sum::<f32>().sqrt()
    }

    /// The words by which a skill is looked up: the rarest of those that another one has, too.
    fn listed(&self, head: &Head<'_>) -> Vec<Term> {
        let count = |term: &Term| self.counts.get(term).copied().unwrap_or_default();
        let mut terms: Vec<Term> =
            head.words.iter().map(|(term, _)| *term).filter(|term| count(term) > 1).collect();
        terms.sort_by_key(|term| (count(term), *term));
        terms.truncate(MAX_LISTS);
        terms
    }

    fn shared_words(&self, later: usize, earlier: usize) -> Vec<&'a str> {
        let head = &self.all[later];
        let is_read =
            |(term, written): &(Term, &str)| term.script() == Script::Spaced && head.has_whole(written);
        let mut words: Vec<_> = shared(head, &self.all[earlier]).filter(is_read).collect();
        words.sort_by(|one, other| {
            self.rarity(other.0).total_cmp(&self.rarity(one.0)).then(one.1.cmp(other.1))
        });
        words.into_iter().map(|(_, written)| written).collect()
    }
}

/// How much a word tells that `count` of so many skills have.
pub(crate) fn rarity(count: usize, skills: usize) -> f32 {
    let (count, skills) = (count as f32, skills.max(MIN_SKILLS) as f32);
    (1.0 + (skills - count + 0.5) / (count + 0.5)).ln()
}

/// The words that two heads share, as the first writes them.
fn shared<'a, 'h>(one: &'h Head<'a>, other: &'h Head<'_>) -> impl Iterator<Item = (Term, &'a str)> + 'h {
    let mut at = 0;
    one.words.iter().copied().filter(move |(term, _)| {
        at += other.words[at..].partition_point(|(found, _)| found < term);
        other.words.get(at).is_some_and(|(found, _)| found == term)
    })
}

impl<'a> Head<'a> {
    fn new(skill: &SkillText<'a>) -> Self {
        let mut head = Self::default();
        take_apart(&SkillText { name: "", body: "", ..*skill }, &mut Lexicon::default(), &mut head);
        head.words.truncate(MAX_WORDS);
        head.text = format!("{} {}", skill.description, skill.when_to_use).to_lowercase();
        words(skill.name, |word| {
            let mut named =
                Named { term: word.term, written: word.written.to_lowercase(), is_described: false };
            let is_described = head.words.iter().any(|(term, _)| *term == word.term);
            named.is_described = is_described || head.text.contains(&named.written);
            head.name.push(named);
        });
        words(skill.name, |word| {
            head.words.extend((word.load == Load::Content).then_some((word.term, word.written)));
        });
        head.words.retain(|(term, _)| !wrapping().contains(term));
        // Stable, so that the first way of writing a word is the one that stays.
        head.words.sort_by_key(|(term, _)| *term);
        head.words.dedup_by_key(|(term, _)| *term);
        head.against.sort_unstable();
        head
    }

    /// Whether it has a word, in what it is for or in what it is not for.
    pub(crate) fn has(&self, term: Term) -> bool {
        self.words.binary_search_by_key(&term, |(found, _)| *found).is_ok() || self.is_against(term)
    }

    fn is_against(&self, term: Term) -> bool {
        self.against.binary_search(&term).is_ok()
    }

    /// Whether it claims a word of another one's name. What it says it is not for, it leaves to the other.
    fn claims(&self, named: &Named) -> bool {
        !self.is_against(named.term) && (self.has(named.term) || self.text.contains(&named.written))
    }

    /// Whether the description has a word as it is, not as a part of one such as `WebSocket`.
    fn has_whole(&self, written: &str) -> bool {
        let word = written.to_lowercase();
        let is_end = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
        self.text.match_indices(&word).any(|(at, found)| {
            is_end(self.text[..at].chars().next_back())
                && is_end(self.text[at + found.len()..].chars().next())
        })
    }
}

impl<'a> Reader<'a> for Head<'a> {
    fn word(&mut self, place: Place, word: Word<'a>) {
        if place == Place::Against {
            self.against.push(word.term);
        } else if word.load == Load::Content {
            self.words.push((word.term, word.written));
        }
    }

    fn sentence_against(&mut self, _sentence: &'a str) {}
}

#[cfg(test)]
mod tests {
    use super::{Heads, Neighbours};
    use crate::SkillText;

    fn heads<'a>(skills: &[(&'a str, &'a str)]) -> Heads<'a> {
        let text = |&(name, description): &(&'a str, &'a str)| SkillText {
            name,
            description,
            ..SkillText::default()
        };
        Heads::new(skills.iter().map(text).collect())
    }

    fn check(skills: &[(&str, &str)], expect: &[(usize, usize)]) {
        let found = heads(skills).neighbours(0.5, |_, _| true);
        let found: Vec<_> = found.iter().map(|pair| (pair.later, pair.earlier)).collect();
        assert_eq!(found, expect, "{skills:?}");
    }

    #[test]
    fn skills_that_say_the_same_in_another_order_are_neighbours() {
        let reader = ("invoice-reader", "Extracts amounts, dates and suppliers from invoices.");
        let intake = ("intake", "Use when suppliers send invoices: the amount and the date are extracted.");
        check(&[reader, intake], &[(1, 0)]);
        check(&[reader, ("pdf-forms", "Fills in forms of a PDF.")], &[]);
        check(&[reader, ("logs", "Mentions of suppliers in log files.")], &[]);
        check(&[], &[]);
        check(&[("", ""), ("", "")], &[]);
    }

    #[test]
    fn each_has_the_one_it_is_most_alike_to() {
        let skills = [
            ("", "Converts podcasts and lectures into transcripts with speakers."),
            ("", "Converts podcasts and lectures into transcripts with chapters and speakers."),
            ("", "Converts podcasts, lectures into transcripts, chapters, speakers."),
        ];
        check(&skills, &[(1, 0), (2, 1)]);
    }

    #[test]
    fn what_is_not_for_both_tells_them_apart() {
        let one =
            ("mermaid", "Draws and reviews Mermaid diagrams with legends and labels. Not for C4 models.");
        let other = ("c4", "Draws and reviews C4 diagrams with legends and labels, as Mermaid diagrams.");
        let silent = ("mermaid", "Draws and reviews Mermaid diagrams with legends and labels, C4 models.");
        check(&[one, other], &[]);
        check(&[silent, other], &[(1, 0)]);
    }

    #[test]
    fn a_family_is_told_by_the_word_that_differs() {
        let of = |name, product| -> (&str, String) {
            (name, format!("Builds plugins for {product}: manifest, hooks, marketplace, release."))
        };
        let products = [of("plugins-of-opencode", "OpenCode"), of("plugins-of-cursor", "Cursor")];
        let versions = [of("haproxy-3-3-8", "HAProxy 3.3.8"), of("haproxy-3-3-0", "HAProxy 3.3.0")];
        for (family, expect) in [(products, &[][..]), (versions, &[(1, 0)][..])] {
            let family: Vec<_> = family.iter().map(|(name, text)| (*name, text.as_str())).collect();
            check(&family, expect);
        }
    }

    #[test]
    fn shared_words_are_whole_ones_the_rarest_first() {
        let skills = [
            ("a", "Opens a WebSocket to the scanner and reads barcodes of parcels."),
            ("b", "Reads barcodes of parcels through a socket, a WebSocket of the scanner."),
            ("c", "Weighs parcels."),
        ];
        let found = heads(&skills).neighbours(0.5, |_, _| true);
        let [Neighbours { shared, common, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!(shared, &["Reads", "barcodes", "scanner", "socket", "parcels"]);
        assert_eq!(*common, 6, "`Web` counts and is not shown");
    }

    #[test]
    fn who_asks_may_say_no() {
        let skills = [("a", "Reads barcodes of parcels."), ("b", "Parcels: reads their barcodes.")];
        assert_eq!(heads(&skills).neighbours(0.5, |_, _| false), []);
    }

    #[test]
    fn a_head_of_everyday_words_is_general_where_others_have_them_too() {
        let mut skills = vec![("work", "Helps with all kinds of tasks."), ("pdf", "Helps with PDF tasks.")];
        assert!(!heads(&skills).is_general(0), "two skills are no measure");
        skills.extend([("x", "Helps with other kinds."); 6]);
        let heads = heads(&skills);
        assert!(heads.is_general(0));
        assert!(!heads.is_general(1));
        assert!(!heads.is_general(99));
    }

    #[test]
    fn the_work_for_many_skills_is_bounded() {
        use std::cell::Cell;
        const SKILLS: usize = 3_000;
        let skills = vec![("same", "Alpha, beta, gamma, delta, epsilon and zeta."); SKILLS];
        let asked = Cell::new(0);
        let found = heads(&skills).neighbours(0.5, |_, _| {
            asked.set(asked.get() + 1);
            false
        });
        assert_eq!(found, []);
        // All are alike, and each meets no more than its lists hold.
        let most = SKILLS * super::MAX_LIST * super::MAX_LISTS;
        assert!(asked.get() > SKILLS && asked.get() <= most, "{}", asked.get());
    }

    proptest::proptest! {
        #[test]
        fn any_heads_are_compared_without_harm(texts in proptest::collection::vec("[a-eA-E的是 .-]{0,40}", 0..12)) {
            let skills: Vec<_> = texts.iter().map(|text| (text.as_str(), text.as_str())).collect();
            let heads = heads(&skills);
            for pair in heads.neighbours(0.1, |_, _| true) {
                assert!(pair.earlier < pair.later && pair.likeness >= 0.1 && pair.likeness < 1.001, "{pair:?}");
                assert!(pair.shared.len() <= pair.common);
            }
        }
    }
}
