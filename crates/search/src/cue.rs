//! Words by which a skill says what it is not for.
//!
//! "Do not use for …" names exactly the requests that look most alike and are somebody else's. What follows such a cue is kept
//! apart: it does not count as a passage that answers a request, and it is held against the skill when the request
//! meets it (see `verdict`).

/// What a word is to a cue.
fn is(word: &str, choices: &[&str]) -> bool {
    choices.iter().any(|choice| word.eq_ignore_ascii_case(choice))
}

/// Verbs of using and meaning: "not **intended** for", "do not **trigger** on".
const VERBS: [&str; 13] = [
    "use", "used", "trigger", "activate", "invoke", "apply", "handle", "cover", "fire", "meant", "intended",
    "suitable", "designed",
];

/// Finds a cue in a sentence of so many words; `word` gives each as it is written, and nothing behind the last.
pub(crate) fn cue<'a>(words: usize, word: impl Fn(usize) -> &'a str) -> Option<Cue> {
    for at in 0..words {
        let here = word(at);
        if !may_begin(here) {
            continue;
        }
        let next = word(at + 1);
        let end = if is(here, &["not"]) {
            if is(next, &VERBS) || is(next, &["for", "when", "about"]) {
                Some(at + 2)
            } else if is(next, &["be", "to"]) && (is(word(at + 2), &VERBS) || is(word(at + 2), &["be"])) {
                Some(at + 3)
            } else {
                None
            }
        } else if is(here, &["don't", "doesn't", "dont", "don’t", "never", "cannot"]) {
            is(next, &VERBS[..9]).then_some(at + 2)
        } else if is(here, &["skip"]) {
            is(next, &["for", "if", "when", "this"]).then_some(at + 2)
        } else if is(here, &["avoid"]) {
            is(next, &["using", "when", "for", "if"]).then_some(at + 2)
        } else if is(here, &["except"]) {
            is(next, &["for", "when"]).then_some(at + 2)
        } else if is(here, &["out"]) && is(next, &["of"]) {
            is(word(at + 2), &["scope"]).then_some(at + 3)
        } else {
            None
        };
        if let Some(behind) = end {
            // "Do not use for" and "should not be used when" begin before the word that was found.
            let before = at > 0 && is(word(at - 1), &["do", "does", "should", "must", "will", "is", "are"]);
            return Some(Cue { start: at - usize::from(before), behind });
        }
    }
    None
}

/// Whether a word can be the first of a cue, by its length and first letter: every word of a library is asked.
fn may_begin(word: &str) -> bool {
    matches!(word.len(), 3..=9)
        && matches!(word.as_bytes()[0] | 0x20, b'n' | b'd' | b'c' | b's' | b'a' | b'e' | b'o')
}

/// Where a cue is in the words of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    /// Its first word.
    pub(crate) start: usize,
    /// The word behind its last one.
    pub(crate) behind: usize,
}

/// Cues of scripts without blanks, found in the text itself.
const JOINED: [&str; 17] = [
    "不要用",
    "不用于",
    "不用於",
    "不适用",
    "不適用",
    "不适合",
    "不適合",
    "不触发",
    "不觸發",
    "不处理",
    "不處理",
    "使わない",
    "対象外",
    "ではない",
    "ではありません",
    "発火しない",
    "除外",
];

/// Whether one of these can be in a text, by the bytes that all of them begin with. Most texts that are not ASCII have a dash or an
/// arrow, which begin with another. Every byte is looked at, since that is faster than stopping at the first.
pub(crate) fn may_have_joined_cue(text: &str) -> bool {
    text.bytes().fold(false, |found, byte| found | matches!(byte, 0xe3..=0xe9))
}

/// The bytes of such a cue in a text.
pub(crate) fn joined_cue(text: &str) -> Option<std::ops::Range<usize>> {
    if !may_have_joined_cue(text) {
        return None;
    }
    let found = JOINED.iter().filter_map(|cue| text.find(cue).map(|at| at..at + cue.len()));
    found.min_by_key(|range| range.start)
}

/// Whether what stands under a heading says what the skill is not for.
pub(crate) fn is_against(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let words: Vec<&str> = lower.split(|next: char| !next.is_alphanumeric() && next != '\'').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let follows = |first: &str, seconds: &[&str]| {
        words.iter().position(|word| *word == first).is_some_and(|at| {
            words[at + 1..].iter().take(3).any(|word| seconds.iter().any(|second| word.starts_with(second)))
        })
    };
    follows(
        "not",
        &["use", "using", "for", "trigger", "fire", "activat", "invoke", "cover", "appl", "handle"],
    ) || follows("don't", &["use", "trigger", "fire", "invoke"])
        || follows("when", &["not"])
        || follows("out", &["scope"])
        || follows("non", &["goal", "activat", "trigger"])
        || follows("anti", &["trigger", "activat", "use"])
        || follows("skip", &["this", "when", "if"])
        || follows("wrong", &["skill"])
        || words.iter().any(|word| matches!(*word, "nongoals" | "exclusions" | "limitations"))
        || joined_cue(heading).is_some()
}

#[cfg(test)]
mod tests {
    use super::{cue, is_against, joined_cue};

    fn check(sentence: &str, behind: Option<&str>) {
        let written: Vec<&str> = sentence.split(' ').collect();
        let found = cue(written.len(), |at| written.get(at).copied().unwrap_or_default())
            .map(|cue| written[cue.behind..].join(" "));
        assert_eq!(found.as_deref(), behind, "{sentence}");
    }

    #[test]
    fn what_follows_a_cue_is_told() {
        check("Reviews code. Do not use for security audits", Some("for security audits"));
        check("This is not for PDFs", Some("PDFs"));
        check("Should not be used when offline", Some("when offline"));
        check("Don't trigger on plain questions", Some("on plain questions"));
        check("Skip if the repository is empty", Some("the repository is empty"));
        check("Billing is out of scope", Some(""));
    }

    #[test]
    fn every_first_word_of_a_cue_may_begin_one() {
        for word in
            ["not", "DON'T", "doesn't", "dont", "don’t", "Never", "cannot", "skip", "avoid", "except", "out"]
        {
            assert!(super::may_begin(word), "{word}");
        }
    }

    #[test]
    fn other_negations_are_no_cues() {
        check("Do not commit secrets", None);
        check("It is not enough to read the title", None);
        check("Never push to main", None);
    }

    #[test]
    fn headings_against_are_known_in_several_words() {
        for heading in [
            "When NOT to use",
            "Do not use this skill for",
            "Non-activation signals (DO NOT fire when…)",
            "Out of scope",
            "Non-goals",
            "Anti-triggers",
            "不适用场景",
        ] {
            assert!(is_against(heading), "{heading}");
        }
        for heading in ["When to use", "Notes", "What it does not need", "Scope", "Antipatterns"] {
            assert!(!is_against(heading), "{heading}");
        }
    }

    #[test]
    fn scripts_without_blanks_have_cues_of_their_own() {
        let text = "生成海报，不适用于视频";
        assert_eq!(joined_cue(text).map(|range| &text[range.end..]), Some("于视频"));
        assert_eq!(joined_cue("生成海报"), None);
    }
}
