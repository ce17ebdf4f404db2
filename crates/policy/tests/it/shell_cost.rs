//! Long lines are read in linear time, up to a limit.

use crate::shell_table::first_unmatched;
use metier_policy::CommandPattern;
use metier_policy::shell::{MAX_COMMANDS, MAX_LINE_BYTES, RefusalKind, parse};
use std::time::{Duration, Instant};

/// A debug build on a busy machine needs a few milliseconds for any of these; what is quadratic needs minutes.
const PLENTY: Duration = Duration::from_secs(5);

fn quickly<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < PLENTY, "{what} took {:?}", start.elapsed());
    result
}

#[test]
fn ten_thousand_arguments() {
    let line = format!("git add{}", " 'a b'/c*".repeat(10_000));
    let parsed = quickly("parsing", || parse(&line)).unwrap();
    assert_eq!(parsed.commands[0].words.len(), 10_002);
    let pattern = CommandPattern::parse("git add:*").unwrap();
    assert_eq!(quickly("matching", || first_unmatched(&parsed, &[pattern])), None);
}

#[test]
fn as_many_commands_as_are_read_and_one_more() {
    let line = "a;".repeat(MAX_COMMANDS);
    let parsed = parse(&line).unwrap();
    assert_eq!(parsed.commands.len(), MAX_COMMANDS);
    let patterns: Vec<_> = (0..1_000).map(|n| CommandPattern::parse(&format!("b{n}:*")).unwrap()).collect();
    assert_eq!(quickly("matching", || first_unmatched(&parsed, &patterns)), Some("a"));
    let refusal = parse(&format!("{line} b")).unwrap_err();
    assert_eq!((refusal.kind, refusal.piece.as_str()), (RefusalKind::TooManyCommands, "b"));
}

#[test]
fn a_line_may_be_as_long_as_an_argument() {
    let longest = format!("echo {}", "x".repeat(MAX_LINE_BYTES - 5));
    assert!(quickly("parsing", || parse(&longest)).is_ok());
    let refusal = parse(&format!("{longest}x")).unwrap_err();
    assert_eq!((refusal.kind, refusal.span), (RefusalKind::TooLong, MAX_LINE_BYTES..MAX_LINE_BYTES + 1));
    // The limit lies inside a character; the piece does not.
    let refusal = parse(&format!("echo {}", "日".repeat(400_000))).unwrap_err();
    assert_eq!((refusal.kind, refusal.piece.as_str()), (RefusalKind::TooLong, "日"));
}

#[test]
fn what_could_be_looked_through_again_and_again_is_not() {
    let size = MAX_LINE_BYTES - 100;
    let (name, tildes) = ("x".repeat(size / 2), ":~".repeat(size / 4));
    quickly("a long name before tildes", || assert!(parse(&format!("echo {name}.{tildes}")).is_ok()));
    let quiet = " >/dev/null".repeat(size / 11);
    quickly("many redirections", || assert!(parse(&format!("echo {quiet}")).is_ok()));
    for piece in [
        "{}", "{a}", "\\{", "'a'", "\"a\"", "a=", "*", "%", "[", "a:", "é", "\t", "$(", "`", "(", "~", "'\n'",
    ] {
        let repeated = piece.repeat(size / piece.len());
        quickly(piece, || parse(&format!("echo x{repeated}")).is_ok());
        quickly(piece, || parse(&format!("printf '{repeated}'")).is_ok());
        quickly(piece, || parse(&format!("cat <<'E'\n{repeated}\nE")).is_ok());
    }
}
