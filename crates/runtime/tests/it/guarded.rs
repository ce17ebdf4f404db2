//! What the gate guards and what the sandbox keeps read-only are the rows of one table, which each of them reads in its own way.

use metier_files::PROTECTED;
use metier_policy::is_guarded;

/// Of a git folder the gate guards single files, since git writes most of the rest in ordinary use.
fn is_of_git(pattern: &str) -> bool {
    pattern.starts_with(".git/")
}

#[test]
fn both_mean_the_same_by_a_row() {
    assert!(PROTECTED.len() > 200, "{}", PROTECTED.len());
    for rule in PROTECTED.iter().filter(|rule| !is_of_git(rule.pattern)) {
        let name = rule.pattern.trim_start_matches('/').replace('*', "x");
        for path in [name.clone(), name.to_ascii_uppercase(), format!("{name}/below")] {
            assert!(is_guarded(&path), "{path}");
        }
        let is_anchored = rule.pattern.starts_with('/');
        assert_eq!(is_guarded(&format!("sub/{name}")), !is_anchored, "sub/{name}");
    }
}
