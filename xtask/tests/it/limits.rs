//! One search finds every limit: `const MAX_`, `MIN_`, `DEFAULT_` or `_TIMEOUT`.

use crate::none;
use crate::workspace::{SOURCES, Source};

/// Words that limits were called by, and what they are called instead.
const OLD: &[(&str, &str)] = &[
    ("MOST", "MAX_"),
    ("LONGEST", "MAX_"),
    ("LARGEST", "MAX_"),
    ("DEEPEST", "MAX_…_DEPTH"),
    ("LEAST", "MIN_"),
    ("FEWEST", "MIN_"),
    ("SHORTEST", "MIN_"),
    ("SMALLEST", "MIN_"),
    ("USUAL", "DEFAULT_"),
    ("FAREWELL", "…_TIMEOUT"),
    ("PATIENCE", "…_TIMEOUT"),
];

/// Where limits of the product are.
fn is_product(source: &Source) -> bool {
    source.path.starts_with("crates/") && source.path.contains("/src/") && !source.is_test()
}

fn problems(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    for line in source.product_lines().filter(|line| !line.trim_start().starts_with("//")) {
        let Some((_, declared)) = line.split_once("const ") else { continue };
        let name =
            declared.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let old = OLD.iter().find(|(word, _)| name.split('_').next() == Some(word));
        if let Some((_, plain)) = old {
            problems
                .push(format!("{}: `{name}` is not found among the limits; call it `{plain}`", source.path));
        }
    }
    problems
}

#[test]
fn limits_are_found_by_one_search() {
    none(&SOURCES.iter().filter(|source| is_product(source)).flat_map(problems).collect::<Vec<_>>());
}

#[test]
fn an_old_word_is_a_problem() {
    let found = |text: &str| problems(&Source::new("crates/a/src/b.rs", text)).len();
    assert_eq!(found("const MOST_NAMES: usize = 3;\npub(crate) const LONGEST: usize = 3;\n"), 2);
    assert_eq!(found("const MAX_NAMES: usize = 3;\n// const MOST: usize = 3;\nconst MOSTLY: u8 = 1;\n"), 0);
    assert_eq!(found("#[cfg(test)]\nmod tests {\n    const MOST: u8 = 1;\n}\n"), 0);
}
