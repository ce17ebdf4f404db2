use crate::hidden::is_right_to_left;
use crate::word::{first_bytes, last_bytes};
use crate::{Check, Findings, Hidden, HiddenKind, Rule, Skill};
use metier_diagnostic::Severity;

pub(super) static RULE: Rule =
    Rule::new("bidi-character", Severity::Error, include_str!("bidi_character.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for hidden in skill.hidden().iter().filter(|one| one.kind() == HiddenKind::Bidi) {
        if !is_at_home(*hidden, skill.source) {
            let label = hidden.label();
            let message = format!("{label} makes this text look different from what a model reads");
            findings.report(skill, hidden.span(), message, "delete it");
        }
    }
}

/// How much of a line is looked at around a character, so that a line full of them stays cheap.
const MAX_LINE: usize = 400;

/// An isolate in a line with right-to-left letters is how careful authors mix the two directions. Overrides and
/// embeddings are not needed there either.
fn is_at_home(hidden: Hidden, source: &str) -> bool {
    if !matches!(hidden.character, '\u{2066}'..='\u{2069}') {
        return false;
    }
    let before = last_bytes(source.get(..hidden.at).unwrap_or_default(), MAX_LINE);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = first_bytes(source.get(hidden.end()..).unwrap_or_default(), MAX_LINE);
    let after = after.split('\n').next().unwrap_or_default();
    before.chars().chain(after.chars()).any(is_right_to_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolates_are_at_home_beside_right_to_left_letters_only() {
        let check = |text: &str, expect: bool| {
            let at = text.find(['\u{2066}', '\u{202e}']).unwrap();
            let character = text[at..].chars().next().unwrap();
            assert_eq!(is_at_home(Hidden { at, character }, text), expect, "{text:?}");
        };
        check("\u{5e9}\u{2066}abc\u{2069}", true);
        check("\u{2066}abc\u{2069} \u{627}", true);
        check("\u{5e9}\n\u{2066}abc\u{2069}\n\u{5e9}", false);
        check("\u{5e9}\u{202e}abc", false);
    }
}
