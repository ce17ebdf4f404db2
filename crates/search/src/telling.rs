//! The words of a skill's text that would tell it from the others, had its description them.

use crate::anatomy::{Place, Reader, SkillText, beginning, take_apart};
use crate::everyday::everyday;
use crate::lexicon::Lexicon;
use crate::neighbour::{Heads, rarity};
use crate::script::Script;
use crate::term::Term;
use crate::words::{Load, Word};
use std::cmp::Reverse;
use std::collections::HashMap;

/// How many bodies are read to learn which words are common in them. A sample of a large root knows its common words.
const MAX_BODIES: usize = 96;

/// How much of each of these is read.
const MAX_BODY: usize = 16 * 1024;

/// The shortest word that is suggested; shorter ones are short forms that mean many things.
const MIN_LETTERS: usize = 4;

/// How often a word must stand in a text before it is what the text is about; a heading is enough.
const MIN_TIMES: usize = 3;

/// What a word in a heading counts: a heading names what a part of the text is about.
const HEADING: usize = 3;

/// The bodies of a root, as far as it takes to know what is common in them.
#[derive(Debug)]
pub struct Bodies {
    /// How many of the bodies that were read have a word.
    counts: HashMap<Term, usize>,
    read: usize,
}

impl Bodies {
    /// Reads a sample of the bodies, evenly spread.
    pub fn new(heads: &Heads<'_>) -> Self {
        let step = heads.skills.len().div_ceil(MAX_BODIES).max(1);
        let mut counts = HashMap::new();
        let mut read = 0;
        for skill in heads.skills.iter().step_by(step) {
            read += 1;
            for term in Text::new(start(skill.body)).words.into_keys() {
                *counts.entry(term).or_insert(0) += 1;
            }
        }
        Self { counts, read }
    }

    /// At most `limit` words that stand often in the text of a skill, seldom in those of others, not at all in the text and
    /// head of `other`, and not in its own head: what its description could say and does not. The heads are those that they
    /// were read for.
    pub fn telling(
        &self,
        heads: &Heads<'_>,
        skill: usize,
        other: Option<usize>,
        limit: usize,
    ) -> Vec<String> {
        let (Some(text), Some(head)) = (heads.skills.get(skill), heads.all.get(skill)) else {
            return Vec::new();
        };
        let others = other.and_then(|at| heads.skills.get(at)).map(|text| Text::new(beginning(text.body)));
        let other_head = other.and_then(|at| heads.all.get(at));
        let is_others = |term: &Term| {
            others.as_ref().is_some_and(|text| text.words.contains_key(term))
                || other_head.is_some_and(|head| head.has(*term))
        };
        let mut found: Vec<(f32, String)> = Vec::new();
        for (term, used) in Text::new(beginning(text.body)).words {
            if used.times < MIN_TIMES || everyday().contains(&term) || head.has(term) || is_others(&term) {
                continue;
            }
            let Some(written) = used.written() else { continue };
            let count = self.counts.get(&term).copied().unwrap_or_default();
            let weight = (1.0 + used.times as f32).ln() * rarity(count, self.read);
            found.push((weight, written));
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        found.truncate(limit);
        found.into_iter().map(|(_, written)| written).collect()
    }
}

fn start(body: &str) -> &str {
    &body[..body.floor_char_boundary(MAX_BODY)]
}

/// The words of a text outside its code.
struct Text<'a> {
    text: &'a str,
    words: HashMap<Term, Used<'a>>,
}

/// How a word is used in a text.
#[derive(Default)]
struct Used<'a> {
    times: usize,
    /// The ways it is written as a whole word, with how often.
    forms: Vec<(&'a str, usize)>,
}

impl<'a> Text<'a> {
    fn new(text: &'a str) -> Self {
        let mut read = Self { text, words: HashMap::new() };
        take_apart(&SkillText { body: text, ..SkillText::default() }, &mut Lexicon::default(), &mut read);
        read
    }

