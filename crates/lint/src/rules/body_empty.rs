use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule =
    Rule::new("body-empty", Severity::Warning, include_str!("body_empty.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    if skill.body().trim().is_empty() {
        let help = "write below the closing `---` what to do";
        findings.report(skill, Span::empty(skill.body_at()), "the skill has no instructions", help);
    }
}
