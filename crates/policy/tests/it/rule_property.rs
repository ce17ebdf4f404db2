//! What holds for every text as a rule, as an action, and as another client's file of rules.

use crate::rule_invariant::{file_holds, holds};
use proptest::prelude::*;

/// Pieces of rules, of actions, and of what they are about.
const PIECES: &[&str] = &[
    "*",
    "**",
    "a",
    "A",
    "b",
    "docs",
    "/",
    "/",
    ".",
    "..",
    "~",
    ":",
    ":",
    "80",
    "443",
    "skill:",
    "command:",
    "write:",
    "host:",
    "secret:",
    "mcp:",
    "mcp__",
    "__",
    "tool:",
    "Bash(",
    "Write(",
    "Read(",
    "WebFetch(domain:",
    ")",
    "(",
    "read:",
    "script:",
    "inject",
    "hook",
    "scripts/",
    "user:",
    "x.org",
    "*.x.org",
    "127.1",
    "[::1]",
    "localhost",
    "[",
    "]",
    "[a]",
    "[!a]",
    "{",
    "}",
    ",",
    "\\",
    "?",
    "é",
    " ",
    ".git/hooks",
    "git",
    ":*",
    "/etc/hosts",
    "~/x",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..7).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_a_rule_allows_it_can_deny_and_what_covers_means_more(first in text(), second in text(), action in text()) {
        holds(&first, &second, &action);
        holds(&first, &action, &action);
    }

    #[test]
    fn no_file_of_another_client_breaks_its_reader(rules in prop::collection::vec(text(), 0..4), key in "allow|deny|ask|mode|defaultMode|\\PC{1,4}", cut in 0_usize..200) {
        let text = serde_json::json!({ "permissions": { (key): rules } }).to_string();
        file_holds(&text);
        file_holds(text.get(..cut.min(text.len())).unwrap_or_default());
    }
}

#[test]
fn what_was_found_once_holds() {
    for [first, second, action] in [
        ["write:**", "write:/etc/hosts", "skill:a/write:/etc/hosts"],
        ["**", "/etc/hosts", "/etc/hosts"],
        ["/.", "*", "/a"],
        ["read:Bash(*", "", ""],
        ["web_search:a(b", "", ""],
        ["skill:user:p*/script:a.py", "skill:a/script:a/**", "skill:pdf/script:a.pq/"],
        ["skill:a/script:a/**", "", "skill:a/script:a/"],
    ] {
        holds(first, second, action);
    }
}
