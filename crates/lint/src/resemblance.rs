//! Which of many texts are nearly the same, without comparing each with each.
//!
//! Two sets of words that are four fifths alike share at least one of their rarest words: of a set of `n`, the rarest
//! `n/5 + 1` are enough to find every such partner. So texts are put into a bucket for each of those words and only
//! compared with what is there. Rare words have small buckets; a bound keeps those of families of texts small, too.

use std::collections::HashMap;

/// Sets that have this share of their words in common are nearly the same, in hundredths.
const ALIKE: usize = 80;
/// How many texts one bucket holds. The first ones stay, and the members of a family are alike to its first.
const MAX_BUCKET: usize = 16;
/// How many words of a text count. Longer ones differ or not within these.
const MAX_WORDS: usize = 300;

/// Texts as sets of words.
#[derive(Debug, Default)]
pub(crate) struct WordSets {
    /// Numbers of the words of each text, each once.
    sets: Vec<Vec<u32>>,
    numbers: HashMap<String, u32>,
    /// How many texts have each word.
    counts: Vec<u32>,
}

/// Two texts that are nearly the same, as positions in the order they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) later: usize,
    pub(crate) earlier: usize,
}

/// What was found and what it took.
#[derive(Debug)]
pub(crate) struct Resemblance {
    /// At most one pair for each later text, with the one it is most alike to.
    pub(crate) pairs: Vec<Pair>,
    /// How many times two texts were compared.
    pub(crate) comparisons: usize,
}

impl WordSets {
    /// Adds a text.
    pub(crate) fn add(&mut self, text: &str) {
        let mut set = Vec::new();
        for word in words(text).into_iter().take(MAX_WORDS) {
            let next = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(word).or_insert(next);
            if number == next {
                self.counts.push(0);
            }
            set.push(number);
        }
        set.sort_unstable();
        set.dedup();
        for number in &set {
            self.counts[*number as usize] += 1;
        }
        self.sets.push(set);
    }

    /// The sets with words numbered by how rare they are, rarest first.
    fn by_rarity(&self) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = (0..).take(self.counts.len()).collect();
        order.sort_by_key(|number| (self.counts[*number as usize], *number));
        let mut rank = vec![0; order.len()];
        for (place, number) in (0_u32..).zip(&order) {
            rank[*number as usize] = place;
        }
        let ranked = |set: &Vec<u32>| {
            let mut set: Vec<u32> = set.iter().map(|number| rank[*number as usize]).collect();
            set.sort_unstable();
            set
        };
        self.sets.iter().map(ranked).collect()
    }
}

/// Pairs of texts of at least `min_words` words that are nearly the same and that `counts` for the caller.
pub(crate) fn near_duplicates(
    texts: &WordSets,
    min_words: usize,
    counts: impl Fn(usize, usize) -> bool,
) -> Resemblance {
    let sets = texts.by_rarity();
    let mut buckets: HashMap<u32, Vec<usize>> = HashMap::new();
    // The text with which each one was last compared, so that no two are compared twice.
    let mut compared_with = vec![usize::MAX; sets.len()];
    let mut found = Resemblance { pairs: Vec::new(), comparisons: 0 };
    for (later, set) in sets.iter().enumerate().filter(|(_, set)| set.len() >= min_words) {
        let needed = (set.len() * ALIKE).div_ceil(100);
        let prefix = &set[..=set.len() - needed];
        let mut best: Option<(usize, usize, Pair)> = None;
        for word in prefix {
            let bucket = buckets.entry(*word).or_default();
            for &earlier in bucket.iter() {
                if std::mem::replace(&mut compared_with[earlier], later) == later {
                    continue;
                }
                let other = &sets[earlier];
                let (short, long) = (set.len().min(other.len()), set.len().max(other.len()));
                if short * 100 < long * ALIKE {
                    continue;
                }
                found.comparisons += 1;
                let shared = shared(set, other);
                let all = set.len() + other.len() - shared;
                let is_better = best.is_none_or(|(most, of, _)| shared * of > most * all);
                if shared * 100 >= all * ALIKE && is_better && counts(later, earlier) {
                    best = Some((shared, all, Pair { later, earlier }));
                }
            }
            if bucket.len() < MAX_BUCKET {
                bucket.push(later);
            }
        }
        found.pairs.extend(best.map(|(_, _, pair)| pair));
    }
    found
}

