//! The terminal has one writer: everything that the command line writes goes through `screen`, which a question holds.

use crate::none;
use crate::workspace::{SOURCES, Source};

/// Where the command line may write.
const SCREEN: &str = "crates/cli/src/screen.rs";

/// Ways to the terminal past the lock.
const WAYS: &[&str] =
    &["io::stdout()", "io::stderr()", "println!", "eprintln!", "print!(", "stdout().lock", "stderr().lock"];

fn problems(source: &Source) -> Vec<String> {
    if !source.path.starts_with("crates/cli/src/") || source.path == SCREEN || source.is_test() {
        return Vec::new();
    }
    // A descriptor is no writer: what is written to one goes through `screen` as well, or asks the terminal something.
    let lines = source.product_lines().map(|line| line.replace("rustix::stdio::", "")).enumerate();
    lines
        .filter(|(_, line)| !line.trim_start().starts_with("//") && WAYS.iter().any(|way| line.contains(way)))
        .map(|(index, _)| {
            format!("{}:{}: writes beside `screen`; a question may be open", source.path, index + 1)
        })
        .collect()
}

#[test]
fn the_command_line_writes_through_the_screen() {
    none(&SOURCES.iter().flat_map(problems).collect::<Vec<_>>());
}

#[test]
fn a_way_past_the_screen_is_found() {
    let text = "fn a() {\n    let _ = writeln!(io::stderr(), \"x\");\n}\n";
    let found = problems(&Source::new("crates/cli/src/a.rs", text));
    assert_eq!(found, ["crates/cli/src/a.rs:2: writes beside `screen`; a question may be open"]);
    none(&problems(&Source::new(SCREEN, text)));
    none(&problems(&Source::new("crates/cli/tests/it/a.rs", text)));
}
