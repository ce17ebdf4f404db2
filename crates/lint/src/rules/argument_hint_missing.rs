use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "argument-hint-missing",
    Severity::Info,
    include_str!("argument_hint_missing.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let manifest = skill.manifest();
    let is_hinted = manifest.more.argument_hint.is_some() || !manifest.more.arguments.is_empty();
    // Without a slash command nobody types anything.
    if is_hinted || !manifest.user_invocable {
        return;
    }
    let Some(span) = first_argument(skill) else { return };
    let message = format!("the body takes `{}`, and there is no `argument-hint`", span.of(skill.source));
    findings.report(skill, span, message, "add `argument-hint: \"[what it takes]\"`");
}

/// The first place where an argument is put in. `$1` counts only alone in code, where an author names it: prices and
/// shell scripts have it, too, and far more often.
fn first_argument(skill: &Skill<'_>) -> Option<Span> {
    const TOKEN: &str = "$ARGUMENTS";
    let body = skill.body();
    let whole = body.match_indices(TOKEN).find(|(at, _)| {
        let is_escaped = body[..*at].ends_with('\\');
        !is_escaped && !body[at + TOKEN.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    });
    let whole = whole.map(|(at, _)| {
        let start = skill.body_at() + at;
        Span::new(start, start + TOKEN.len())
    });
    let numbered = skill.markdown().codes.iter().find_map(|code| {
        let written = code.of(skill.source);
        let name = written.trim_matches('`');
        let is_numbered = matches!(name.as_bytes(), [b'$', digit] if digit.is_ascii_digit());
        let start = code.start as usize + written.len().saturating_sub(name.len()) / 2;
        is_numbered.then(|| Span::new(start, start + name.len()))
    });
    whole.into_iter().chain(numbered).min_by_key(|span| span.start)
}
