use crate::phrase::{listed, quoted};
use crate::resemblance::{WordSets, near_duplicates};
use crate::{Check, Findings, Root, Rule, Skill};
use metier_diagnostic::Severity;

/// From this likeness on a request that fits one skill fits the other. Below it, what was read were skills of one subject with
/// work of their own.
const ALIKE: f32 = 0.5;
/// Fewer words in common are a coincidence of two short descriptions.
const MIN_COMMON: usize = 3;
/// Descriptions of which another rule says that they are nearly the same have at least so many words.
const NEAR_DUPLICATE: usize = 8;
/// How many words are suggested.
const SUGGESTED: usize = 3;

pub(super) static RULE: Rule =
    Rule::new("crowded-pair", Severity::Info, include_str!("crowded_pair.md"), Check::Root(check));

fn check(root: &Root<'_, '_>, findings: &mut Findings<'_>) {
    let offered = &root.offered;
    let pairs = root.heads().neighbours(ALIKE, |later, earlier| is_crowded(offered[later], offered[earlier]));
    for pair in pairs.iter().filter(|pair| pair.common >= MIN_COMMON) {
        let (skill, other) = (offered[pair.later], offered[pair.earlier]);
        let mut message = format!(
            "a request can hardly tell this skill from {} in `{}`",
            quoted(other.manifest().name.as_str()),
            other.path.display(),
        );
        if !pair.shared.is_empty() {
            message.push_str(&format!("; both speak of {}", listed(&pair.shared)));
        }
        let own = root.telling(pair.later, Some(pair.earlier), SUGGESTED);
        let help = if own.is_empty() {
            "say in each description what only that skill does, or make one skill of the two".to_owned()
        } else {
            format!(
                "say in the description what only this one does: its text alone speaks of {}",
                listed(&own)
            )
        };
        findings.report(skill, skill.description_at(), message, help);
    }
}

/// Whether two skills that are described alike are this rule's business. The same name, the same body and nearly the same
/// description are other rules', and where one names the other it has said which of them is meant when.
fn is_crowded(one: &Skill<'_>, other: &Skill<'_>) -> bool {
    one.manifest().name != other.manifest().name
        && !is_copy(one, other)
        && !names(one, other)
        && !names(other, one)
        && !is_near_duplicate(one, other)
}

/// Whether two bodies are the same. An empty one is nobody's copy: a caller may have kept the frontmatter alone.
fn is_copy(one: &Skill<'_>, other: &Skill<'_>) -> bool {
    let body = one.body().trim();
    !body.is_empty() && body == other.body().trim()
}

/// Whether a description names another skill. A name of one word is a word like others.
fn names(skill: &Skill<'_>, other: &Skill<'_>) -> bool {
    let name = other.manifest().name.as_str();
    name.contains(['-', '_']) && skill.manifest().offer().contains(name)
}

fn is_near_duplicate(one: &Skill<'_>, other: &Skill<'_>) -> bool {
    let mut sets = WordSets::default();
    sets.add(one.manifest().description.text());
    sets.add(other.manifest().description.text());
    !near_duplicates(&sets, NEAR_DUPLICATE, |_, _| true).pairs.is_empty()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::{Files, Skill, lint_root};
    use metier_diagnostic::Diagnostic;
    use std::path::Path;

    /// What the rule says about skills given by folder, description and body.
    fn found(skills: &[(&str, &str, &str)]) -> Vec<Diagnostic> {
        let sources: Vec<String> = skills
            .iter()
            .map(|(folder, description, body)| {
                format!("---\nname: {folder}\ndescription: {description}\n---\n{body}")
            })
            .collect();
        let documents: Vec<_> = sources
            .iter()
            .map(|source| metier_skill::parse(source.as_bytes(), None).document.unwrap())
            .collect();
        let skills: Vec<_> = skills
            .iter()
            .zip(sources.iter().zip(&documents))
            .map(|((folder, ..), (source, document))| {
                let path = Path::new(folder).join("SKILL.md").into();
                Skill::new(path, Some(folder), source, document, Files::Unknown)
            })
            .collect();
        lint_root(&skills).into_iter().filter(|one| one.code == &RULE.code).collect()
    }

    const READER: &str = "Extracts amounts, dates and suppliers from invoices. Use when an invoice arrives.";
    const INTAKE: &str = "Pulls suppliers, dates and amounts out of scans. Use when invoices have arrived.";

    #[test]
    fn a_pair_is_reported_once_with_what_is_shared_and_what_would_tell() {
        let body = "## Reminders\nA reminder has a fee, a second reminder none.";
        let skills = [("reader", READER, "Totals stand at the bottom."), ("intake", INTAKE, body)];
        for skills in [skills, [skills[1], skills[0]]] {
            let [one] = &found(&skills)[..] else { panic!("not one finding") };
            assert_eq!(one.path.as_deref(), Some(Path::new("reader/SKILL.md")));
            assert_eq!(
                one.message,
                "a request can hardly tell this skill from `intake` in `intake/SKILL.md`; \
                 both speak of `amounts`, `arrives`, `dates`, `invoices`"
            );
            assert_eq!(
                one.help.as_deref(),
                Some("say in each description what only that skill does, or make one skill of the two")
            );
        }
        let skills = [("a", READER, "Totals stand at the bottom."), ("b", INTAKE, body)];
        let found = found(&skills);
        let help = found[0].help.as_deref().unwrap();
        assert_eq!(
            help,
            "say in the description what only this one does: its text alone speaks of `reminder`"
        );
    }

    #[test]
    fn a_pair_is_found_by_its_frontmatter_alone() {
        let found = found(&[("reader", READER, ""), ("intake", INTAKE, "")]);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            one.help.as_deref(),
            Some("say in each description what only that skill does, or make one skill of the two")
        );
    }

    #[test]
    fn what_is_told_apart_or_is_another_rules_business_is_left_alone() {
        let named = format!("{READER} For scans take invoice-intake.");
        for (one, other) in [
            (("reader", named.as_str(), "a"), ("invoice-intake", INTAKE, "b")),
            (("reader", READER, "same"), ("intake", INTAKE, "same")),
            (("reader", READER, "a"), ("intake", READER, "b")),
            (("reader", READER, "a"), ("letters", "Writes letters of thanks. Use after a visit.", "b")),
        ] {
            assert_eq!(found(&[one, other]), [], "{one:?}");
        }
    }
}
