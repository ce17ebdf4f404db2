use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::Context;

pub(super) static RULE: Rule = Rule::new(
    "agent-without-fork",
    Severity::Warning,
    include_str!("agent_without_fork.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let more = &skill.manifest().more;
    if more.context == Context::Fork {
        return;
    }
    for (key, is_given) in [("agent", more.agent.is_some()), ("background", more.background.is_some())] {
        let Some(entry) = skill.entry(key).filter(|_| is_given) else { continue };
        let message = format!("`{key}` has no effect without `context: fork`");
        findings.report(skill, entry.key_span, message, format!("add `context: fork`, or take `{key}` out"));
    }
}
