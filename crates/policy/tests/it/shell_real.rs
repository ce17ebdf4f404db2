//! What was understood against what a real bash does.

use crate::shell_bash::{BUILTINS, Bash, Files, RECORDERS};
use crate::shell_invariant::holds;
use crate::shell_property::PIECES;
use crate::shell_table::Expect;
use crate::{shell_accepted, shell_refused};
use metier_policy::shell::{Line, parse};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// How many generated lines bash is asked about; each costs a few processes.
const LINES: usize = 150;

fn bash() -> Option<Bash> {
    let bash = Bash::find();
    if bash.is_none() {
        metier_testkit::not_tried("bash", "there is no /bin/bash of version 5 or later");
    }
    bash
}

/// Whether every command is one that may be run here.
fn is_harmless(line: &Line, builtins: &[&str]) -> bool {
    let names = || line.commands.iter().map(|command| command.words[0].text.as_str());
    names().all(|name| RECORDERS.contains(&name) || builtins.contains(&name))
}

/// Words with everything in them that is text to the shell, quoted and bare, and with pieces that must be refused: were one
/// of them accepted, bash would do something else than what was understood.
fn word() -> impl Strategy<Value = String> + Clone {
    let part = prop::sample::select(vec![
        "a", "b", "-", "--x", "=", ":", "/", ".", "..", ",", "@", "+", "^", "%", "!", "]", "}", "#", "2",
        "~", "{}", "{u}", "*", "?", "[", "a[0]", "é", "日", "'b c'", "'$x'", "'`id`'", "'a\nb'", "'\\'",
        "'\"'", "''", "\"\"", "\"it's\"", "\"\\$x\"", "\"\\\\\"", "\"\\n\"", "\"\\\"\"", "\"a\nb\"", "\" \"",
        "\\ ", "\\$", "\\'", "\\\"", "\\\\", "\\;", "\\*", "\\{", "\\~", "\\é", "'~'", "'*'", "if", "'a,b'",
        "$x", "$", "$((1))", "`a`", "$(b)", "{a", "{a,b}", "{1..2}", ",b}", "a=", "x=a:", "x+=", "~/", ">f",
        "3>f", ">&1", "<>f", "&", "(", "$'a'", "\\\n", "+(a)", " # a", "\r", "\u{a0}",
    ]);
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
}

fn line() -> impl Strategy<Value = String> {
    let quiet = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        " 2>&1",
        " >/dev/null",
        " 2>/dev/null",
        " &>/dev/null",
        "</dev/null",
        " >&2",
        " 1>& 2",
    ]);
    let command = (prop::sample::select(RECORDERS), prop::collection::vec(word(), 0..4), quiet)
        .prop_map(|(name, words, quiet)| format!("{name} {}{quiet}", words.join(" ")));
    let joint = prop::sample::select(vec![" && ", "||", ";", " | ", "|", "&&"]);
    (command.clone(), prop::collection::vec((joint, command), 0..3)).prop_map(|(first, rest)| {
        rest.into_iter().fold(first, |line, (joint, command)| format!("{line}{joint}{command}"))
    })
}

#[test]
fn bash_starts_exactly_what_was_understood() {
    let Some(bash) = bash() else { return };
    let mut runner = TestRunner::deterministic();
    let (mut ran, mut tried) = (0, 0);
    while ran < LINES {
        tried += 1;
        assert!(tried < 100 * LINES, "only {ran} of {tried} generated lines are accepted");
        let text = line().new_tree(&mut runner).expect("a line").current();
        if let Ok(line) = holds(&text) {
            bash.agrees(&line, if ran % 4 == 0 { Files::Hostile } else { Files::None });
            ran += 1;
        }
    }
}

#[test]
fn bash_agrees_on_whatever_random_pieces_are_accepted() {
    let Some(bash) = bash() else { return };
    let mut runner = TestRunner::deterministic();
    let names = prop::sample::select([RECORDERS, BUILTINS].concat());
    let pieces = (names, prop::collection::vec(prop::sample::select(PIECES), 0..10))
        .prop_map(|(name, pieces)| format!("{name} {}", pieces.concat()));
    let mut ran = 0;
    for _ in 0..20_000 {
        let text = pieces.new_tree(&mut runner).expect("a line").current();
        if let Ok(line) = holds(&text)
            && is_harmless(&line, BUILTINS)
        {
            bash.agrees(&line, if ran % 2 == 0 { Files::Hostile } else { Files::None });
            ran += 1;
            if ran == LINES {
                return;
            }
        }
    }
    panic!("only {ran} lines were accepted");
}

