use crate::phrase::quoted;
use crate::{Check, Findings, Root, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::UserOnly;
use std::collections::HashMap;

pub(super) static RULE: Rule =
    Rule::new("name-taken", Severity::Warning, include_str!("name_taken.md"), Check::Root(check));

fn check(root: &Root<'_, '_>, findings: &mut Findings<'_>) {
    let skills = root.skills;
    // The first by path wins, in whichever order they come. A name that was made from a title gives way by itself,
    // and a file without frontmatter is seldom meant as a skill.
    let mut winners: HashMap<&str, &Skill<'_>> = HashMap::new();
    let is_named = |skill: &&Skill<'_>| {
        skill.manifest().title.is_none() && skill.manifest().user_only != Some(UserOnly::NoFrontmatter)
    };
    let named = || skills.iter().filter(is_named);
    for skill in named() {
        let winner = winners.entry(skill.manifest().name.as_str()).or_insert(skill);
        if skill.path < winner.path {
            *winner = skill;
        }
    }
    for skill in named() {
        let name = skill.manifest().name.as_str();
        let Some(winner) = winners.get(name).filter(|winner| winner.path != skill.path) else { continue };
        let message =
            format!("the name {} is taken by `{}`, which wins", quoted(name), winner.path.display());
        findings.report(skill, skill.name_at(), message, "rename one of the two, or remove the copy");
    }
}
