use crate::phrase::{Spoken, is_mostly_ascii};
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::Description;

/// Words that say when, alone.
const WORDS: &[&str] = &[
    "when",
    "whenever",
    "trigger",
    "triggers",
    "triggered",
    "triggering",
    "invoke",
    "invoked",
    "invokes",
    "activate",
    "activates",
    "activated",
    "if",
    "after",
    "before",
    "during",
    "while",
    "until",
    "once",
    "anytime",
    "upon",
    "asks",
    "asked",
    "asking",
    "requests",
    "wants",
    "needs",
    "mentions",
    "mentioned",
    "says",
    "keywords",
    "where",
];

/// Phrases that say when or what for.
const PHRASES: &[&str] = &[
    "use for",
    "used for",
    "use to",
    "used to",
    "use this",
    "use it",
    "use on",
    "use in",
    "use with",
    "use as",
    "use at",
    "use by",
    "use proactively",
    "should be used",
    "must be used",
    "must use",
    "always use",
    "useful for",
    "useful in",
    "suitable for",
    "ideal for",
    "perfect for",
    "good for",
    "great for",
    "best for",
    "intended for",
    "designed for",
    "meant for",
    "applies to",
    "apply to",
    "apply this",
    "load this",
    "read this",
    "run this",
    "call this",
    "any time",
    "as soon as",
    "on request",
    "on demand",
    "at the start",
    "at the end",
    "at the beginning",
    "for tasks",
    "for any",
    "for all",
    "for questions",
    "for requests",
    "for situations",
    "use cases",
    "in response to",
    "prompts like",
    "phrases like",
    "such as",
    "each time",
    "every time",
    "need to",
    "want to",
    "works with",
    "working with",
    "not for",
    "do not use",
    "don't use",
    "required for",
    "mandatory for",
];

/// The same in other languages that are mostly written in ASCII letters.
const ELSEWHERE: &[&str] = &[
    "wenn",
    "sobald",
    "bei",
    "falls",
    "verwenden",
    "verwende",
    "nutze",
    "nutzen",
    "cuando",
    "úsalo",
    "usar",
    "úsala",
    "usa",
    "utilizar",
    "utiliza",
    "si",
    "quando",
    "use ao",
    "sempre que",
    "se",
    "quand",
    "lorsque",
    "utiliser",
    "dès que",
    "pour",
    "wanneer",
    "gebruik",
    "när",
    "använd",
    "brug",
    "når",
    "bruk",
    "gdy",
    "kiedy",
    "jeśli",
    "kullan",
    "kullanın",
    "ketika",
    "saat",
    "gunakan",
    "jika",
    "khi",
    "qachon",
    "agar",
];

/// Keys in which some clients take the triggers.
const KEYS: &[&str] =
    &["activation", "auto_activate", "keywords", "read_when", "trigger", "triggers", "use_when"];

pub(super) static RULE: Rule = Rule::new(
    "description-without-trigger",
    Severity::Warning,
    include_str!("description_without_trigger.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let manifest = skill.manifest();
    let Description::Written(written) = &manifest.description else { return };
    // Nobody chooses a skill that only its user can call.
    let says_elsewhere = manifest.when_to_use.is_some()
        || manifest.user_only.is_some()
        || !manifest.more.paths.is_empty()
        || manifest.more.extra.iter().any(|(key, _)| KEYS.contains(&key.as_str()));
    if says_elsewhere || says_when(&written.value) {
        return;
    }
    let help = "add a sentence that begins with `Use when`";
    findings.report(skill, written.span, "the description does not say when to use the skill", help);
}

/// Whether a description says when. What is not mostly written in ASCII letters gets the benefit of the doubt.
fn says_when(text: &str) -> bool {
    let spoken = Spoken::of(text);
    !is_mostly_ascii(text) || [WORDS, PHRASES, ELSEWHERE].iter().any(|phrases| spoken.has_any(phrases))
}

#[cfg(test)]
mod tests {
    use super::says_when;

    #[test]
    fn many_ways_to_say_when_count() {
        for text in [
            "Reads PDFs. Use when a PDF comes up.",
            "USE FOR: charts.",
            "Draws charts (triggers: chart, plot).",
            "This skill should be used by reviewers.",
            "Runs if the build fails.",
            "Liest PDFs. Verwenden, wenn ein PDF vorkommt.",
            "Lê PDFs. Use quando houver um PDF.",
            "Lee PDF. Úsalo cuando haya uno.",
            "分析数据。当用户需要时使用。",
            "データを分析する。",
        ] {
            assert!(says_when(text), "{text}");
        }
        for text in
            ["Draws bar charts from tables.", "Database migration patterns", "A friendly greeter skill"]
        {
            assert!(!says_when(text), "{text}");
        }
    }
}
