//! Patterns: what they are read as, and which texts are none.

use metier_policy::shell::{RefusalKind, parse};
use metier_policy::{CommandPattern, PatternError};

fn check(text: &str, shown: &str) {
    let pattern = CommandPattern::parse(text).expect("a pattern");
    assert_eq!(pattern.to_string(), shown, "{text:?}");
    assert_eq!(CommandPattern::parse(shown), Ok(pattern), "{shown:?} is read back");
}

#[test]
fn the_forms_of_a_pattern() {
    check("git:*", "git:*");
    check("git *", "git:*");
    check("git\t*", "git:*");
    check("git :*", "git:*");
    check(" git diff:* ", "git diff:*");
    check("git status", "git status");
    check("git   'status'", "git status");
    check("*", "*");
    check("npm run test:unit", "npm run test:unit");
    check("npm run test:*", "npm run test:*");
    check("echo 'a b':*", "echo 'a b':*");
    check("echo ':*'", "echo ':*'");
    check("echo '*'", "echo '*'");
    check("echo '' x", "echo '' x");
    check("::*", "::*");
    check("'if' x", "'if' x");
    check("./a.sh:*", "./a.sh:*");
    check("eval:*", "eval:*");
}

fn fails(text: &str, kind: RefusalKind, piece: &str) {
    match CommandPattern::parse(text) {
        Err(PatternError::NotLiteral(refusal)) => {
            assert_eq!((refusal.kind, refusal.piece.as_str()), (kind, piece), "{text:?}");
        }
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn what_is_not_literal_words_is_no_pattern() {
    fails("git d*", RefusalKind::NotLiteral, "d*");
    fails("git *.rs", RefusalKind::GlobOption, "*.rs");
    fails("git * --x", RefusalKind::GlobOption, "*");
    fails("gi*", RefusalKind::GlobCommand, "gi*");
    fails("**", RefusalKind::GlobCommand, "**");
    fails("git && id", RefusalKind::NotLiteral, "id");
    fails("git | *", RefusalKind::MissingCommand, "|");
    fails("git >/dev/null:*", RefusalKind::NotLiteral, ">/dev/null");
    fails("git $x:*", RefusalKind::Variable, "$x");
    fails("git $(id)", RefusalKind::CommandSubstitution, "$(id)");
    fails("A=b git:*", RefusalKind::Assignment, "A=b");
    fails("if:*", RefusalKind::ReservedWord, "if");
    fails("git \\:*", RefusalKind::UnfinishedEscape, "\\");
    fails("git\\ *", RefusalKind::UnfinishedEscape, "\\");
    fails("'git:*", RefusalKind::UnclosedQuote, "'git");
    fails("cat <<'E'\nE", RefusalKind::NotLiteral, "<<'E'");
    for empty in ["", "  ", ":*", " :* "] {
        assert_eq!(CommandPattern::parse(empty), Err(PatternError::Empty), "{empty:?}");
    }
}

#[test]
fn an_argv_is_held_against_the_same_words() {
    let matches = |pattern: &str, argv: &[&str]| CommandPattern::parse(pattern).unwrap().matches_argv(argv);
    assert!(matches("git:*", &["git"]));
    assert!(matches("git:*", &["git", "status"]));
    assert!(!matches("git:*", &["gitk"]));
    assert!(!matches("git status", &["git status"]));
    assert!(!matches("git status", &["git", "status", ""]));
    assert!(matches("git status", &["git", "status"]));
    assert!(matches("*", &["anything"]));
    // In an argv a star is a star.
    assert!(matches("ls 'a*'", &["ls", "a*"]));
    for pattern in ["*", "git:*", "git"] {
        assert!(!matches(pattern, &[]), "{pattern} means a command");
    }
}

#[test]
fn a_glob_matches_no_word_and_could_match_any() {
    let check = |pattern: &str, line: &str, expect: (bool, bool)| {
        let (pattern, line) = (CommandPattern::parse(pattern).unwrap(), parse(line).unwrap());
        let command = line.only().expect("one command");
        assert_eq!(
            (pattern.matches(command), pattern.could_match(command)),
            expect,
            "{pattern} {}",
            line.source
        );
    };
    check("rm src", "rm src", (true, true));
    check("rm src", "rm s*", (false, true));
    check("rm src", "rm s* x", (false, true));
    check("rm a b", "rm a*", (false, true));
    check("rm a b", "rm x b*", (false, false));
    check("rm a b", "rm a", (false, false));
    check("rm src", "ls s*", (false, false));
    check("rm src", "rm src s*", (false, false));
    check("rm src:*", "rm src s*", (true, true));
    check("rm:*", "rm s*", (true, true));
    check("rm", "rm s*", (false, false));
    check("*", "rm s*", (true, true));
}

#[test]
fn each_command_of_a_line_is_matched_by_itself() {
    let patterns = ["head:*", "git log:*", "git:*"].map(|text| CommandPattern::parse(text).unwrap());
    let check = |line: &str, expect: &[Option<usize>]| {
        let line = parse(line).unwrap();
        let first = |command| patterns.iter().position(|pattern| pattern.matches(command));
        assert_eq!(line.commands.iter().map(first).collect::<Vec<_>>(), expect, "{}", line.source);
    };
    check("git log | head; git status", &[Some(1), Some(0), Some(2)]);
    check("git log | tee a | tee b", &[Some(1), None, None]);

    let line = parse("git log | tee a | tee b").unwrap();
    assert_eq!((line.text(&line.commands[1]), line.commands[1].span.clone()), ("tee a", 10..15));
}

#[test]
fn messages_say_what_where_and_what_to_do() {
    let check = |line: &str, expect: &str| assert_eq!(parse(line).unwrap_err().to_string(), expect);
    check(
        "git log $(id)",
        "`$(id)` at column 9 runs a command inside the line; run that command by itself first, or use single \
         quotes if it is meant as text",
    );
    check(
        "é日 >f",
        "`>f` at column 4 is a redirection other than to `/dev/null`, `2>&1` and `>&2`; leave it out and use the \
         output, or pass the file's name to the program",
    );
    check(
        "cat <<'A'\nx\nA\n é",
        "`é` at line 4, column 2 follows a here-document; end the line with the document, and put commands before \
         it or into another line",
    );
    check(
        "git\u{a0}x",
        "`\\u{a0}` at column 4 is a blank that the shell takes as part of the word; write a plain space, or quote \
         it if it is meant",
    );
    check("", "at column 1 there is no command; write one");
    let long = parse(&format!("git '{}", "x".repeat(500))).unwrap_err().to_string();
    assert!(long.chars().count() < 150 && long.contains('…'), "{long}");
}
