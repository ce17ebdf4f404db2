//! Why a skill was found, in a line that a model can use.

use metier_catalog::Finder;

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchHit {
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// Why it fits.
    pub(crate) why: String,
}

/// The most words of the request that are told of one skill, had or lacking: the heaviest come first, and the rest says
/// little.
const MAX_WORDS: usize = 4;

/// The index holds the skills that a model may be offered and no others, so nothing of a stranger's comes from here.
pub(crate) fn search(finder: &Finder, query: &str, limit: usize) -> Vec<SearchHit> {
    let route = finder.route(query, limit);
    let hits = route.skills.iter().filter_map(|routed| {
        let entry = finder.snapshot().entry(routed.entry)?;
        let reasons = finder.reasons(query, routed.entry);
        // A ranking fills up with whatever is left; a skill that has no word of the request is no answer to it.
        if reasons.words.is_empty() {
            return None;
        }
        let words = reasons.words.iter().take(MAX_WORDS).map(|reason| {
            let places: Vec<&str> = reason.places.iter().map(|place| place.words()).collect();
            format!("`{}` in {}", reason.word, places.join(", "))
        });
        let missing: Vec<String> =
            reasons.missing.iter().take(MAX_WORDS).map(|word| format!("`{word}`")).collect();
        let has = words.collect::<Vec<_>>().join("; ");
        Some(SearchHit {
            name: entry.call_name().to_owned(),
            description: entry.description().to_owned(),
            why: why(&has, &missing.join(", "), reasons.against.as_deref()),
        })
    });
    hits.collect()
}

/// What speaks for a skill and what against it. What it says against itself comes first: a line is cut at its end, and whoever takes
/// a skill for what it is not for has lost more than one who does not know a word that it has.
fn why(has: &str, lacks: &str, against: Option<&str>) -> String {
    let against = against.map(|sentence| format!("not for “{sentence}”; ")).unwrap_or_default();
    let lacks = if lacks.is_empty() { String::new() } else { format!("; lacks {lacks}") };
    format!("{against}has {has}{lacks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_with_what_is_held_against_a_skill() {
        let check = |has: &str, lacks: &str, against: Option<&str>, expect: &str| {
            assert_eq!(why(has, lacks, against), expect);
        };
        check("`pdf` in name", "", None, "has `pdf` in name");
        check(
            "`pdf` in name",
            "`sign`",
            Some("signing."),
            "not for “signing.”; has `pdf` in name; lacks `sign`",
        );
    }
}
