//! Short forms that a text explains: `Wildly Important Goal (WIG)`. They are the synonyms that a pool of skills teaches
//! about itself; nothing is brought from outside.

use crate::term::Term;
use crate::words::words;

/// A short form and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Abbreviation {
    /// The short form.
    pub(crate) short: Term,
    /// The words of the long one, in order.
    pub(crate) long: Vec<Term>,
}

/// The shortest and longest short form. A single letter stands for too much; longer ones are mostly words in capitals.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=6;

/// The most that are taken from one skill: a glossary of a thousand would crowd out what the others teach.
const MAX_PER_SKILL: usize = 64;

/// Finds the short forms of a text: capitals in brackets, before them as many words with these initials.
pub(crate) fn abbreviations(text: &str, found: &mut Vec<Abbreviation>) {
    let mut from = 0;
    while let Some(open) = text[from..].find('(').map(|at| from + at) {
        from = open + 1;
        if found.len() >= MAX_PER_SKILL {
            return;
        }
        let Some(close) = text[from..].bytes().take(*LETTERS.end() + 1).position(|byte| byte == b')') else {
            continue;
        };
        let short = &text.as_bytes()[from..from + close];
        if !LETTERS.contains(&short.len()) || !short.iter().all(u8::is_ascii_uppercase) {
            continue;
        }
        if let Some(abbreviation) = explained(&text[..open], &text[from..from + close])
            && !found.contains(&abbreviation)
        {
            found.push(abbreviation);
        }
    }
}

fn explained(before: &str, short: &str) -> Option<Abbreviation> {
    // Words are looked at backwards, and only as many as there are letters.
    let mut words_before: Vec<&str> = before.trim_end().rsplit([' ', '-', '\n']).take(short.len()).collect();
    words_before.reverse();
    let initials = words_before.iter().map(|word| word.bytes().next().unwrap_or_default());
    let agree = words_before.len() == short.len()
        && initials.zip(short.bytes()).all(|(initial, letter)| initial.eq_ignore_ascii_case(&letter));
    if !agree {
        return None;
    }
    let mut long = Vec::new();
    for text in &words_before {
        words(text, |word| long.push(word.term));
    }
    let mut name = None;
    words(short, |word| name = Some(word.term));
    Some(Abbreviation { short: name?, long })
}

#[cfg(test)]
mod tests {
    use super::abbreviations;

    fn check(text: &str, expected: usize) {
        let mut found = Vec::new();
        abbreviations(text, &mut found);
        assert_eq!(found.len(), expected, "{text}");
    }

    #[test]
    fn an_explained_short_form_is_learned_once() {
        check("A Wildly Important Goal (WIG) is … the Wildly Important Goal (WIG)", 1);
        check("architecture decision records (ADR), total-addressable market (TAM)", 2);
    }

    #[test]
    fn other_brackets_teach_nothing() {
        check("the goal (see below), HTTP (GET), (WIG), a plan (A), some words (TODO)", 0);
        check("((((((((", 0);
        check("ünïcode (ÜN", 0);
    }
}
