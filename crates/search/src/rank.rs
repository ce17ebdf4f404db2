//! From a request to the skills that fit it.
//!
//! A score has five parts, each of which a person can be told: how rare the shared words are and how often they stand in the skill
//! (words weighted by place), how much of the request one passage answers, how many pieces of words the name and description
//! share, and which share of the request's weight the whole skill and its head cover.

use crate::index::{Index, Learned, Part};
use crate::leaf::{Key, QUARTERS};
use crate::posting::Posting;
use crate::request::{Asked, Request};
use crate::script::Script;
use crate::segment::List;
use crate::term::Term;
use crate::verdict::{Abstain, abstain};
use crate::weights as by;
use crate::words::Load;
use std::cmp::Ordering;

/// Passages, and the head.
const BLOCKS: usize = 16;

/// How many more than asked for are looked at, since copies fall away.
const COPIES: usize = 64;

/// What a request found.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The skills, best first, copies under the first of them.
    pub hits: Vec<Hit>,
    /// Why none of them should be taken without asking.
    pub abstain: Option<Abstain>,
}

/// One skill that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its content.
    pub key: Key,
    /// How well it fits, beside others of the same request.
    pub score: f32,
    /// What the score is made of.
    pub parts: Parts,
    /// Others with the same body.
    pub copies: Vec<Key>,
}

/// What a score is made of, each part as it was found, before its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Shared words, by rarity and place.
    pub words: f32,
    /// The weight of the request's words in the best passage.
    pub passage: f32,
    /// Shared pieces of words in name, title and description.
    pub pieces: f32,
    /// The share of the request that the skill has anywhere, from 0 to 1.
    pub covered: f32,
    /// The share of it that its name, title, description and tags have.
    pub covered_by_head: f32,
    /// The weight of the request's words in the sentence that says most plainly that it is not for this.
    pub against: f32,
    /// The weight of what the request says it is not about, in the skill's head.
    pub denied: f32,
}

/// Room to work in, kept from one request to the next so that none has to make it anew.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    sums: Vec<Sums>,
    /// Apart from the sums: most of what is added up are pieces, and they fit into the processor's own memory so.
    pieces: Vec<f32>,
    blocks: Vec<[f32; BLOCKS]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    words: f32,
    covered: f32,
    head: f32,
}

/// A word of the request with what it weighs in this index.
struct Weighed {
    term: Term,
    weight: f32,
    is_said: bool,
}

impl Index {
    /// Ranks the skills for a request and gives the `limit` best.
    pub fn rank(&self, request: &Request, limit: usize, desk: &mut Desk) -> Ranking {
        desk.clear(self);
        let weighed = self.weigh(request, desk);
        self.sum_pieces(request, desk);
        let said: f32 = weighed.iter().filter(|word| word.is_said).map(|word| word.weight).sum();
        let mut found: Vec<(f32, u32)> = Vec::with_capacity(desk.sums.len());
        for skill in (0_u32..).take(desk.sums.len()) {
            let parts = desk.parts(skill, said);
            let score = score(&parts);
            if score > 0.0 {
                found.push((score, skill));
            }
        }
        let better = |one: &(f32, u32), other: &(f32, u32)| {
            other.0.partial_cmp(&one.0).unwrap_or(Ordering::Equal).then(one.1.cmp(&other.1))
        };
        let wanted = limit.max(2).saturating_add(COPIES);
        if found.len() > wanted {
            found.select_nth_unstable_by(wanted, better);
            found.truncate(wanted);
        }
        found.sort_unstable_by(better);
        let mut hits: Vec<Hit> = Vec::new();
        let mut bodies: Vec<u64> = Vec::new();
        for (score, skill) in found {
            let Some((part, at)) = self.part_of(skill) else { continue };
            let record = &part.segment.skills[at as usize];
            // An empty body is nobody's copy.
            let same = bodies.iter().position(|body| *body == record.body);
            if let Some(first) = same {
                hits[first].copies.push(record.key);
                continue;
            }
            bodies.push(record.body);
            let mut parts = desk.parts(skill, said);
            if hits.len() < limit.max(2) {
                parts.against = against(&part.segment, at as usize, &weighed);
                parts.denied = denied(request, part, at, &weighed);
            }
            hits.push(Hit { key: record.key, score, parts, copies: Vec::new() });
        }
        let abstain = abstain(&hits);
        hits.truncate(limit);
        Ranking { hits, abstain }
    }

