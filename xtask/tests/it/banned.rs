//! What no source may contain: work left open, and in libraries a look at the environment.
//!
//! Files and processes are held by clippy's `disallowed-methods`, printing and exiting by its own lints; here is what
//! it cannot hold, because it is fine in one crate and wrong in the next.

use crate::none;
use crate::workspace::{SOURCES, Source, file};

/// Macros that mean "not finished". Without their `!`, so that this file does not find itself.
const UNFINISHED: &[&str] = &["dbg", "todo", "unimplemented"];

/// Ways to the environment; configuration is passed in by whoever holds it (invariant 3).
const ENVIRONMENT: &[&str] = &["std::env", "env::var", "env::vars", "env::current_dir", "env::home_dir"];

/// Folders of crates that are programs or test helpers rather than libraries of the product.
const PROGRAMS: &[&str] = &[
    "benches/",
    "crates/cli/",
    "crates/sandbox/probe/",
    "crates/sandbox/src/bin/",
    "crates/testkit/",
    "fuzz/",
    "xtask/",
];

fn problems(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in code(source.text.lines()) {
        for name in UNFINISHED {
            if calls(line, name) {
                problems.push(format!(
                    "{}:{number}: `{name}!` is left; finish it or write an issue",
                    source.path
                ));
            }
        }
    }
    // An example beside `src/` is a program too.
    let library =
        source.path.contains("/src/") && !PROGRAMS.iter().any(|folder| source.path.starts_with(folder));
    if library && !source.is_test() {
        for (number, line) in code(source.product_lines()) {
            // What the program was compiled for is no part of where it runs.
            let line = line.replace("std::env::consts::", "");
            if ENVIRONMENT.iter().any(|way| line.contains(way)) {
                problems.push(format!(
                    "{}:{number}: a library reads the environment; take the value as an argument",
                    source.path
                ));
            }
        }
    }
    problems
}

/// The lines that are no comments, with their numbers.
fn code<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (usize, &'a str)> {
    lines
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether the line calls this macro and not one whose name ends like it.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + name.len()..];
        let opened = after.strip_prefix('!').is_some_and(|rest| rest.starts_with(['(', '[', '{']));
        opened && !before.is_some_and(|character| character.is_alphanumeric() || character == '_')
    })
}

#[test]
fn nothing_is_left_open_and_libraries_take_arguments() {
    none(&SOURCES.iter().flat_map(problems).collect::<Vec<_>>());
}

#[test]
fn every_unfinished_macro_is_found_in_tests_too() {
    for name in UNFINISHED {
        let text = format!("fn a() {{\n    {name}!()\n}}\n");
        for path in ["crates/skill/src/a.rs", "crates/skill/tests/it/a.rs", "crates/cli/src/a.rs"] {
            let found = problems(&Source::new(path, &text));
            assert_eq!(found, [format!("{path}:2: `{name}!` is left; finish it or write an issue")]);
        }
    }
}

#[test]
fn a_word_in_a_comment_or_in_a_longer_name_is_none() {
    let name = UNFINISHED[0];
    none(&problems(&Source::new("crates/skill/src/a.rs", &format!("// Not {name}!(x).\nmy_{name}!(x);\n"))));
}

#[test]
fn the_environment_is_for_programs_and_tests() {
    let text = "fn home() -> Option<std::ffi::OsString> {\n    std::env::var_os(\"HOME\")\n}\n";
    let found = problems(&Source::new("crates/catalog/src/roots.rs", text));
    assert_eq!(
        found,
        ["crates/catalog/src/roots.rs:2: a library reads the environment; take the value as an argument"]
    );
    none(&problems(&Source::new("crates/cli/src/roots.rs", text)));
    none(&problems(&Source::new("crates/catalog/tests/it/roots.rs", text)));
    none(&problems(&Source::new("crates/catalog/examples/roots.rs", text)));
}

/// Clippy holds invariant 4 only as long as its list does.
#[test]
fn clippy_keeps_files_and_processes_where_they_belong() {
    let clippy: toml::Table =
        file("clippy.toml").and_then(|text| text.parse().ok()).expect("clippy.toml is TOML");
    let methods = clippy["disallowed-methods"].as_array().expect("disallowed-methods is a list");
    for needed in ["std::fs::File::open", "std::fs::read", "std::fs::write", "std::process::Command::new"] {
        let entry =
            methods.iter().find(|method| method.get("path").and_then(|path| path.as_str()) == Some(needed));
        let reason = entry.and_then(|entry| entry.get("reason"));
        assert!(reason.is_some(), "clippy.toml does not disallow `{needed}` with a reason; put it back");
    }
}
