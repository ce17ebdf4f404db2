//! The loop stays small: lines of the crate and of `Session`, lines of a file, fields of a type.

use crate::none;
use crate::workspace::{SOURCES, Source};

/// The crate of the loop.
const AGENT: &str = "crates/agent/src/";

/// Lines of the loop's crate, and of the methods of a session. What is more than a person can keep in mind is two things.
const MAX_AGENT: usize = 8_000;
const MAX_SESSION: usize = 2_000;

/// Lines of one of its files.
const MAX_FILE: usize = 500;

/// Fields of a type that has behaviour, in the crates between the request and the process.
const MAX_FIELDS: usize = 15;
const FIELD_CRATES: &[&str] =
    &[AGENT, "crates/activation/src/", "crates/exec/src/", "crates/runtime/src/", "crates/tools/src/"];

/// The lines of blocks that begin with a line of this beginning and end at the left edge.
fn block_lines(source: &Source, beginning: &str) -> usize {
    let mut is_inside = false;
    let mut count = 0;
    for line in source.product_lines() {
        is_inside |= line.starts_with(beginning);
        count += usize::from(is_inside);
        is_inside &= !line.starts_with('}');
    }
    count
}

/// The structs of a file with more fields than they may have.
fn wide_structs(source: &Source) -> Vec<String> {
    let mut wide = Vec::new();
    let mut current: Option<(String, usize)> = None;
    for line in source.product_lines() {
        match &mut current {
            None => {
                let name =
                    line.split_once("struct ").filter(|_| line.ends_with('{') && !line.starts_with("//"));
                current = name.map(|(_, name)| (name.trim_end_matches(['{', ' ']).to_owned(), 0));
            }
            Some((name, fields)) if line.trim() == "}" => {
                if *fields > MAX_FIELDS {
                    let path = &source.path;
                    wide.push(format!("{path}: `{name}` has {fields} fields, more than {MAX_FIELDS}"));
                }
                current = None;
            }
            Some((_, fields)) => {
                let line = line.trim();
                *fields += usize::from(line.ends_with(',') && line.contains(": ") && !line.starts_with("//"));
            }
        }
    }
    wide
}

fn agent() -> impl Iterator<Item = &'static Source> {
    SOURCES.iter().filter(|source| source.path.starts_with(AGENT) && !source.is_test())
}

#[test]
fn the_loop_is_small() {
    let lines: usize = agent().map(|source| source.product_lines().count()).sum();
    assert!(lines <= MAX_AGENT, "metier-agent has {lines} lines, more than {MAX_AGENT}");
    let session: usize = agent().map(|source| block_lines(source, "impl Session {")).sum();
    assert!((1..=MAX_SESSION).contains(&session), "`Session` has {session} lines, more than {MAX_SESSION}");
    println!("metier-agent {lines} lines, `Session` {session}");
}

#[test]
fn files_of_the_loop_are_short() {
    let long = agent().filter_map(|source| {
        let lines = source.product_lines().count();
        (lines > MAX_FILE).then(|| format!("{}: {lines} lines, more than {MAX_FILE}", source.path))
    });
    none(&long.collect::<Vec<_>>());
}

#[test]
fn types_have_few_fields() {
    let sources =
        SOURCES.iter().filter(|source| FIELD_CRATES.iter().any(|path| source.path.starts_with(path)));
    none(&sources.filter(|source| !source.is_test()).flat_map(wide_structs).collect::<Vec<_>>());
}

#[test]
fn what_is_counted() {
    let text = "struct A {\n    a: u8,\n    /// a: b,\n    b: u8,\n}\n\nimpl Session {\n    fn a() {}\n}\nfn b() {}\n";
    let source = Source::new("crates/agent/src/a.rs", text);
    assert_eq!(block_lines(&source, "impl Session {"), 3);
    none(&wide_structs(&source));
    let fields = "    f: u8,\n".repeat(MAX_FIELDS + 1);
    let source = Source::new("crates/agent/src/a.rs", &format!("pub(crate) struct Wide {{\n{fields}}}\n"));
    assert_eq!(wide_structs(&source), ["crates/agent/src/a.rs: `Wide` has 16 fields, more than 15"]);
}
