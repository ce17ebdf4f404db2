use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;

/// Words that Anthropic keeps for itself: its upload and its API refuse a name that contains one.
const RESERVED: &[&str] = &["anthropic", "claude"];

pub(super) static RULE: Rule =
    Rule::new("name-reserved", Severity::Warning, include_str!("name_reserved.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let name = skill.manifest().name.folded();
    if let Some(word) = RESERVED.iter().find(|word| name.contains(**word)) {
        let message = format!("the name contains `{word}`, which claude.ai and the Skills API refuse");
        let help = "name it after what it does; the product can stand in the description";
        findings.report(skill, skill.name_at(), message, help);
    }
}
