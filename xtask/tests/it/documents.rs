//! Each library says at its top what it is and shows how it is used; the map of the whole stays short.

use cargo_metadata::TargetKind;

use crate::none;
use crate::workspace::{METADATA, beside_manifest, file};

/// The map is read in one sitting or not at all.
const LONGEST_MAP: usize = 300;

/// Info strings of code blocks that rustdoc compiles.
const COMPILED: &[&str] =
    &["", "no_run", "rust", "rust,no_run", "should_panic", "standalone_crate", "compile_fail"];

fn library_problems(path: &str, text: &str) -> Vec<String> {
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    if head.is_empty() {
        return vec![format!("{path} does not begin with `//!`; say what the crate is and what it is not")];
    }
    let fences: Vec<&str> =
        head.iter().filter_map(|line| line.trim_start_matches("//!").trim().strip_prefix("```")).collect();
    // Every second fence closes a block.
    if fences.iter().step_by(2).any(|information| COMPILED.contains(information)) {
        return Vec::new();
    }
    vec![format!("{path} shows no use of the crate; add a code block that rustdoc compiles")]
}

fn map_problems(text: &str) -> Vec<String> {
    let lines = text.lines().count();
    if lines <= LONGEST_MAP {
        return Vec::new();
    }
    vec![format!(
        "ARCHITECTURE.md has {lines} lines, more than {LONGEST_MAP}; move detail into the crate it is about"
    )]
}

#[test]
fn every_library_begins_with_what_it_is_and_an_example() {
    let mut problems = Vec::new();
    for package in METADATA.workspace_packages() {
        if package.targets.iter().any(|target| target.kind.contains(&TargetKind::Lib)) {
            let path = beside_manifest(package, "src/lib.rs");
            problems.extend(library_problems(&path, &file(&path).expect("a library has a lib.rs")));
        }
    }
    none(&problems);
}

#[test]
fn the_map_is_short() {
    if let Some(text) = file("ARCHITECTURE.md") {
        none(&map_problems(&text));
    }
}

#[test]
fn a_library_without_a_word_or_without_an_example_is_a_problem() {
    let path = "crates/x/src/lib.rs";
    assert!(library_problems(path, "mod a;\n")[0].contains("does not begin with `//!`"));
    assert!(library_problems(path, "//! What is a skill?\n\nmod a;\n")[0].contains("shows no use"));
    let drawing = "//! What is a skill?\n//!\n//! ```text\n//! a -> b\n//! ```\n";
    assert!(library_problems(path, drawing)[0].contains("shows no use"));
    let late = "//! What is a skill?\n\n/// ```\n/// a();\n/// ```\nfn a() {}\n";
    assert!(library_problems(path, late)[0].contains("shows no use"));
}

#[test]
fn a_library_with_an_example_is_good() {
    let path = "crates/x/src/lib.rs";
    none(&library_problems(path, "//! What is a skill?\n//!\n//! ```\n//! a();\n//! ```\n"));
    none(&library_problems(path, "//! A.\n//! ```text\n//! a\n//! ```\n//! ```no_run\n//! a();\n//! ```\n"));
}

#[test]
fn a_long_map_is_a_problem() {
    none(&map_problems(&"line\n".repeat(LONGEST_MAP)));
    assert_eq!(map_problems(&"line\n".repeat(LONGEST_MAP + 1)).len(), 1);
}
