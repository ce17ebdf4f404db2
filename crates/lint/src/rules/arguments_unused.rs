use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;

pub(super) static RULE: Rule = Rule::new(
    "arguments-unused",
    Severity::Warning,
    include_str!("arguments_unused.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let (arguments, body) = (&skill.manifest().more.arguments, skill.body());
    let Some(entry) = skill.entry("arguments").filter(|_| !arguments.is_empty()) else { return };
    // All of them arrive together, or by position.
    let is_positional = (0..=9).any(|digit| body.contains(&format!("${digit}")));
    if body.contains("$ARGUMENTS") || is_positional {
        return;
    }
    // Where none is put in, clients append them all and nothing is lost.
    if !arguments.iter().any(|argument| body.contains(&format!("${}", argument.name))) {
        return;
    }
    for argument in arguments.iter().filter(|argument| !is_mentioned(body, &argument.name)) {
        let message = format!("the body never uses the argument {}", quoted(&argument.name));
        let item = entry.value.items().into_iter().flatten().find(|item| {
            item.text().or_else(|| item.get("name")?.text()).is_some_and(|text| text.trim() == argument.name)
        });
        let help = format!("write `${}` where it belongs, or take it out", argument.name);
        findings.report(skill, item.map_or(entry.value.span, |item| item.span), message, help);
    }
}

/// Whether a name stands in the body as a word. A mention in prose counts: some clients put in `{{name}}`.
fn is_mentioned(body: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices(name)
        .any(|(at, _)| !body[..at].ends_with(is_part) && !body[at + name.len()..].starts_with(is_part))
}
