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
        let why = Why {
            has: words.collect::<Vec<_>>().join("; "),
            lacks: missing.join(", "),
            against: reasons.against,
        };
        Some(SearchHit {
            name: entry.call_name().to_owned(),
            description: entry.description().to_owned(),
            why: why.line(),
        })
    });
    hits.collect()
}

/// What speaks for a skill and what against it.
struct Why {
    has: String,
    lacks: String,
    /// What it is not for, in words of its own.
    against: Option<String>,
}

impl Why {
    /// What it says against itself comes first: a line is cut at its end, and whoever takes a skill for what it is not for
    /// has lost more than one who does not know a word that it has.
    fn line(&self) -> String {
        let against = self.against.as_ref().map(|sentence| format!("not for “{sentence}”"));
        let has = Some(format!("has {}", self.has));
        let lacks = (!self.lacks.is_empty()).then(|| format!("lacks {}", self.lacks));
        let parts: Vec<String> = [against, has, lacks].into_iter().flatten().collect();
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_with_what_is_held_against_a_skill() {
        let check = |has: &str, lacks: &str, against: Option<&str>, expect: &str| {
            let why = Why { has: has.into(), lacks: lacks.into(), against: against.map(str::to_owned) };
            assert_eq!(why.line(), expect);
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