    /// Whether a word stands there by itself, not as a part of a path, an address, a flag or a longer name.
    fn stands_alone(&self, written: &str) -> bool {
        let start = (written.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let (Some(before), Some(behind)) = (self.text.get(..start), self.text.get(start + written.len()..))
        else {
            return false;
        };
        let before = before.chars().next_back().unwrap_or(' ');
        let mut behind = behind.chars();
        let next = behind.next().unwrap_or(' ');
        let is_joint = |mark: char| mark.is_alphanumeric() || "_/\\-.$<{@#=:&+".contains(mark);
        match (before, next) {
            ('`', '`') => true,
            ('`', _) | (_, '`') => false,
            // A stop, a colon or a sign behind a word ends it, unless the word goes on.
            (_, '.' | ':' | '-') => !is_joint(before) && !behind.next().is_some_and(char::is_alphanumeric),
            (_, next) => !is_joint(before) && !is_joint(next) && next != '(' && next != '>',
        }
    }
}

impl<'a> Reader<'a> for Text<'a> {
    fn word(&mut self, place: Place, word: Word<'a>) {
        if !matches!(place, Place::Body | Place::Heading | Place::Title) || word.load != Load::Content {
            return;
        }
        let stands_alone = self.stands_alone(word.written);
        let used = self.words.entry(word.term).or_default();
        let weight = if place == Place::Body { 1 } else { HEADING };
        used.times += weight;
        if stands_alone {
            match used.forms.iter_mut().find(|(form, _)| *form == word.written) {
                Some((_, times)) => *times += weight,
                None => used.forms.push((word.written, weight)),
            }
        }
    }

    fn sentence_against(&mut self, _sentence: &'a str) {}
}

impl Used<'_> {
    /// The way it is mostly written, in lower case where that is a way at all; nothing where it is no word for people.
    fn written(&self) -> Option<String> {
        let whole: usize = self.forms.iter().map(|(_, times)| times).sum();
        if whole < MIN_TIMES {
            return None;
        }
        let is_low = |form: &str| form.chars().all(char::is_lowercase);
        let words = self.forms.iter().filter(|(form, _)| is_word(form));
        // Of equal ones the first.
        let mostly = words.min_by_key(|(form, times)| (!is_low(form), Reverse(*times)));
        mostly.map(|(form, _)| (*form).to_owned())
    }
}

/// Whether a word is one that a person would read as such. Pairs of characters are pieces of words.
fn is_word(form: &str) -> bool {
    // What ends like `properly` says how, not what.
    form.chars().count() >= MIN_LETTERS
        && !form.ends_with("ly")
        && form
            .chars()
            .all(|letter| letter.is_alphabetic() && crate::script::script_of(letter) == Script::Spaced)
}

#[cfg(test)]
mod tests {
    use super::Bodies;
    use crate::{Heads, SkillText};

    fn skill<'a>(description: &'a str, body: &'a str) -> SkillText<'a> {
        SkillText { name: "x", description, body, ..SkillText::default() }
    }

    fn check(skills: Vec<SkillText<'_>>, other: Option<usize>, expect: &[&str]) {
        let heads = Heads::new(skills);
        assert_eq!(Bodies::new(&heads).telling(&heads, 0, other, 3), expect);
    }

    const BODY: &str = "## Embargo\nThe embargo ends at noon. A verdict is a verdict is a verdict. Output the output as output.";

    #[test]
    fn what_a_text_is_about_and_its_description_lacks_is_told() {
        check(vec![skill("Writes releases.", BODY)], None, &["embargo", "verdict"]);
        check(vec![skill("Writes releases under embargo.", BODY)], None, &["verdict"]);
        check(vec![skill("Writes releases. Not for a verdict.", BODY)], None, &["embargo"]);
    }

    #[test]
    fn what_the_other_has_too_is_not() {
        let other = |body| vec![skill("Writes releases.", BODY), skill("Writes letters.", body)];
        check(other("Mind the verdict."), Some(1), &["embargo"]);
        check(other("Mind the verdict."), None, &["embargo", "verdict"]);
        check(other(""), Some(9), &["embargo", "verdict"]);
    }

    #[test]
    fn pieces_of_names_and_code_are_no_words() {
        let body = "src/verdict.rs my_verdict `verdict --now` --verdict verdict.json verdict-maker\n```\nverdict verdict\n```\n";
        check(vec![skill("", body)], None, &[]);
        check(vec![skill("", "`kubectl` `kubectl` (kubectl)")], None, &["kubectl"]);
        check(vec![skill("", "Verdict: one. Verdict: two. Verdict.")], None, &["Verdict"]);
    }

    #[test]
    fn other_scripts_give_no_pieces() {
        check(vec![skill("", "发布 发布 发布 发布")], None, &[]);
    }

    #[test]
    fn a_word_of_every_body_comes_last() {
        let usual = "## Colophon\ncolophon colophon colophon";
        let own = "colophon colophon colophon colophon verdict verdict verdict";
        let mut skills = vec![skill("", own)];
        skills.extend(vec![skill("", usual); 40]);
        check(skills, None, &["verdict", "colophon"]);
    }
}
