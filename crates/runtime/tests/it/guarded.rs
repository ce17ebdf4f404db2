//! What the gate guards and what the sandbox keeps read-only are the same places, listed in two crates that do not know each
//! other: the gate's is pure, the sandbox's side also says what counts where nothing is there yet.

use std::collections::BTreeSet;

use metier_files::PROTECTED;
use metier_policy::{GUARDED, is_guarded};

/// What the gate guards beyond: of these the sandbox shows nothing that could be written, or knows them otherwise.
const MORE: &[&str] = &["skill.md", "mcp.json", ".npmrc", "config.fish", ".config/metier", ".ssh"];

/// Of a git folder the gate guards single files, since git writes most of the rest in ordinary use.
fn is_of_git(pattern: &str) -> bool {
    pattern.starts_with(".git/")
}

#[test]
fn what_stays_read_only_is_what_takes_a_yes_of_its_own() {
    let guarded: BTreeSet<&str> = GUARDED.iter().copied().collect();
    let protected = PROTECTED.iter().map(|rule| rule.pattern).filter(|pattern| !is_of_git(pattern));
    let expect: BTreeSet<&str> = protected.chain(MORE.iter().copied()).collect();
    assert_eq!(guarded, expect, "a row of one of the two tables is missing in the other");
    assert_eq!(GUARDED.len(), guarded.len(), "a row stands there twice");
}

#[test]
fn both_mean_the_same_by_a_row() {
    for rule in PROTECTED.iter().filter(|rule| !is_of_git(rule.pattern)) {
        let name = rule.pattern.trim_start_matches('/').replace('*', "x");
        for path in [name.clone(), name.to_ascii_uppercase(), format!("{name}/below")] {
            assert!(is_guarded(&path), "{path}");
        }
        let is_anchored = rule.pattern.starts_with('/');
        assert_eq!(is_guarded(&format!("sub/{name}")), !is_anchored, "sub/{name}");
    }
}
