use crate::phrase::{Spoken, quoted};
use crate::resemblance::{WordSets, near_duplicates};
use crate::{Check, Findings, Root, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::HashSet;

/// Two short descriptions share most of their words by chance.
const MIN_WORDS: usize = 8;

pub(super) static RULE: Rule = Rule::new(
    "description-near-duplicate",
    Severity::Warning,
    include_str!("description_near_duplicate.md"),
    Check::Root(check),
);

fn check(root: &Root<'_, '_>, findings: &mut Findings<'_>) {
    let described = &root.offered;
    let mut sets = WordSets::default();
    for skill in described {
        sets.add(skill.manifest().description.text());
    }
    let found = near_duplicates(&sets, MIN_WORDS, |later, earlier| {
        is_confusing(described[later], described[earlier])
    });
    for pair in found.pairs {
        let (skill, other) = (described[pair.later], described[pair.earlier]);
        let message = format!(
            "the description is nearly that of {} in `{}`",
            quoted(other.manifest().name.as_str()),
            other.path.display()
        );
        let help = "say in each what sets it apart, or make one skill of the two";
        findings.report(skill, skill.description_at(), message, help);
    }
}

/// Two skills of the same name are reported as such. And where each description names what its own name names, as in
/// a family with one skill for each product, the one differing word is the one that matters.
fn is_confusing(one: &Skill<'_>, other: &Skill<'_>) -> bool {
    if one.manifest().name == other.manifest().name {
        return false;
    }
    !(has_word_of_its_own(one, other) && has_word_of_its_own(other, one))
}

/// Whether a description has a word of the skill's name that is neither in the other's description nor in its name.
fn has_word_of_its_own(skill: &Skill<'_>, other: &Skill<'_>) -> bool {
    let words = |text: &str| -> HashSet<String> { Spoken::of(text).words().map(str::to_owned).collect() };
    let own = words(skill.manifest().description.text());
    let (others, other_name) =
        (words(other.manifest().description.text()), words(other.manifest().name.as_str()));
    words(skill.manifest().name.as_str())
        .iter()
        .any(|word| own.contains(word) && !others.contains(word) && !other_name.contains(word))
}
