//! Where Python's YAML readers differ from the specification: a tab between tokens stops them, and characters that are
//! ordinary ones since YAML 1.2 end a line. Two clients read with one of them.

use super::opinion::Opinion;
use crate::line::lines;
use crate::yaml::{Entry, Kind, Node, Style};
use metier_diagnostic::Span;

/// The first tab that is neither inside quotes, nor in a block, nor in a comment.
pub(super) fn stray_tab(
    entries: &[Entry<'_>],
    source: &str,
    yaml: std::ops::Range<usize>,
) -> Option<(Span, Opinion)> {
    if !source[yaml.clone()].contains('\t') {
        return None;
    }
    let mut quoted = Vec::new();
    let mut plain = Vec::new();
    for entry in entries {
        collect(entry, source, &mut quoted, &mut plain);
    }
    let inside = |spans: &[Span], at: usize| spans.iter().any(|span| span.contains(at));
    for line in lines(source, yaml.start).take_while(|line| line.start < yaml.end) {
        for (offset, _) in line.text.match_indices('\t') {
            let at = line.start + offset;
            if at >= yaml.end || inside(&quoted, at) {
                continue;
            }
            let begins_comment = |hash: usize| {
                let is_apart = hash == 0 || line.text[..hash].ends_with([' ', '\t']);
                is_apart && !inside(&quoted, line.start + hash) && !inside(&plain, line.start + hash)
            };
            if line.text[..offset].match_indices('#').any(|(hash, _)| begins_comment(hash)) {
                break;
            }
            let opinion = Opinion::refused("a tab outside quotes is not read").help("write a blank instead");
            return Some((Span::new(at, at + 1), opinion));
        }
    }
    None
}

fn collect(entry: &Entry<'_>, source: &str, quoted: &mut Vec<Span>, plain: &mut Vec<Span>) {
    let is_quoted = entry.key_span.of(source).starts_with(['"', '\'']);
    if is_quoted {
        quoted.push(entry.key_span);
    } else {
        plain.push(entry.key_span);
    }
    collect_value(&entry.value, source, quoted, plain);
}

fn collect_value(node: &Node<'_>, source: &str, quoted: &mut Vec<Span>, plain: &mut Vec<Span>) {
    match &node.kind {
        Kind::Scalar { style: Style::Plain, .. } => plain.push(node.span),
        Kind::Scalar { .. } => quoted.push(node.span),
        Kind::Sequence(items) => items.iter().for_each(|item| collect_value(item, source, quoted, plain)),
        Kind::Mapping(entries) => entries.iter().for_each(|entry| collect(entry, source, quoted, plain)),
    }
}

/// Where a Unicode line break ends a line to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaks {
    /// In `|` and `>` blocks.
    InBlocks,
    /// There, and in text without quotes.
    InBlocksAndPlain,
}

/// The first U+0085, U+2028 or U+2029 that ends a line in the middle of a text: what follows is not indented.
pub(super) fn odd_break(entries: &[Entry<'_>], source: &str, breaks: Breaks) -> Option<(Span, Opinion)> {
    entries.iter().find_map(|entry| odd_break_in(&entry.value, source, breaks))
}

fn odd_break_in(node: &Node<'_>, source: &str, breaks: Breaks) -> Option<(Span, Opinion)> {
    match &node.kind {
        Kind::Sequence(items) => items.iter().find_map(|item| odd_break_in(item, source, breaks)),
        Kind::Mapping(entries) => odd_break(entries, source, breaks),
        Kind::Scalar { style: Style::SingleQuoted | Style::DoubleQuoted, .. } => None,
        Kind::Scalar { style: Style::Plain, .. } if breaks == Breaks::InBlocks => None,
        Kind::Scalar { .. } => {
            let text = node.span.of(source);
            let goes_on = |at: usize, found: &str| {
                text[at + found.len()..].starts_with(|c: char| !matches!(c, ' ' | '\n' | '\r'))
            };
            let mut all = text.match_indices(['\u{85}', '\u{2028}', '\u{2029}']);
            let (at, found) = all.find(|(at, found)| goes_on(*at, found))?;
            let start = node.span.range().start + at;
            let opinion =
                Opinion::refused("a Unicode line break ends the line, and what follows is not indented");
            Some((Span::new(start, start + found.len()), opinion.help("write a blank instead")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expect: Option<u32>) {
        let tree = crate::yaml::parse(yaml, 0).unwrap().unwrap();
        let found = stray_tab(tree.entries().unwrap(), yaml, 0..yaml.len());
        assert_eq!(found.map(|(span, _)| span.start), expect, "{yaml:?}");
    }

    #[test]
    fn only_tabs_between_tokens_and_in_plain_text_stop_the_reader() {
        check("a: b\n", None);
        check("a: 'b\tc'\n", None);
        check("a: |\n  b\tc\n", None);
        check("a: b # c\td\n", None);
        check("# c\td\na: b\n", None);
        check("a: b\tc\n", Some(4));
        check("a:\tb\n", Some(2));
        check("a: b#c\td\n", Some(6));
    }
}
