use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};
use metier_skill::injected_commands;

pub(super) static RULE: Rule =
    Rule::new("injected-command", Severity::Info, include_str!("injected_command.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let at = skill.body_at();
    for injected in injected_commands(skill.body()) {
        let span = Span::new(at + injected.span.start as usize, at + injected.span.end as usize);
        let message = format!("{} runs on activation, before the text is read", quoted(&injected.command));
        findings.report(skill, span, message, "without the `!` it is only shown to the model");
    }
}
