use crate::phrase::Spoken;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::Description;

/// What and when cannot be said in fewer words.
const MIN_WORDS: usize = 5;
/// The same for writing without blanks between words.
const MIN_CHARACTERS: usize = 8;

pub(super) static RULE: Rule = Rule::new(
    "description-too-short",
    Severity::Warning,
    include_str!("description_too_short.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let manifest = skill.manifest();
    let Description::Written(written) = &manifest.description else { return };
    // Nobody chooses a skill that only its user can call, and `when_to_use` is shown with the description.
    if manifest.user_only.is_some() || manifest.when_to_use.is_some() {
        return;
    }
    let text = &written.value;
    let (count, least, parts) = if text.is_ascii() {
        (Spoken::of(text).words().count(), MIN_WORDS, "words")
    } else {
        (text.chars().count(), MIN_CHARACTERS, "characters")
    };
    if count < least {
        let message = format!("the description has {count} {parts}, too few to say what it does and when");
        let help = "say what it does and when to use it";
        findings.report(skill, written.span, message.replace(" 1 words", " 1 word"), help);
    }
}
