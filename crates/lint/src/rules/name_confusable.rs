use crate::phrase::quoted;
use crate::{Check, Findings, Root, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::HashMap;

pub(super) static RULE: Rule =
    Rule::new("name-confusable", Severity::Warning, include_str!("name_confusable.md"), Check::Root(check));

fn check(root: &Root<'_, '_>, findings: &mut Findings<'_>) {
    let skills = root.skills;
    let mut firsts: HashMap<String, &Skill<'_>> = HashMap::new();
    let key = |skill: &Skill<'_>| plain(&skill.manifest().name.folded());
    for skill in skills {
        let first = firsts.entry(key(skill)).or_insert(skill);
        if skill.path < first.path {
            *first = skill;
        }
    }
    for skill in skills {
        let name = &skill.manifest().name;
        let Some(first) = firsts.get(&key(skill)).filter(|first| first.manifest().name != *name) else {
            continue;
        };
        let other = first.manifest().name.as_str();
        let message = format!(
            "{} is easily taken for {} in `{}`",
            quoted(name.as_str()),
            quoted(other),
            first.path.display()
        );
        findings.report(skill, skill.name_at(), message, "rename one of the two, or make one skill of them");
    }
}

/// A name without what is easily overlooked: hyphens, underscores and the `s` of a plural.
fn plain(name: &str) -> String {
    let singular = |word: &str| match word.strip_suffix('s') {
        // `css` and `dns` are no plurals.
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    };
    name.split(['-', '_']).map(singular).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_is_overlooked_is_taken_out() {
        for (one, other, expect) in [
            ("code-review", "code_reviews", true),
            ("codereview", "code-review", true),
            ("css", "cs", false),
            ("dns", "dn", false),
            ("status", "statu", false),
            ("a-b", "a-c", false),
        ] {
            assert_eq!(plain(one) == plain(other), expect, "{one} {other}");
        }
    }
}
