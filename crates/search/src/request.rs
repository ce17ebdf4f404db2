//! What somebody wants, as terms.

use crate::gram::grams;
use crate::noise::without_noise;
use crate::term::Term;
use crate::words::{Load, words};
use std::collections::{HashMap, HashSet};

/// The most words and pieces of one request that are looked up, so that a pasted book costs no more than a page.
const MAX_WORDS: usize = 96;
const MAX_PIECES: usize = 384;

/// A request, taken apart once and asked of any index.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) words: Vec<Asked>,
    pub(crate) pieces: Vec<Term>,
    /// What the request says it is not about: "we are not using X".
    pub(crate) denied: Vec<Term>,
}

/// One distinct word of a request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) term: Term,
    /// As the request writes it first.
    pub(crate) written: String,
    pub(crate) load: Load,
    /// How much more than once it counts.
    pub(crate) times: f32,
}

impl Request {
    /// Takes a request apart.
    pub fn new(text: &str) -> Self {
        let clean = without_noise(text);
        let mut order: Vec<Asked> = Vec::new();
        let mut counts: HashMap<Term, (usize, u16)> = HashMap::new();
        words(&clean, |word| {
            let next = order.len();
            let (at, count) = counts.entry(word.term).or_insert((next, 0));
            *count += 1;
            if *at == next && next < MAX_WORDS {
                order.push(Asked {
                    term: word.term,
                    written: word.written.to_owned(),
                    load: word.load,
                    times: 1.0,
                });
            }
            if let Some(asked) = order.get_mut(*at) {
                // A word said twice matters more, one said five times not five times as much.
                asked.times = (1.0 + 0.3 * f32::from(*count - 1)).min(1.6);
            }
        });
        // Function words are asked for only when there is nothing else.
        if order.iter().any(|asked| asked.load != Load::Function) {
            order.retain(|asked| asked.load != Load::Function);
        }
        let mut pieces = Vec::new();
        let mut known = HashSet::new();
        grams(&clean, |piece| {
            if pieces.len() < MAX_PIECES && known.insert(piece) {
                pieces.push(piece);
            }
        });
        let denied = denied(&clean);
        Self { words: order, pieces, denied }
    }

    /// Its words that say something, as they are written, each once.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        let telling = self.words.iter().filter(|asked| asked.load != Load::Function);
        telling.map(|asked| asked.written.as_str())
    }
}

/// Words that a denial reaches over: "not using the old importer".
const REACH: usize = 4;

/// What a request says it is not about.
fn denied(text: &str) -> Vec<Term> {
    let mut line = Vec::new();
    words(text, |word| line.push(word));
    let mut found = Vec::new();
    for (at, word) in line.iter().enumerate() {
        let next = line.get(at + 1).map_or("", |next| next.written);
        let is = |written: &str, choices: &[&str]| {
            choices.iter().any(|choice| written.eq_ignore_ascii_case(choice))
        };
        let begins = if is(word.written, &["not"])
            && is(next, &["using", "about", "a", "an", "the", "in", "for", "with"])
        {
            at + 2
        } else if is(word.written, &["no", "without"]) {
            at + 1
        } else if is(word.written, &["don't", "dont", "don’t"]) && is(next, &["need", "want", "use", "have"])
        {
            at + 2
        } else {
            continue;
        };
        // A denial ends with its clause.
        let mut end = begins;
        while end < line.len()
            && end < begins + REACH
            && (end == begins || !parts(text, line[end - 1].written, line[end].written))
        {
            end += 1;
        }
        found.extend(
            line[begins.min(end)..end].iter().filter(|word| word.load == Load::Content).map(|word| word.term),
        );
    }
    for cue in ["不需要", "不用", "不要", "沒在用", "没在用", "不是"] {
        if let Some(at) = text.find(cue) {
            let clause = text[at + cue.len()..]
                .split(['，', '。', ',', '.', '；', ';', ' ', '、'])
                .next()
                .unwrap_or_default();
            words(clause, |word| found.extend((word.load == Load::Content).then_some(word.term)));
        }
    }
    found
}

/// Whether a clause ends between two neighbouring words of a text.
fn parts(text: &str, one: &str, next: &str) -> bool {
    let start = one.as_ptr() as usize + one.len() - text.as_ptr() as usize;
    let end = next.as_ptr() as usize - text.as_ptr() as usize;
    text.get(start..end)
        .is_some_and(|between| between.contains([',', '.', ';', ':', '!', '?', '\n', '—', '–']))
}

#[cfg(test)]
mod tests {
    use super::Request;
    use crate::term::Term;
    use crate::words::words;

    fn terms(text: &str) -> Vec<Term> {
        let mut found = Vec::new();
        words(text, |word| found.push(word.term));
        found
    }

    #[test]
    fn function_words_are_asked_only_when_alone() {
        let asked = |text: &str| Request::new(text).words.iter().map(|asked| asked.term).collect::<Vec<_>>();
        assert_eq!(asked("could you review this contract"), terms("review contract"));
        assert_eq!(asked("what is this"), terms("what is this"));
    }

    #[test]
    fn a_word_said_twice_counts_more() {
        let request = Request::new("tests, tests and more testing of parsers");
        let times: Vec<f32> = request.words.iter().map(|asked| asked.times).collect();
        assert_eq!(times, [1.6, 1.0]);
    }

    #[test]
    fn a_denial_reaches_to_the_end_of_its_clause() {
        let check =
            |text: &str, expected: &str| assert_eq!(Request::new(text).denied, terms(expected), "{text}");
        check("We're not using Tableau, just want a dashboard review", "Tableau");
        check("make a site without videos please", "videos");
        check("no papers please", "papers");
        check("写一个官网，不需要视频", "视频");
        check("it is not enough", "");
    }

    #[test]
    fn a_book_costs_no_more_than_a_page() {
        let book = (0..50_000).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        let request = Request::new(&book);
        assert!(request.words.len() <= 96 && request.pieces.len() <= 384);
    }
}
