use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span, grouped};

/// What the open standard advises. It counts lines because authors can.
const MAX_LINES: usize = 500;

/// What the open standard advises for tokens, and how many bytes one is taken for. Lines say nothing about a body that
/// puts a paragraph on each.
const MAX_TOKENS: usize = 5_000;
pub(super) const BYTES_PER_TOKEN: usize = 4;

pub(super) static RULE: Rule =
    Rule::new("body-too-long", Severity::Warning, include_str!("body_too_long.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let body = skill.body();
    let ends = body.bytes().filter(|byte| *byte == b'\n').count();
    let lines = ends + usize::from(!body.is_empty() && !body.ends_with('\n'));
    let tokens = body.len() / BYTES_PER_TOKEN;
    // One finding for both, since one remedy serves both.
    let message = if lines > MAX_LINES {
        format!(
            "the body has {} lines, about {} tokens; {MAX_LINES} lines are advised",
            grouped(lines as u64),
            grouped(tokens as u64)
        )
    } else if tokens > MAX_TOKENS {
        format!(
            "the body has about {} tokens; {} are advised",
            grouped(tokens as u64),
            grouped(MAX_TOKENS as u64)
        )
    } else {
        return;
    };
    let help = "move what is not always needed into files below `references/`";
    findings.report(skill, Span::empty(skill.body_at()), message, help);
}
