use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;

pub(super) static RULE: Rule = Rule::new(
    "model-not-a-name",
    Severity::Warning,
    include_str!("model_not_a_name.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let Some(model) = &skill.manifest().more.model else { return };
    if !is_name(&model.value) {
        let message = format!("{} is not the name of a model", quoted(&model.value));
        let help = "write an alias such as `sonnet`, a full name, or leave `model` out";
        findings.report(skill, model.span, message, help);
    }
}

/// Names, dates, providers and sizes: `gpt-5.1`, `openrouter/x:free`, `opus[1m]`, `claude@20250929`.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/@[]+~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn identifiers_of_all_providers_are_names() {
        for name in
            ["sonnet", "gpt-5.1", "openrouter/x:free", "opus[1m]", "inherit", "us.a.b-v1:0", "x@20250929"]
        {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "the best", "sonnet, opus", "<model>", "$MODEL", "sonnet|opus"] {
            assert!(!is_name(text), "{text}");
        }
    }
}
