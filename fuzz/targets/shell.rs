//! Any text as a command line: what is accepted means to a real bash what it was understood as.
//!
//! Bash is only given lines all of whose commands match patterns of programs that write down how they were called, and of
//! builtins that touch nothing; and it runs contained (see `shell_bash.rs`).
#![no_main]

#[path = "../../crates/policy/tests/it/shell_bash.rs"]
#[allow(dead_code, reason = "the target needs a part of it")]
mod shell_bash;
#[path = "../../crates/policy/tests/it/shell_invariant.rs"]
mod shell_invariant;

use libfuzzer_sys::fuzz_target;
use metier_policy::CommandPattern;
use metier_policy::shell::{Command, Line};
use shell_bash::{BUILTINS, Bash, Files, RECORDERS};
use std::sync::OnceLock;

/// Longer lines take the fuzzer's time and bring nothing that shorter ones lack.
const MAX_BYTES: usize = 400;

struct Bench {
    bash: Bash,
    patterns: Vec<CommandPattern>,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let names = RECORDERS.iter().chain(BUILTINS);
        let patterns =
            names.map(|name| CommandPattern::parse(&format!("{name}:*")).expect("a pattern")).collect();
        Bench { bash: Bash::find().expect("this target needs a /bin/bash of version 5 or later"), patterns }
    })
}

/// The line with every command that has no pattern renamed to a recorder, so that whatever is accepted can be run.
fn renamed(line: &Line, patterns: &[CommandPattern]) -> String {
    let mut text = line.source.clone();
    for command in line.commands.iter().rev() {
        if !is_matched(command, patterns) {
            text.replace_range(command.words[0].span.clone(), "show");
        }
    }
    text
}

fn is_matched(command: &Command, patterns: &[CommandPattern]) -> bool {
    patterns.iter().any(|pattern| pattern.matches(command))
}

fuzz_target!(|text: &str| {
    if text.len() > MAX_BYTES {
        return;
    }
    let Ok(line) = shell_invariant::holds(text) else { return };
    let bench = bench();
    let text = renamed(&line, &bench.patterns);
    let line = shell_invariant::holds(&text).expect("another name changes nothing else");
    assert!(line.commands.iter().all(|command| is_matched(command, &bench.patterns)), "{text:?}");
    bench.bash.agrees(&line, if text.len() % 2 == 0 { Files::Hostile } else { Files::None });
});
