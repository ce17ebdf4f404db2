use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::Description;

/// How a sentence begins that speaks as somebody or to somebody. `Use this when you …` is neither: it tells a model
/// when, which is what a description is for.
const OPENINGS: &[&str] = &[
    "I am", "I can", "I help", "I will", "I'll", "I'm", "I've", "My job", "We are", "We can", "We help",
    "We will", "We'll", "You are", "You can", "You will", "You'll", "You're",
];

pub(super) static RULE: Rule = Rule::new(
    "description-person",
    Severity::Warning,
    include_str!("description_person.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let Description::Written(written) = &skill.manifest().description else { return };
    let Some(opening) = spoken_opening(&written.value) else { return };
    let place = skill.place_in(written.span, opening);
    let message = format!("a sentence of the description begins with {}", quoted(opening));
    findings.report(skill, place, message, "write in the third person, as in `Reads invoices`");
}

/// The opening of the first sentence in the first or second person. What stands in quotes is what a user says.
fn spoken_opening(text: &str) -> Option<&str> {
    let mut in_quotes = false;
    let mut at_start = true;
    for (at, c) in text.char_indices() {
        if at_start && !in_quotes && c.is_alphabetic() {
            let rest = &text[at..];
            let found = OPENINGS.iter().find(|opening| {
                rest.get(..opening.len()).is_some_and(|begin| begin.replace('’', "'") == **opening)
                    && !rest[opening.len()..].starts_with(char::is_alphanumeric)
            });
            if let Some(opening) = found {
                return rest.get(..opening.len());
            }
        }
        match c {
            '"' => in_quotes = !in_quotes,
            '“' | '«' | '「' => in_quotes = true,
            '”' | '»' | '」' => in_quotes = false,
            _ => {}
        }
        at_start = matches!(c, '.' | '!' | '?') || (at_start && !c.is_alphanumeric() && c != ',');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::spoken_opening;

    #[test]
    fn only_sentences_in_person_are_found() {
        for (text, expect) in [
            ("I can read PDFs.", Some("I can")),
            ("Reads PDFs. You can use this for forms.", Some("You can")),
            ("You are an expert in PDFs.", Some("You are")),
            ("  I'm a reader", Some("I'm")),
            ("Use when you can not read a PDF.", None),
            ("Use when the user says \"I can not read this\".", None),
            ("Use for \"Help. I am lost\" and more.", None),
            ("Helps you read PDFs.", None),
            ("Triggers: I can not read", None),
            ("I canvas PDFs", None),
            ("", None),
        ] {
            assert_eq!(spoken_opening(text), expect, "{text}");
        }
    }
}
