//! Secrets that come in several writes.

use metier_secret::Redactor;
use proptest::prelude::*;
use std::borrow::Cow;

use crate::invariant::{holds, in_pieces};
use crate::redactor;

#[test]
fn a_secret_in_single_bytes_is_found() {
    let redactor = redactor(&[("KEY", "correct horse battery")]);
    let text = b"before correct horse battery after";
    let cuts: Vec<usize> = (0..text.len()).collect();
    assert_eq!(in_pieces(&redactor, text, &cuts), b"before [secret KEY] after");
}

#[test]
fn no_more_is_held_back_than_may_become_a_secret() {
    let redactor = redactor(&[("KEY", "s3cr3t-value")]);
    let mut stream = redactor.stream();
    for (chunk, shown) in [
        ("a line\n", "a line\n"),
        ("yes", "ye"),
        ("k: s3c", "sk: "),
        ("r3t-", ""),
        ("what\n", "s3cr3t-what\n"),
        ("k: s3cr3t-value", "k: [secret KEY]"),
        ("\n", "\n"),
        // A line end after the first letters does not hold a line back, after more it does.
        ("s3\n", "s3\n"),
        ("s3cr\n", ""),
        ("3t-value!", "[secret KEY]!"),
    ] {
        assert_eq!(String::from_utf8_lossy(&stream.push(chunk.as_bytes())), shown, "{chunk:?}");
    }
    assert_eq!(stream.finish(), b"");
    assert_eq!(*stream.push(b"s3cr3t"), *b"");
    assert_eq!(stream.finish(), b"s3cr3t");
}

#[test]
fn what_holds_no_secret_is_not_copied() {
    let none = Redactor::default();
    assert!(none.is_empty());
    assert!(matches!(none.stream().push(b"s3cr3t"), Cow::Borrowed(b"s3cr3t")));
    assert!(matches!(none.bytes(b"s3cr3t"), Cow::Borrowed(b"s3cr3t")));
    let redactor = redactor(&[("KEY", "s3cr3t-value")]);
    assert!(matches!(redactor.stream().push(b"hello\n"), Cow::Borrowed(b"hello\n")));
    assert!(matches!(redactor.bytes(b"ends with s3cr"), Cow::Borrowed(b"ends with s3cr")));
    assert!(matches!(redactor.text("ends with s3cr"), Cow::Borrowed("ends with s3cr")));
}

#[test]
fn a_stream_of_nothing_but_beginnings_is_not_kept() {
    let redactor = redactor(&[("KEY", "aaaaaaaaaaaaaaaa")]);
    let mut stream = redactor.stream();
    let mut shown = 0;
    for _ in 0..1000 {
        shown += stream.push(&[b'a'; 1000]).len();
    }
    assert_eq!(shown + stream.finish().len(), "[secret KEY]".len());
    // Blanks after a beginning are given out, too, once there are more than an indentation has.
    let mut stream = redactor.stream();
    let chunk = format!("aaaaaaaa\n{:70}", "");
    let shown: usize = (0..1000).map(|_| stream.push(chunk.as_bytes()).len()).sum();
    assert!(shown > 78_000, "{shown}");
}

/// Values as people have them: tokens, passwords, phrases, keys of several lines, anything.
fn values() -> impl Strategy<Value = Vec<String>> {
    let value = prop_oneof![
        "[A-Za-z0-9_-]{8,40}",
        "[!-~]{4,24}",
        "[a-z]{3,8}( [a-z]{3,8}){1,4}",
        "([A-Za-z0-9+/]{20}\n){2,6}",
        "\\PC{4,20}",
        "[ab]{4,12}",
        "[\\[\\]<>secrt S0]{4,10}",
        any::<String>(),
    ];
    prop::collection::vec(value, 1..4)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..30),
        "[ab \n]{0,20}".prop_map(String::into_bytes),
        "[A-Za-z0-9+/= \n\\[\\]]{0,30}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_is_shown_however_it_is_written_and_arrives(
        values in values(),
        before in bytes(),
        after in bytes(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        holds(&values, [&before, &after], &cuts);
    }

    #[test]
    fn a_text_without_a_secret_passes_unchanged(
        text in "[a-z \n.,]{0,200}",
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = redactor(&[("KEY", "XK9-0000-4711-0815"), ("OTHER", "7Q_8!99@1234")]);
        prop_assert_eq!(&*redactor.text(&text), &text);
        prop_assert_eq!(in_pieces(&redactor, text.as_bytes(), &cuts), text.as_bytes());
    }

    #[test]
    fn lines_may_be_broken_anywhere(
        value in "[A-Za-z0-9]{24,100}",
        width in 5_usize..80,
        indent in 0_usize..12,
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = redactor(&[("KEY", &value)]);
        let text: Vec<u8> = format!("token={value};")
            .as_bytes()
            .chunks(width)
            .flat_map(|line| [line, b"\n", &b" ".repeat(indent)].concat())
            .collect();
        let shown = in_pieces(&redactor, &text, &cuts);
        // Of the value nothing is left but the letters before a line end that are too few to be told from chance.
        let left: Vec<u8> = shown.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let left = String::from_utf8(left).unwrap().replace("[secretKEY]", "");
        prop_assert!(left.len() <= "token=;".len() + 3, "{left:?} is left of {value:?}");
    }
}
