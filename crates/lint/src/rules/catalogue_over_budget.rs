use super::body_too_long::BYTES_PER_TOKEN;
use crate::{Check, Findings, Root, Rule};
use metier_diagnostic::{Diagnostic, Severity, grouped};

/// What the catalogue may cost where a model's window is not known.
const MAX_TOKENS: usize = 4_000;

pub(super) static RULE: Rule = Rule::new(
    "catalogue-over-budget",
    Severity::Info,
    include_str!("catalogue_over_budget.md"),
    Check::Root(check),
);

fn check(root: &Root<'_, '_>, findings: &mut Findings<'_>) {
    let skills = root.skills;
    let offered = || skills.iter().filter(|skill| skill.manifest().user_only.is_none());
    let bytes: usize =
        offered().map(|skill| skill.manifest().name.as_str().len() + skill.manifest().offer().len()).sum();
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
    let Some(first) = offered().min_by_key(|skill| &skill.path).filter(|_| tokens > MAX_TOKENS) else {
        return;
    };
    let message = format!(
        "the names and descriptions of this root ({} offered) take about {} tokens; the budget is {}",
        grouped(offered().count() as u64),
        grouped(tokens as u64),
        grouped(MAX_TOKENS as u64)
    );
    let found = Diagnostic::new(&RULE.code, message).in_file(&first.path);
    findings.add(found.help("shorten descriptions or remove skills nobody uses; what does not fit is cut"));
}