    /// The segment of a skill and its number there.
    fn part_of(&self, skill: u32) -> Option<(&Part, u32)> {
        let at = self.segments.partition_point(|part| part.first <= skill).checked_sub(1)?;
        let part = self.segments.get(at)?;
        Some((part, skill - part.first))
    }

    /// What a word of a request weighs among these skills.
    pub(crate) fn weight(&self, asked: &Asked) -> f32 {
        self.rarity(asked.term, self.lists(asked.term).count) * times(asked)
    }

    /// Weighs the words of a request and adds them up.
    fn weigh(&self, request: &Request, desk: &mut Desk) -> Vec<Weighed> {
        let mut weighed = Vec::with_capacity(request.words.len());
        for asked in &request.words {
            let weight = self.sum_word(asked.term, times(asked), desk, true);
            weighed.push(Weighed { term: asked.term, weight, is_said: true });
        }
        for (term, times) in self.unsaid(request) {
            let weight = self.sum_word(term, by::LEARNED * times, desk, false);
            weighed.push(Weighed { term, weight, is_said: false });
        }
        weighed
    }

    /// Short forms of what was said, and long forms of short ones, that were not said themselves.
    fn unsaid(&self, request: &Request) -> Vec<(Term, f32)> {
        let is_said = |term: &Term| request.words.iter().any(|asked| asked.term == *term);
        let mut unsaid: Vec<(Term, f32)> = Vec::new();
        let mut add = |term: Term, times: f32| {
            if !is_said(&term) && !unsaid.iter().any(|(known, _)| *known == term) {
                unsaid.push((term, times));
            }
        };
        for asked in &request.words {
            match self.learned.get(&asked.term) {
                Some(Learned::Long(long)) => long.iter().for_each(|term| add(*term, 1.0 / long.len() as f32)),
                Some(Learned::Short(forms)) => {
                    for (long, short) in forms {
                        if long.iter().all(is_said) {
                            add(*short, 1.0);
                        }
                    }
                }
                None => {}
            }
        }
        unsaid
    }

    /// Adds a word to every skill that has it; gives its weight.
    fn sum_word(&self, term: Term, times: f32, desk: &mut Desk, is_said: bool) -> f32 {
        let lists = self.lists(term);
        let weight = self.rarity(term, lists.count) * times;
        let said = if is_said { weight } else { 0.0 };
        lists.each(|skill, posting| {
            let count = f32::from(posting.count) / QUARTERS as f32;
            let sums = &mut desk.sums[skill];
            sums.words += weight * count * (by::WORD_SATURATION + 1.0) / (count + self.lengths[skill].words);
            sums.covered += said;
            if posting.passages & 1 == 1 {
                sums.head += said;
            }
            let blocks = &mut desk.blocks[skill];
            let mut passages = posting.passages;
            while passages != 0 {
                blocks[passages.trailing_zeros() as usize] += weight;
                passages &= passages - 1;
            }
        });
        weight
    }

    fn sum_pieces(&self, request: &Request, desk: &mut Desk) {
        for &piece in &request.pieces {
            let lists = self.lists(piece);
            // Those that every third skill has are most of the work, and tell nearly nothing.
            if lists.count as f32 > by::PIECE_SHARE * self.alive as f32 {
                continue;
            }
            let weight = self.rarity(piece, lists.count) * (by::PIECE_SATURATION + 1.0);
            lists.each(|skill, posting| {
                let lengths = &self.lengths[skill];
                let share = if posting.count == 1 {
                    lengths.one_piece
                } else {
                    let count = f32::from(posting.count);
                    count / (count + lengths.pieces)
                };
                desk.pieces[skill] += weight * share;
            });
        }
    }

