//! Tests that this machine cannot run.
#![expect(clippy::disallowed_methods, reason = "the file of notes belongs to the run of the tests")]

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// What continuous integration may lack, with the reason. Anything else that is missing there fails its test.
const ALLOWED: &str = include_str!("../not-tried.txt");

/// Says that a test cannot try something here: a program, right or kernel feature that `what` names is missing.
///
/// The line is also appended to the file that `METIER_NOT_TRIED` names, since a passing test shows no output. `cargo xtask test`
/// counts these lines.
///
/// # Panics
///
/// With `CI=true`, unless `not-tried.txt` of this crate lists `what`: there the machine is ours to complete.
pub fn not_tried(what: &str, why: impl Display) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("{what}: {test}: {why}\n");
    if let Some(path) = env::var_os("METIER_NOT_TRIED") {
        // One write, so that lines of several processes do not mix.
        let appended = OpenOptions::new().create(true).append(true).open(&path);
        let written = appended.and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "{}: {written:?}", path.display());
    }
    let is_ci = env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        !is_ci || is_allowed(what),
        "NOT TRIED: {line}install what is missing, or list `{what}` in crates/testkit/not-tried.txt"
    );
}

fn is_allowed(what: &str) -> bool {
    let lines = ALLOWED.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(':')).any(|(name, _)| name == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_with_a_reason_may_be_missing() {
        assert!(is_allowed("corpus"));
        assert!(!is_allowed("bash"));
        assert!(!is_allowed("# What"));
        let lines = ALLOWED.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        for line in lines {
            assert!(line.split_once(": ").is_some_and(|(_, reason)| reason.len() > 20), "{line}: no reason");
        }
    }
}