#[test]
fn bash_agrees_on_the_tables() {
    let Some(bash) = bash() else { return };
    let mut ran = 0;
    for case in shell_accepted::TABLES.iter().copied().flatten() {
        if let Ok(line) = parse(case.line)
            && is_harmless(&line, BUILTINS)
        {
            bash.agrees(&line, Files::None);
            ran += 1;
        }
    }
    assert!(ran > 90, "only {ran} lines of the tables can be run");
}

#[test]
fn a_word_that_looks_like_the_trace_is_a_word() {
    let Some(bash) = bash() else { return };
    for text in ["show a@trace-0@ id", "show '@trace-0@ id' x", "show '\n@trace-0@ id' '\n@trace-1@ id'"] {
        bash.agrees(&holds(text).unwrap(), Files::None);
    }
}

#[test]
fn here_documents_reach_the_command_as_they_are() {
    let Some(bash) = bash() else { return };
    for text in [
        "cat <<'EOF'\n$(id) `id` $x \\\\ \\\n'\"\n\nEOF",
        "cat <<-\\EOF\n\t\tindented\n\t more\n\tEOF\n",
        "cat <<\"EOF\" | show\nEOF \n EOF\nEOF",
        "cat <<'EOF'\nEOF",
        "show x; cat - <<'EOF' && show 'y'\ngrüße\r\n\u{1}\u{7f}\nEOF",
    ] {
        let line = parse(text).unwrap();
        let document = line.commands.iter().find_map(|command| command.stdin.as_ref()).expect("a document");
        let ran = bash.run(text, Files::None);
        assert_eq!(ran.read, [document.body.as_str()], "{text:?}");
        bash.agrees(&line, Files::None);
    }
}

/// The reasons for refusing are not invented: these lines, refused above, do in bash what is said of them.
#[test]
fn what_is_refused_would_really_have_happened() {
    let Some(bash) = bash() else { return };
    let refused = |text: &str| assert!(parse(text).is_err(), "{text:?} is accepted");
    for text in [
        "test -v 'a[$(echo >made)]'",
        "[ ! -v 'a[$(echo >made)]' ]",
        "printf -v 'a[$(echo >made)]' x",
        "echo x | read 'a[$(echo >made)]'",
        "let 'a[$(echo >made)]'",
        "show a >made",
        "show a >|made",
        "show a <>made",
        "show a &>made",
        "show a 3>made",
        "show {fd}>made",
        "show `echo >made`",
        "show \"$(echo >made)\"",
        "show <(echo >made)",
        "cat <<EOF\n$(echo >made)\nEOF",
    ] {
        refused(text);
        assert_eq!(bash.run(text, Files::None).made, ["made"], "{text:?}");
    }
    // A name that stands for another program afterwards.
    for text in [
        "printf %n PATH; show",
        "printf '%(%n' PATH; show",
        "printf -v PATH /x; show",
        "hash -p /x show; show",
    ] {
        refused(text);
        assert!(bash.run(text, Files::None).started.is_empty(), "{text:?}");
    }
    // Other words than those that are written.
    for (text, words) in [
        ("show {a},b}", vec!["show", "a}", "b"]),
        ("show a{},b}", vec!["show", "a}", "ab"]),
        ("show x=~", vec!["show", "x=/nonexistent"]),
        ("show $'a'", vec!["show", "a"]),
        ("show a\\\nb", vec!["show", "ab"]),
    ] {
        refused(text);
        assert_eq!(bash.run(text, Files::None).started, [words], "{text:?}");
    }
    // An option that nobody wrote.
    refused("show *");
    let started = bash.run("show *", Files::Hostile).started;
    assert!(started[0].contains(&"-x".to_owned()), "{started:?}");
    // A glob that is evaluated.
    refused("test -v a*");
    assert_eq!(bash.run("test -v a[*", Files::Hostile).made, ["pwned"]);
    // A job instead of a program.
    refused("%show");
    assert!(bash.run("%show", Files::None).errors.contains("fg"));
}

#[test]
fn every_builtin_of_this_bash_was_thought_of() {
    let Some(bash) = bash() else { return };
    // Fine with any words, or with those that are looked at: see `docs/command-lines.md`.
    let fine = [
        ":", "[", "cd", "command", "dirs", "echo", "exit", "false", "help", "kill", "popd", "printf",
        "pushd", "pwd", "test", "times", "true", "type",
    ];
    // Each name is the argument of a recorder, since the shell has no other way to tell.
    let started = bash.run("show $(compgen -b)", Files::None).started;
    assert!(started[0].len() > 40, "{started:?}");
    for name in &started[0][1..] {
        let accepted = parse(&format!("'{name}' -v")).is_ok() || parse(&format!("'{name}'")).is_ok();
        assert_eq!(accepted, fine.contains(&name.as_str()), "{name}");
    }
    assert!(
        shell_refused::TABLES
            .iter()
            .copied()
            .flatten()
            .all(|case| matches!(case.expect, Expect::Refused(..)))
    );
}