/// How many numbers two sorted sets have in common.
fn shared(one: &[u32], other: &[u32]) -> usize {
    let (mut at, mut count) = (0, 0);
    for number in one {
        at += other[at..].partition_point(|found| found < number);
        count += usize::from(other.get(at) == Some(number));
    }
    count
}

/// The words of a text in lower case. Where words are written without blanks, pairs of neighbours stand for them.
fn words(text: &str) -> Vec<String> {
    let is_unspaced =
        |c: char| matches!(u32::from(c), 0x2e80..=0xa4cf | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..);
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars() {
        let unspaced = c.is_alphanumeric() && is_unspaced(c);
        if unspaced {
            found.extend(before.map(|before| String::from_iter([before, c])));
        }
        before = unspaced.then_some(c);
        if c.is_alphanumeric() && !unspaced {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets_of(texts: &[impl AsRef<str>]) -> WordSets {
        let mut sets = WordSets::default();
        for text in texts {
            sets.add(text.as_ref());
        }
        sets
    }

    #[test]
    fn texts_with_four_fifths_of_their_words_in_common_are_found() {
        let pairs = |texts: &[&str]| -> Vec<(usize, usize)> {
            near_duplicates(&sets_of(texts), 4, |_, _| true)
                .pairs
                .iter()
                .map(|pair| (pair.later, pair.earlier))
                .collect()
        };
        assert_eq!(pairs(&["a b c d e", "e d c b a"]), [(1, 0)]);
        assert_eq!(pairs(&["a b c d e", "A, b; c d x", "a b c d e f"]), [(2, 0)]);
        assert_eq!(pairs(&["a b c d e", "a b c x y"]), []);
        assert_eq!(pairs(&["a b c", "a b c"]), [], "too short to tell");
        assert_eq!(pairs(&["分析数据生成图表", "分析数据生成图表", "写一封电子邮件吧"]), [(1, 0)]);
        assert_eq!(pairs(&["", ""]), []);
    }

    #[test]
    fn every_pair_of_small_sets_is_found() {
        // Against comparing each with each, over texts of ten words out of fourteen.
        let mut state = 7_u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let texts: Vec<String> = (0..16)
            .map(|_| (0..10).map(|_| format!("w{}", random() % 14)).collect::<Vec<_>>().join(" "))
            .collect();
        let sets = sets_of(&texts);
        let found = near_duplicates(&sets, 4, |_, _| true);
        for later in 0..sets.sets.len() {
            let is_alike = |earlier: usize| {
                let (one, other) = (&sets.sets[later], &sets.sets[earlier]);
                let shared = shared(one, other);
                shared * 100 >= (one.len() + other.len() - shared) * ALIKE
            };
            let expect = sets.sets[later].len() >= 4 && (0..later).any(is_alike);
            assert_eq!(found.pairs.iter().any(|pair| pair.later == later), expect, "{later}");
        }
    }

    #[test]
    fn the_work_for_ten_thousand_texts_is_bounded() {
        const TEXTS: usize = 10_000;
        let text = |number: usize, family: usize| -> String {
            let word = |at: usize| (number * 31 + at * at * 17) % 5_003;
            let own = (0..20).map(|at| format!("w{}", word(at))).collect::<Vec<_>>().join(" ");
            format!("{own} use when the user asks for family{}", number % family)
        };
        // Texts of their own, families of a hundred, and the worst: all of them the same but for one word.
        let mixed: Vec<String> = (0..TEXTS).map(|number| text(number, 100)).collect();
        let same: Vec<String> =
            (0..TEXTS).map(|number| format!("a b c d e f g h i j k l m n o p q r s t u{number}")).collect();
        for texts in [mixed, same] {
            let sets = sets_of(&texts);
            let found = near_duplicates(&sets, 8, |_, _| true);
            // Each text has at most a fifth of its words and one more in buckets, each with at most so many texts.
            let most = TEXTS * MAX_BUCKET * 7;
            assert!(found.comparisons <= most, "{} comparisons", found.comparisons);
        }
    }

    #[test]
    fn members_of_a_large_family_are_all_found() {
        let texts: Vec<String> =
            (0..1_000).map(|number| format!("a b c d e f g h i j k l m n o p q r s t u{number}")).collect();
        assert_eq!(near_duplicates(&sets_of(&texts), 8, |_, _| true).pairs.len(), 999);
    }
}
