//! Each library says at its top what it is and shows how it is used; the map of the whole stays short.

use cargo_metadata::TargetKind;

use crate::none;
use crate::workspace::{METADATA, SOURCES, beside_manifest, exists, file};

/// The map is read in one sitting or not at all.
const MAX_MAP: usize = 300;

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
    if lines <= MAX_MAP {
        return Vec::new();
    }
    vec![format!(
        "ARCHITECTURE.md has {lines} lines, more than {MAX_MAP}; move detail into the crate it is about"
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
fn the_library_page_says_how_many_changes_are_remembered() {
    let page = file("docs/library.md").expect("the library has a page");
    let (_, rest) = page.split_once("the last ").expect("it says how many changes are remembered");
    let (number, _) = rest.split_once(" are remembered").expect("it says how many changes are remembered");
    let limit = format!("_CHANGES: usize = {};", number.replace(',', "_"));
    let is_limit = SOURCES.iter().any(|source| {
        source.path.starts_with("crates/runtime/src/")
            && source.product_lines().any(|line| line.contains(&limit))
    });
    assert!(is_limit, "docs/library.md says {number}, and no constant of metier-runtime ends in `{limit}`");
}

#[test]
fn pages_with_tables_of_bounds_point_to_the_limits() {
    let silent = ["format", "proxy", "store", "containment"].into_iter().filter(|page| {
        let text = file(&format!("docs/{page}.md")).expect("the page is there");
        !text.contains("(reference/limits.md)")
    });
    none(
        &silent
            .map(|page| format!("docs/{page}.md does not point to reference/limits.md"))
            .collect::<Vec<_>>(),
    );
}

/// The paths that the map names: `crates/…` anywhere, and in the tables of crates the files below their `src/`.
fn named_paths(text: &str) -> Vec<String> {
    let quoted = |part: &str| -> Vec<String> {
        part.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/').to_owned()).collect()
    };
    let mut paths: Vec<String> = Vec::new();
    let (mut is_inside, mut package) = (false, String::new());
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_inside = heading == "Inside the crates";
        }
        let is_path = |name: &String| ["crates/", "docs/", "xtask/"].iter().any(|top| name.starts_with(top));
        paths.extend(quoted(line).into_iter().filter(is_path));
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        if !is_inside || cells.len() < 3 || line.starts_with("|-") {
            continue;
        }
        if let Some(name) = quoted(cells[0]).into_iter().next() {
            package = name;
        }
        paths.extend(quoted(cells[1]).into_iter().map(|name| format!("crates/{package}/src/{name}")));
    }
    paths
}

#[test]
fn the_map_names_no_file_that_is_gone() {
    let text = file("ARCHITECTURE.md").expect("the map is there");
    let paths = named_paths(&text);
    assert!(paths.len() > 100, "the map is read");
    let is_there = |path: &String| exists(path) || exists(&format!("{path}.rs"));
    let gone = paths.iter().filter(|path| !is_there(path));
    none(&gone.map(|path| format!("ARCHITECTURE.md names `{path}`, which is gone")).collect::<Vec<_>>());
}

#[test]
fn the_names_in_the_map_are_read_as_paths() {
    let text = "`docs/a.md`\n## Inside the crates\n| crate | files | what |\n|---|---|---|\n| `x` | `a`, `b/` | c |\n| | `d` | e |\n";
    assert_eq!(named_paths(text), ["docs/a.md", "crates/x/src/a", "crates/x/src/b", "crates/x/src/d"]);
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
    none(&map_problems(&"line\n".repeat(MAX_MAP)));
    assert_eq!(map_problems(&"line\n".repeat(MAX_MAP + 1)).len(), 1);
}
