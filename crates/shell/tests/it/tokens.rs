//! Texts and their tokens.

use metier_shell::{Nesting, ShellTokenKind as Kind, ShellTokens};
use proptest::prelude::*;

use crate::invariant;

/// One letter for each token, and its text; blanks are left out.
fn check(text: &str, expect: &[&str]) {
    let shown = ShellTokens::new(text).filter(|token| token.kind != Kind::Blank).map(|token| {
        let kind = match token.kind {
            Kind::Blank | Kind::Newline => "n",
            Kind::Continuation => "+",
            Kind::Comment => "#",
            Kind::Separator => "|",
            Kind::Redirection => ">",
            Kind::Text => "t",
            Kind::Escape => "\\",
            Kind::Single => "'",
            Kind::Ansi => "$'",
            Kind::Parameter => "$",
            Kind::Open(_) => "o",
            Kind::Close(_) => "c",
            Kind::HereDocument => "h",
        };
        format!("{kind} {}", token.text(text))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expect, "{text:?}");
}

fn is_whole(text: &str) -> bool {
    let mut tokens = ShellTokens::new(text);
    while tokens.next().is_some() {}
    tokens.is_whole()
}

#[test]
fn words_and_what_is_between_them() {
    check(
        "a b\\ c;d&e # f#\ng#h",
        &["t a", "t b", "\\ \\ ", "t c", "| ;", "t d", "| &", "t e", "# # f#", "n \n", "t g#h"],
    );
    check("a\\\nb \\\n c\r\nd", &["t a", "+ \\\n", "t b", "+ \\\n", "t c", "n \r\n", "t d"]);
    check("a{b}<c>", &["t a", "t {b", "t }", "> <", "t c", "> >"]);
    check("x=a\rb", &["t x=a", "t \rb"]);
}

#[test]
fn quotes_and_what_they_protect() {
    check("'a b'\"c \\d\\\"\"", &["' 'a b'", "o \"", "t c ", "t \\d", "\\ \\\"", "c \""]);
    check("$'a\\'b' 'a\\'", &["$' $'a\\'b'", "' 'a\\'"]);
    check("\"it's\"", &["o \"", "t it", "t 's", "c \""]);
    check("\"${a:-'b}\"'", &["o \"", "o ${a", "t :-", "t 'b", "c }", "c \"", "' '"]);
    check("\"$(a 'b)')\"", &["o \"", "o $(", "t a", "' 'b)'", "c )", "c \""]);
}

#[test]
fn expansions_hold_tokens_of_their_own() {
    check("$a$1$?$ ${b:-$c}", &["$ $a", "$ $1", "$ $?", "$ $", "o ${b", "t :-", "$ $c", "c }"]);
    check("a`b \"c`d", &["t a", "o `", "t b", "o \"", "t c", "c `", "t d"]);
    check("<(a) (b)# c", &["o <(", "t a", "c )", "o (", "t b", "c )", "# # c"]);
    check(
        "$((a > $b)) ((c)); ((d)",
        &["o $((", "t a ", "t > ", "$ $b", "c ))", "o ((", "t c", "c ))", "| ;", "o (", "o (", "t d", "c )"],
    );
    check("x) y", &["t x", "| )", "t y"]);
}

#[test]
fn redirections_take_their_number() {
    check(
        "a 2>b 2>&1 c3>d &>>e <<<f",
        &["t a", "> 2>", "t b", "> 2>&", "t 1", "t c3", "> >", "t d", "> &>>", "t e", "> <<<", "t f"],
    );
}

#[test]
fn separators_are_read_before_redirections() {
    check("a &&>b|&>c&>d", &["t a", "| &&", "> >", "t b", "| |&", "> >", "t c", "> &>", "t d"]);
}

#[test]
fn here_documents_follow_their_line() {
    check(
        "a <<X <<'Y'\n$b \"\nX\n$c\nY\nd",
        &[
            "t a",
            "> <<",
            "t X",
            "> <<",
            "' 'Y'",
            "n \n",
            "$ $b",
            "t  ",
            "t \"\n",
            "h X\n",
            "h $c\nY\n",
            "t d",
        ],
    );
    check(
        "a <<-X\n\tb $(c\n\tX\nd",
        &["t a", "> <<-", "t X", "n \n", "t \tb ", "o $(", "t c", "n \n", "h \tX\n", "t d"],
    );
    check("a <<\"X Y\"\nb", &["t a", "> <<", "o \"", "t X Y", "c \"", "n \n", "h b"]);
}

#[test]
fn a_consumer_passes_over_what_it_knows() {
    let text = "a ${b:c} # d";
    let mut tokens = ShellTokens::new(text);
    assert_eq!(tokens.by_ref().take(2).count(), 2);
    assert_eq!((tokens.offset(), tokens.nestings()), (2, &[] as &[Nesting]));
    tokens.pass("${b:c}".len());
    let rest: Vec<_> = tokens.map(|token| token.text(text)).collect();
    assert_eq!(rest, [" ", "# d"]);
}

#[test]
fn what_is_left_open_is_known() {
    for text in ["a 'b' \"$(c)\"", "cat <<A\n$b\nA\n", "$((1))", ""] {
        assert!(is_whole(text), "{text:?}");
    }
    for text in ["'a", "\"a", "$(a", "${a", "`a", "(a", "$'a\\'", "`a \"b`", &"(".repeat(65)] {
        assert!(!is_whole(text), "{text:?}");
    }
}

#[test]
fn hostile_texts_end_in_time() {
    for piece in [
        "$((", "$(", "${", "`", "<<A\n", "\"$(", "((", "'", "\\", "é>", "a<<'", "(( ) ", "$(<<A\n", "<<A ",
        "$(( )", "<<''\n$(", "<<\"",
    ] {
        invariant::holds(piece.repeat(60_000).as_bytes());
    }
}

proptest! {
    #[test]
    fn tokens_cover_every_text(bytes in any::<Vec<u8>>()) {
        invariant::holds(&bytes);
    }

    #[test]
    fn tokens_cover_every_text_that_looks_like_a_shells(
        text in "([a-z]{1,2}|<<-?'?[AB]'?|\\$[({a']|[$\\[\\]{}()<>|&;*?~#'\"`\\\\ \t\r2]|[AB]?\n|\\PC){0,24}",
    ) {
        invariant::holds(text.as_bytes());
    }
}