    /// Who has a term.
    fn lists(&self, term: Term) -> Lists<'_> {
        let mut lists = Lists { parts: Vec::with_capacity(self.segments.len()), count: 0 };
        for part in &self.segments {
            let Some(list) = part.segment.find(term) else { continue };
            if part.gone.is_empty() {
                lists.count += list.count();
            } else {
                list.each(|posting| lists.count += u32::from(!part.is_gone(posting.skill)));
            }
            lists.parts.push((part, list));
        }
        lists
    }

    /// How much a term tells, by how few skills have it. A pair of characters is counted among the skills of its script: in
    /// a library of English skills every Chinese word is rare.
    fn rarity(&self, term: Term, count: u32) -> f32 {
        let among = match term.script() {
            Script::Spaced => self.alive,
            Script::Joined => self.joined,
        };
        let count = count as f32;
        let among = (among as f32).max(count);
        (1.0 + (among - count + 0.5) / (count + 0.5)).ln()
    }
}

/// Who has a term, over all segments.
struct Lists<'a> {
    parts: Vec<(&'a Part, List<'a>)>,
    /// How many of them live.
    count: u32,
}

impl Lists<'_> {
    /// Calls `each` with every living one, numbered over all segments.
    #[inline]
    fn each(&self, mut each: impl FnMut(usize, Posting)) {
        for (part, list) in &self.parts {
            // Numbers out of range are those of a damaged file, and nobody's.
            let skills = part.segment.len();
            list.each(|posting| {
                if (posting.skill as usize) < skills && !part.is_gone(posting.skill) {
                    each((part.first + posting.skill) as usize, posting);
                }
            });
        }
    }
}

/// What a word counts beside others as rare.
fn times(asked: &Asked) -> f32 {
    let load = match asked.load {
        Load::Content => 1.0,
        Load::Ending => by::ENDING,
        Load::Function => by::FUNCTION,
    };
    load * asked.times
}

fn score(parts: &Parts) -> f32 {
    by::WORDS * parts.words
        + by::PASSAGE * parts.passage
        + by::PIECES * parts.pieces
        + by::COVERED * parts.covered
        + by::COVERED_BY_HEAD * parts.covered_by_head
}

/// The weight of what the request says it is not about, in the head of a skill.
fn denied(request: &Request, part: &Part, skill: u32, weighed: &[Weighed]) -> f32 {
    let in_head = |term: &&Term| {
        let mut found = false;
        if let Some(list) = part.segment.find(**term) {
            list.each(|posting| found |= posting.skill == skill && posting.passages & 1 == 1);
        }
        found
    };
    let met = request.denied.iter().filter(in_head);
    met.filter_map(|term| weighed.iter().find(|word| word.term == *term)).map(|word| word.weight).sum()
}

/// The weight of the request in the sentence that meets it best among those that say what a skill is not for.
fn against(segment: &crate::segment::Segment, skill: usize, weighed: &[Weighed]) -> f32 {
    let mut most = 0.0_f32;
    segment.each_against(skill, |sentence| {
        let met = weighed.iter().filter(|word| word.is_said && sentence.contains(&word.term));
        most = most.max(met.map(|word| word.weight).sum());
    });
    most
}

impl Desk {
    fn clear(&mut self, index: &Index) {
        let skills = index.lengths.len();
        self.sums.clear();
        self.sums.resize(skills, Sums::default());
        self.pieces.clear();
        self.pieces.resize(skills, 0.0);
        self.blocks.clear();
        self.blocks.resize(skills, [0.0; BLOCKS]);
    }

    fn parts(&self, skill: u32, said: f32) -> Parts {
        let sums = self.sums[skill as usize];
        // Whoever has no word of the request has none in a passage.
        let passage = if sums.words > 0.0 {
            self.blocks[skill as usize].iter().copied().fold(0.0, f32::max)
        } else {
            0.0
        };
        let share = |sum: f32| if said > 0.0 { sum / said } else { 0.0 };
        Parts {
            words: sums.words,
            passage,
            pieces: self.pieces[skill as usize],
            covered: share(sums.covered),
            covered_by_head: share(sums.head),
            ..Parts::default()
        }
    }
}
