//! What holds for every text, whether it is a line or not.

use crate::shell_invariant::holds;
use metier_policy::shell::quote;
use proptest::prelude::*;

/// Pieces of lines, among them all that mean something to the shell.
pub(crate) const PIECES: &[&str] = &[
    "git",
    "a",
    "b c",
    "-x",
    "--y=z",
    " ",
    " ",
    " ",
    "\t",
    "\n",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "\\ ",
    "$",
    "$(",
    "`",
    "(",
    ")",
    "{",
    "}",
    "{}",
    ",",
    "..",
    "{a}",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "<",
    ">",
    ">/dev/null",
    "2>&1",
    "&>/dev/null",
    "</dev/null",
    "2",
    "<<'E'\n",
    "\nE\n",
    "E",
    "<<",
    "<<-\\E",
    "*",
    "?",
    "[",
    "]",
    "~",
    "=",
    ":",
    "!",
    "#",
    "%",
    "%n",
    "é",
    "\u{a0}",
    "\u{200b}",
    "日",
    "\r",
    "\0",
    "\u{1}",
    "if",
    "time",
    "test",
    "-v",
    "printf",
    "a[",
    "+=",
    "eval",
    "[[",
    "'x y'",
    "\"q\\\"r\"",
    "\\n",
    "''",
    "\"\"",
    "@",
    "^",
    "+(",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_line_or_a_piece_of_it(text in any::<String>()) {
        let _ = holds(&text);
    }

    #[test]
    fn any_pieces_give_a_line_or_a_piece_of_it(text in pieces()) {
        let _ = holds(&text);
    }

    #[test]
    fn any_words_can_be_quoted(words in prop::collection::vec("[^\0-\u{8}\u{b}\u{c}\u{e}-\u{1f}\u{7f}]*", 0..8)) {
        let quoted: Vec<_> = words.iter().map(|word| quote(word)).collect();
        let line = holds(&format!("show {}", quoted.join(" "))).unwrap();
        prop_assert_eq!(&line.commands[0].argv()[1..], words.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert!(line.commands[0].words.iter().all(|word| !word.glob));
    }
}
