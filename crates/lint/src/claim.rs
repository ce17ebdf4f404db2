//! Claims of a description to be for everything: "use before any task", "entry point for every request".

use crate::phrase::Spoken;

/// What a claim comes behind. `Use when starting any task` is one, `debates any question` says what is done.
const OPENERS: &[&[&str]] = &[
    &["use", "for"],
    &["use", "in"],
    &["use", "on"],
    &["use", "with"],
    &["use", "this", "for"],
    &["use", "this", "skill", "for"],
    &["use", "it", "for"],
    &["used", "for"],
    &["trigger", "on"],
    &["trigger", "for"],
    &["triggers", "on"],
    &["triggers", "for"],
    &["invoke", "for"],
    &["activate", "for"],
    &["activate", "on"],
    &["applies", "to"],
    &["apply", "to"],
    &["required", "for"],
    &["mandatory", "for"],
    &["point", "for"],
    &["helps", "with"],
    &["help", "with"],
];

/// Behind these a claim holds even when it says what for: "before any task to set the tone". Every task has a beginning.
const BEGINNINGS: &[&[&str]] = &[
    &["when", "starting"],
    &["when", "beginning"],
    &["start", "of"],
    &["beginning", "of"],
    &["before", "starting"],
    &["mandatory", "before"],
    &["required", "before"],
    &["invoke", "before"],
    &["used", "before"],
    &["use", "it", "before"],
    &["use", "this", "skill", "before"],
    &["use", "this", "before"],
    &["use", "before"],
    &["before", "responding", "to"],
];

/// Words that make a claim of what follows.
const ALL: &[&str] = &["any", "every", "each", "all"];

/// Words between that take nothing away from a claim.
const BETWEEN: &[&str] = &[
    "coding",
    "complex",
    "creative",
    "development",
    "domain",
    "given",
    "kind",
    "new",
    "of",
    "single",
    "software",
    "sort",
    "substantive",
    "type",
    "user",
];

/// What everything consists of.
const THINGS: &[&str] = &[
    "conversation",
    "conversations",
    "interaction",
    "interactions",
    "message",
    "messages",
    "problem",
    "problems",
    "project",
    "projects",
    "prompt",
    "prompts",
    "question",
    "questions",
    "request",
    "requests",
    "response",
    "responses",
    "session",
    "sessions",
    "situation",
    "situations",
    "task",
    "tasks",
    "topic",
    "topics",
    "turn",
    "turns",
    "work",
];

/// Words that are a claim by themselves.
const WHOLE: &[&str] = &["everything", "anything"];

/// Words that narrow a claim down: "any task involving brain scans".
const NARROWING: &[&str] = &[
    "about",
    "at",
    "being",
    "by",
    "concerning",
    "for",
    "from",
    "in",
    "involving",
    "like",
    "needing",
    "of",
    "on",
    "owned",
    "regarding",
    "related",
    "relating",
    "requiring",
    "that",
    "to",
    "touching",
    "using",
    "when",
    "where",
    "which",
    "whose",
    "with",
    "within",
];

/// Clauses that are a claim, or say nothing, as a whole.
const CLAUSES: &[&str] = &[
    "always active",
    "always use",
    "always use this skill",
    "use always",
    "use as needed",
    "use this skill always",
    "use this skill when relevant",
    "use when needed",
    "use when relevant",
    "use when this domain is relevant",
    "use whenever needed",
];

/// The first claim to be for everything, in the words of the description.
pub(crate) fn claim(description: &str) -> Option<String> {
    // The word behind a stop, a comma or a dash does not narrow what stands before it.
    let ends = |mark: char| matches!(mark, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '—' | '–' | '\n');
    description.split(ends).find_map(|clause| {
        let spoken = Spoken::of(clause);
        let words: Vec<&str> = spoken.words().collect();
        let whole = words.join(" ");
        let is_negated = || words.iter().any(|word| matches!(*word, "not" | "never" | "don't" | "isn't"));
        if CLAUSES.contains(&whole.as_str()) {
            return Some(whole);
        }
        (0..words.len()).find_map(|at| claim_at(&words, at)).filter(|_| !is_negated())
    })
}

/// The claim whose opener begins at a word.
fn claim_at(words: &[&str], at: usize) -> Option<String> {
    let opener = |openers: &[&[&str]]| {
        openers.iter().find(|opener| words[at..].starts_with(opener)).map(|opener| at + opener.len())
    };
    let (behind, is_beginning) = match opener(BEGINNINGS) {
        Some(behind) => (behind, true),
        None => (opener(OPENERS)?, false),
    };
    let thing = if words.get(behind).is_some_and(|word| WHOLE.contains(word)) {
        behind
    } else if words.get(behind).is_some_and(|word| ALL.contains(word)) {
        let between = words[behind + 1..].iter().take_while(|word| BETWEEN.contains(word)).count();
        behind + 1 + between
    } else {
        return None;
    };
    let is_whole = WHOLE.contains(words.get(thing)?) || THINGS.contains(words.get(thing)?);
    let is_meant = is_whole
        && match words.get(thing + 1) {
            None => true,
            Some(&next) if is_beginning => next == "to" || !NARROWING.contains(&next),
            // Any other word is a part of the thing: "any project docs".
            Some(&next) => matches!(next, "and" | "or" | "before" | "after" | "you" | "the"),
        };
    is_meant.then(|| words[at..=thing].join(" "))
}

#[cfg(test)]
mod tests {
    use super::claim;

    fn check(description: &str, expect: Option<&str>) {
        assert_eq!(claim(description).as_deref(), expect, "{description}");
    }

    #[test]
    fn claims_to_be_for_everything_are_found() {
        check("Sets the tone. Use when starting any task to set the style.", Some("when starting any task"));
        check("Entry point for every task: reads the memory.", Some("point for every task"));
        check("Patterns. Use before any complex task to be right.", Some("use before any complex task"));
        check("Use this skill for everything.", Some("use this skill for everything"));
        check("Helps with anything", Some("helps with anything"));
        check("Use for any kind of task", Some("use for any kind of task"));
        check("See the body. Use when this domain is relevant.", Some("use when this domain is relevant"));
        check("Loads the rules. Always use this skill!", Some("always use this skill"));
    }

    #[test]
    fn what_is_narrowed_down_is_no_claim() {
        check("Use for every request to commit changes.", None);
        check("Use for any task involving brain scans.", None);
        check("Use for READMEs or any project docs.", None);
        check("Use in any project docs folder", None);
        check("Debates any question.", None);
        check("Always use this skill when a PDF comes up.", None);
        check("Do not use for any task.", None);
        check("Use for any research task.", None);
        check("Use when starting any project that has a database.", None);
        check("Display all tasks with their status.", None);
        check("", None);
        check("use for", None);
        check("use for all", None);
    }
}
