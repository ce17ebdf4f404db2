use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::UserOnly;

/// Words that fit every skill.
const VAGUE: &[&str] = &[
    "helper",
    "helpers",
    "misc",
    "skill",
    "skills",
    "stuff",
    "thing",
    "things",
    "tool",
    "tools",
    "untitled",
    "util",
    "utilities",
    "utility",
    "utils",
];

/// Words that add nothing to those. Alone they can be a name: a skill `test` may well run the tests.
const FILLERS: &[&str] = &[
    "a", "common", "default", "demo", "example", "general", "my", "new", "sample", "temp", "test", "the",
    "tmp",
];

pub(super) static RULE: Rule =
    Rule::new("name-vague", Severity::Warning, include_str!("name_vague.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let manifest = skill.manifest();
    let name = manifest.name.folded();
    // A file without frontmatter is seldom meant as a skill, and its folder was named for something else.
    if is_vague(&name) && manifest.user_only != Some(UserOnly::NoFrontmatter) {
        let message = format!("the name {} says nothing about this skill", quoted(&name));
        findings.report(skill, skill.name_at(), message, "name what it works on and what it does");
    }
}

fn is_vague(name: &str) -> bool {
    let words = || {
        name.split(['-', '_'])
            .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
            .filter(|word| !word.is_empty())
    };
    words().any(|word| VAGUE.contains(&word))
        && words().all(|word| VAGUE.contains(&word) || FILLERS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::is_vague;

    #[test]
    fn only_names_without_a_word_of_their_own_are_vague() {
        for (name, expect) in [
            ("helper", true),
            ("my-skill", true),
            ("test-skill-2", true),
            ("utils_1", true),
            ("test", false),
            ("pdf-tools", false),
            ("skill-creator", false),
            ("example", false),
            ("", false),
        ] {
            assert_eq!(is_vague(name), expect, "{name}");
        }
    }
}
