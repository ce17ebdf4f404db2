use crate::claim::claim;
use crate::phrase::{listed, quoted};
use crate::{Check, Findings, Root, Rule};
use metier_diagnostic::Severity;

/// How many words are suggested.
const SUGGESTED: usize = 3;

pub(super) static RULE: Rule = Rule::new(
    "attracts-everything",
    Severity::Info,
    include_str!("attracts_everything.md"),
    Check::Root(check),
);

fn check(root: &Root<'_, '_>, findings: &mut Findings<'_>) {
    for (at, skill) in root.offered.iter().enumerate() {
        let message = if let Some(claim) = claim(&skill.manifest().offer()) {
            format!("the description fits every request: {}", quoted(&claim))
        } else if root.heads().is_general(at) {
            "the description fits nearly every request: each of its words is an everyday one".to_owned()
        } else {
            continue;
        };
        let own = root.telling(at, None, SUGGESTED);
        let help = if own.is_empty() {
            "say for which requests it is, with words that only they have".to_owned()
        } else {
            format!("say for which requests it is; the text speaks of {}", listed(&own))
        };
        findings.report(skill, skill.description_at(), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::{Files, Skill, lint_root};
    use std::path::Path;

    /// Which of some skills, given by name and frontmatter, the rule reports.
    fn check(skills: &[(&str, &str)], expect: &[&str]) {
        let source = |(name, rest): &(&str, &str)| format!("---\nname: {name}\n{rest}\n---\nx\n");
        let sources: Vec<String> = skills.iter().map(source).collect();
        let documents: Vec<_> = sources
            .iter()
            .map(|source| metier_skill::parse(source.as_bytes(), None).document.unwrap())
            .collect();
        let skills: Vec<_> = skills
            .iter()
            .zip(sources.iter().zip(&documents))
            .map(|((name, _), (source, document))| {
                Skill::new(Path::new(name).into(), Some(name), source, document, Files::Unknown)
            })
            .collect();
        let found = lint_root(&skills);
        let found: Vec<_> = found.iter().filter(|one| one.code == &RULE.code).collect();
        let names: Vec<_> = found.iter().filter_map(|one| one.path.as_ref()?.to_str()).collect();
        assert_eq!(names, expect);
    }

    #[test]
    fn a_claim_counts_in_the_description_and_in_when_to_use() {
        check(
            &[
                ("a", "description: Knows us. Use for any task."),
                ("b", "description: Knows us.\nwhen_to_use: Use before any task."),
                ("c", "description: Use for any task about invoices."),
                ("d", "description: Use for any task.\ndisable-model-invocation: true"),
            ],
            &["a", "b"],
        );
    }

    #[test]
    fn everyday_words_alone_count_among_many() {
        let mut skills = vec![("complete", "description: Marks a task as complete.")];
        check(&skills, &[]);
        let topics = ["parcels", "podcasts", "invoices", "gardens", "trains", "recipes", "tides"];
        let texts: Vec<String> = topics.iter().map(|topic| format!("description: Lists {topic}.")).collect();
        skills.extend(topics.iter().zip(&texts).map(|(topic, text)| (*topic, text.as_str())));
        check(&skills, &["complete"]);
    }
}
