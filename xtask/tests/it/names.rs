//! Files are named by the noun they hold and are short enough to be read whole.

use std::path::Path;

use crate::none;
use crate::workspace::{SOURCES, Source};

/// Names that say nothing, and so collect everything.
const EMPTY: &[&str] = &["common", "core", "helper", "helpers", "manager", "managers", "util", "utils"];

/// The end of a file; 350 is the aim. Tests do not count.
const MAX_LINES: usize = 600;

fn problems(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    let path = Path::new(&source.path);
    for part in path.with_extension("").iter().filter_map(|part| part.to_str()) {
        if EMPTY.contains(&part) {
            problems.push(format!("{}: `{part}` says nothing; name the noun that it holds", source.path));
        }
    }
    if path.file_name().is_some_and(|name| name == "mod.rs") {
        problems.push(format!("{}: use `name.rs` beside `name/` instead of `mod.rs`", source.path));
    }
    let lines = source.product_lines().count();
    if lines > MAX_LINES && !source.is_test() {
        problems.push(format!("{}: {lines} lines, more than {MAX_LINES}; split it by noun", source.path));
    }
    problems
}

#[test]
fn files_have_names_and_an_end() {
    none(&SOURCES.iter().flat_map(problems).collect::<Vec<_>>());
}

#[test]
fn a_name_that_says_nothing_is_a_problem_for_files_and_folders() {
    for path in ["crates/skill/src/utils.rs", "crates/core/src/lib.rs", "crates/skill/src/common/yaml.rs"] {
        assert_eq!(problems(&Source::new(path, "")).len(), 1, "{path}");
    }
    none(&problems(&Source::new("crates/skill/src/frontmatter.rs", "")));
}

#[test]
fn mod_rs_is_a_problem() {
    assert_eq!(problems(&Source::new("crates/skill/src/yaml/mod.rs", "")).len(), 1);
}

#[test]
fn a_long_file_is_a_problem_unless_it_is_a_test() {
    let long = "line\n".repeat(MAX_LINES + 1);
    let found = problems(&Source::new("crates/skill/src/parse.rs", &long));
    assert_eq!(found, ["crates/skill/src/parse.rs: 601 lines, more than 600; split it by noun"]);
    none(&problems(&Source::new("crates/skill/src/parse/tests.rs", &long)));
    none(&problems(&Source::new("crates/skill/tests/it/parse.rs", &long)));
    none(&problems(&Source::new("crates/skill/src/parse.rs", &"line\n".repeat(MAX_LINES))));
    let tested = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
    none(&problems(&Source::new("crates/skill/src/parse.rs", &tested)));
}
