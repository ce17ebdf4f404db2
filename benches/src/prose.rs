//! Text that reads like instructions: sentences, lists, code blocks. Its shape matters here, not its sense.

use crate::random::Random;

const VERBS: &[&str] = &[
    "read",
    "check",
    "collect",
    "compare",
    "convert",
    "describe",
    "extract",
    "format",
    "group",
    "inspect",
    "list",
    "merge",
    "open",
    "parse",
    "prepare",
    "render",
    "report",
    "review",
    "run",
    "sort",
    "split",
    "summarise",
    "test",
    "translate",
    "update",
    "validate",
    "verify",
    "write",
];

const NOUNS: &[&str] = &[
    "archive",
    "branch",
    "budget",
    "calendar",
    "chart",
    "column",
    "commit",
    "contract",
    "dashboard",
    "database",
    "deployment",
    "diagram",
    "document",
    "endpoint",
    "figure",
    "folder",
    "form",
    "image",
    "invoice",
    "issue",
    "ledger",
    "message",
    "migration",
    "model",
    "notebook",
    "page",
    "pipeline",
    "policy",
    "presentation",
    "query",
    "receipt",
    "record",
    "release",
    "report",
    "request",
    "schema",
    "script",
    "sheet",
    "slide",
    "table",
    "template",
    "test",
    "ticket",
    "timeline",
    "transcript",
    "workbook",
];

const QUALITIES: &[&str] = &[
    "annual", "broken", "clean", "complete", "current", "daily", "empty", "existing", "final", "first",
    "formal", "internal", "large", "local", "long", "missing", "monthly", "new", "old", "open", "plain",
    "public", "raw", "recent", "remote", "short", "single", "stale", "strict", "whole",
];

const JOINTS: &[&str] = &["and then", "before you", "so that you can", "or, if that fails,", "until you can"];

const CLOSINGS: &[&str] = &[
    "Ask when in doubt.",
    "Never guess a number.",
    "Keep the original beside it.",
    "Say what was left out.",
    "The user decides.",
    "Stop at the first error.",
];

/// A thing, as a writer of skills would name it: `the monthly ledger`.
pub(crate) fn thing(random: &mut Random) -> String {
    format!("the {} {}", random.pick(QUALITIES), random.pick(NOUNS))
}

/// A sentence without its full stop, beginning in lower case.
pub(crate) fn clause(random: &mut Random) -> String {
    let mut text = format!("{} {}", random.pick(VERBS), thing(random));
    if random.percent(60) {
        text.push_str(&format!(" {} {} {}", random.pick(JOINTS), random.pick(VERBS), thing(random)));
    }
    text
}

/// A sentence.
pub(crate) fn sentence(random: &mut Random) -> String {
    let clause = clause(random);
    let mut characters = clause.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

/// A name in the form skills have, without its number: `monthly-ledger`.
pub(crate) fn name(random: &mut Random) -> String {
    format!("{}-{}", random.pick(QUALITIES), random.pick(NOUNS))
}

/// One word.
pub(crate) fn noun(random: &mut Random) -> &'static str {
    random.pick(NOUNS)
}

/// Markdown of about this many bytes.
pub(crate) fn markdown(random: &mut Random, title: &str, bytes: usize) -> String {
    let mut text = format!("# {title}\n\n");
    while text.len() < bytes {
        section(random, &mut text);
    }
    text.truncate(bytes);
    text.push('\n');
    text
}

fn section(random: &mut Random, text: &mut String) {
    text.push_str(&format!("## {}\n\n", sentence(random).trim_end_matches('.')));
    for _ in 0..random.between(1, 3) {
        for _ in 0..random.between(2, 5) {
            text.push_str(&sentence(random));
            text.push(' ');
        }
        text.push_str(random.pick(CLOSINGS));
        text.push_str("\n\n");
    }
    if random.percent(50) {
        for number in 1..=random.between(3, 6) {
            text.push_str(&format!("{number}. {}\n", sentence(random)));
        }
        text.push('\n');
    }
    if random.percent(40) {
        text.push_str("```bash\n");
        for _ in 0..random.between(1, 3) {
            text.push_str(&format!("python scripts/run.py --{} {}.csv\n", noun(random), noun(random)));
        }
        text.push_str("```\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_the_bytes_it_was_asked_for() {
        for bytes in [300, 2_000, 11_500] {
            let text = markdown(&mut Random::new(3), "A title", bytes);
            assert_eq!(text.len(), bytes + 1);
            assert!(text.starts_with("# A title\n\n## "));
        }
    }

    #[test]
    fn a_sentence_is_one() {
        let text = sentence(&mut Random::new(3));
        assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{text}");
    }
}
