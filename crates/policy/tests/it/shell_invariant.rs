//! What holds for every text, whether it is a line or not. The property tests and the fuzz target hold it.

use metier_policy::shell::{Line, Refusal, parse, quote};
use metier_shell::ShellTokens;
use std::ops::Range;

/// What holds of whatever comes out for `source`.
pub(crate) fn holds(source: &str) -> Result<Line, Refusal> {
    let result = parse(source);
    match &result {
        Ok(line) => line_holds(source, line),
        Err(refusal) => {
            assert_eq!(source.get(refusal.span.clone()), Some(refusal.piece.as_str()), "{refusal:?}");
            assert!(refusal.line >= 1 && refusal.column >= 1);
            assert!(!refusal.to_string().contains(|c: char| c.is_control()), "{refusal}");
        }
    }
    result
}

fn line_holds(source: &str, line: &Line) {
    assert_eq!(line.source, source);
    assert_eq!(line.joints.len() + 1, line.commands.len());
    let inside =
        |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
    let mut end = 0;
    for command in &line.commands {
        assert!(!command.words.is_empty());
        assert!(end <= command.span.start, "commands stand one behind the other");
        end = command.span.end;
        assert!(source.get(command.span.clone()).is_some());
        for word in &command.words {
            assert!(inside(&command.span, &word.span) && source.get(word.span.clone()).is_some());
            assert!(!word.glob || !word.text.starts_with('-'), "{word:?} may become an option");
        }
        if let Some(document) = &command.stdin {
            assert!(source.get(document.span.clone()).is_some());
        }
    }
    tokens_agree(source, line);
    // Written anew with every word quoted, it is the same line.
    let mut again = String::new();
    for (index, command) in line.commands.iter().enumerate() {
        if index > 0 {
            again.push_str(line.joints[index - 1].as_str());
        }
        let words: Vec<_> = command.words.iter().map(|word| quote(&word.text)).collect();
        again.push_str(&words.join(" "));
    }
    let back = parse(&again).unwrap_or_else(|refusal| panic!("{again:?}: {refusal}"));
    let argv = |line: &Line| {
        line.commands.iter().map(|c| c.words.iter().map(|w| w.text.clone()).collect()).collect()
    };
    let (first, second): (Vec<Vec<String>>, Vec<Vec<String>>) = (argv(line), argv(&back));
    assert_eq!(first, second, "{again:?}");
    assert_eq!(line.joints, back.joints);
}

/// The tokenizer that never fails finds the same words where the strict parser does not refuse.
fn tokens_agree(source: &str, line: &Line) {
    let mut tokens = ShellTokens::new(source).peekable();
    for word in line.commands.iter().flat_map(|command| &command.words) {
        while tokens.next_if(|token| token.span.start < word.span.start).is_some() {}
        let (mut text, mut end) = (String::new(), word.span.start);
        while let Some(token) = tokens.next_if(|token| token.span.end <= word.span.end) {
            text.push_str(token.literal(source).unwrap_or_default());
            end = token.span.end;
        }
        assert_eq!((text.as_str(), end), (word.text.as_str(), word.span.end), "{word:?} of {source:?}");
    }
}
