//! What holds for the tokens of every text; the fuzz target holds it, too.

use metier_shell::{Nesting, ShellToken, ShellTokenKind, ShellTokens};

/// The deepest nesting that is followed, with the here-document in it.
const MAX_DEPTH: usize = 64;

/// Checks the tokens of a text, and what is left of them when a consumer passes over some.
pub(crate) fn holds(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    let mut tokens = ShellTokens::new(text);
    let (mut at, mut depth) = (0, 0);
    while let Some(token) = tokens.next() {
        assert_eq!(token.span.start, at, "a gap before {token:?} of {text:?}");
        assert!(token.span.end > at, "{token:?} of {text:?} is empty");
        assert!(text.get(token.span.clone()).is_some(), "{token:?} cuts a character of {text:?}");
        holds_for(&token, text, tokens.nestings().len(), depth);
        at = token.span.end;
        depth = tokens.nestings().len();
        assert_eq!(tokens.offset(), at);
    }
    assert_eq!(at, text.len(), "the rest of {text:?} is missing");

    let (mut tokens, mut last) = (ShellTokens::new(text), 0);
    while let Some(token) = tokens.next() {
        assert!(token.span.start >= last && text.get(token.span.clone()).is_some());
        last = token.span.end;
        if token.span.len() % 3 == 0 {
            tokens.pass(token.span.len() / 2);
        }
    }
}

fn holds_for(token: &ShellToken, text: &str, depth: usize, before: usize) {
    assert!(depth <= MAX_DEPTH);
    let written = token.text(text);
    if token.kind == ShellTokenKind::Close(Nesting::Arithmetic) {
        assert_eq!(written, "))");
    }
    match token.kind {
        ShellTokenKind::Open(_) => assert!(depth > 0),
        ShellTokenKind::Close(_) => assert!(depth < before),
        ShellTokenKind::Blank => assert!(written.bytes().all(|byte| matches!(byte, b' ' | b'\t'))),
        ShellTokenKind::Newline => assert!(matches!(written, "\n" | "\r\n")),
        ShellTokenKind::Comment => assert!(written.starts_with('#') && !written.contains('\n')),
        _ => {}
    }
    if let Some(literal) = token.literal(text) {
        assert!(written.contains(literal));
    }
}
