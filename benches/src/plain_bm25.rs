//! The rank that metier is held against: BM25 over name, description and the first 6,000 characters of the body, with words in lower
//! case and the same endings taken off for everybody (here: none but a plural `s`).

use std::collections::HashMap;

const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

pub(crate) struct PlainBm25 {
    /// For each word the texts that have it, with how often.
    lists: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    mean: f64,
}

impl PlainBm25 {
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    pub(crate) fn new(texts: &[String]) -> Self {
        let mut lists: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let words = words(text);
            lengths.push(words.len() as f64);
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in words {
                *counts.entry(word).or_default() += 1.0;
            }
            for (word, count) in counts {
                lists.entry(word).or_default().push((at, count));
            }
        }
        let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { lists, lengths, mean }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of texts")]
    pub(crate) fn scores(&self, request: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        let mut words = words(request);
        words.sort();
        words.dedup();
        for word in words {
            let Some(list) = self.lists.get(&word) else { continue };
            let (all, having) = (self.lengths.len() as f64, list.len() as f64);
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for &(at, count) in list {
                let length = 1.0 - LENGTH + LENGTH * self.lengths[at] / self.mean;
                scores[at] += rarity * count * (SATURATION + 1.0) / (count + SATURATION * length);
            }
        }
        scores
    }
}

/// Letters and digits; a script without blanks gives pairs of characters, or the comparison would be with nothing at all.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let lower = text.to_lowercase();
    for run in lower.split(|next: char| !next.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut spaced = String::new();
        let mut joined: Vec<char> = Vec::new();
        for next in run.chars().chain(['\0']) {
            if matches!(next, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}') {
                joined.push(next);
            } else {
                match joined.as_slice() {
                    [] => {}
                    [one] => words.push(one.to_string()),
                    many => words.extend(many.windows(2).map(String::from_iter)),
                }
                joined.clear();
                if next != '\0' {
                    spaced.push(next);
                    continue;
                }
            }
            if !spaced.is_empty() {
                words.push(stem(&std::mem::take(&mut spaced)));
            }
        }
    }
    words
}

/// A light stemmer: the endings of plurals and of verbs.
fn stem(word: &str) -> String {
    for ending in ["ing", "ies", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 4
        {
            return stem.to_owned();
        }
    }
    word.to_owned()
}
