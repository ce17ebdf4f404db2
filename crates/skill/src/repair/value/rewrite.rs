//! The rewrites worth trying for one line, the narrowest first.

use crate::code;
use crate::repair::quote::{
    Shape, TAB_WIDTHS, indents, is_marker_with_text, plain_text_of, quoted, quoted_items,
    with_closed_brackets, with_known_escapes, without_marker,
};
use metier_diagnostic::Code;

/// One change of one or more lines.
pub(super) struct Rewrite {
    pub(super) code: &'static Code,
    /// The key whose value it is.
    pub(super) key: Option<String>,
    /// The number of each changed line and its new text.
    pub(super) lines: Vec<(usize, String)>,
}

/// What could help with line `at` when the parser fails on line `failing`.
pub(super) fn rewrites(lines: &[String], at: usize, failing: usize) -> Vec<Rewrite> {
    let Some(line) = lines.get(at) else { return Vec::new() };
    let shape = Shape::of(line);
    let rewrite = |code: &'static Code, text: String| {
        let key = shape.key.map(str::to_owned);
        Rewrite { code, key, lines: vec![(at, text)] }
    };
    let mut found = Vec::new();
    if at == failing {
        found.extend(with_blanks(lines, at));
    }
    found.extend(with_known_escapes(line).map(|text| rewrite(&code::BAD_ESCAPE, text)));
    if let Some(closed) = with_closed_brackets(&shape) {
        found.push(rewrite(&code::UNCLOSED_BRACKET, format!("{}{closed}", shape.prefix)));
    }
    if let Some(items) = quoted_items(shape.value) {
        found.push(rewrite(&code::UNQUOTED_INDICATOR, format!("{}{items}", shape.prefix)));
    }
    if shape.key.is_some() {
        let last = last_line_of_value(lines, at);
        // A quote that is never closed is noticed anywhere below.
        let may_be_noticed = last >= failing || shape.value.starts_with(['"', '\'']);
        if last > at && may_be_noticed {
            found.extend(quote_lines(lines, at, last, &shape));
        }
    }
    if let Some((code, text)) = plain_text_of(shape.value)
        && !shape.is_bare()
    {
        found.push(rewrite(code, format!("{}{}", shape.prefix, quoted(&text))));
    }
    if shape.is_bare() && at > 0 && at == failing {
        found.extend(indent_below_key(lines, at));
    }
    found
}

/// Every line that is indented with tabs or no-break spaces, indented with blanks, for each width a tab may stand for.
/// The parser may notice the first of them at the end of the line before.
fn with_blanks(lines: &[String], failing: usize) -> Vec<Rewrite> {
    let begins_odd = |line: &String| line.starts_with(['\t', '\u{a0}']);
    let is_near = lines.iter().skip(failing).take(2).any(|line| !indents(line).is_empty());
    if !is_near {
        return Vec::new();
    }
    let touched: Vec<usize> = (0..lines.len())
        .filter(|number| begins_odd(&lines[*number]) || (failing..failing + 2).contains(number))
        .collect();
    (0..TAB_WIDTHS)
        .map(|width| {
            let indented = |number: &usize| {
                let text = indents(&lines[*number]).into_iter().nth(width)?;
                Some((*number, text))
            };
            Rewrite {
                code: &code::TAB_INDENT,
                key: None,
                lines: touched.iter().filter_map(indented).collect(),
            }
        })
        .filter(|rewrite| !rewrite.lines.is_empty())
        .collect()
}

/// The last line that continues the value beginning on a line: those that are indented deeper.
fn last_line_of_value(lines: &[String], at: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let own = indent(&lines[at]);
    let mut last = at;
    for (number, line) in lines.iter().enumerate().skip(at + 1) {
        if line.trim().is_empty() {
            continue;
        }
        if indent(line) <= own {
            break;
        }
        last = number;
    }
    last
}

/// A value over several lines, quoted from its beginning to its end. Quoted text folds as plain text does.
fn quote_lines(lines: &[String], first: usize, last: usize, shape: &Shape<'_>) -> Option<Rewrite> {
    let start = if is_marker_with_text(shape.value) { without_marker(shape.value) } else { shape.value };
    if start.is_empty() || start.starts_with(['>', '|', '{', '[']) {
        return None;
    }
    let quote = start.chars().next().filter(|c| matches!(c, '"' | '\''));
    let closes = |quote: char| lines[last].trim_end().ends_with(quote);
    let recurs = |quote: char| {
        start[1..].contains(quote) || lines[first + 1..=last].iter().any(|line| line.contains(quote))
    };
    let (code, has_open, has_close): (&'static Code, bool, bool) = match quote {
        Some(quote) if closes(quote) => (&code::INNER_QUOTES, true, true),
        Some(quote) if !recurs(quote) => (&code::UNCLOSED_QUOTE, true, false),
        Some(_) => (&code::TEXT_AFTER_QUOTE, false, false),
        None if start.len() < shape.value.len() => (&code::UNQUOTED_INDICATOR, false, false),
        None => (&code::UNQUOTED_COLON, false, false),
    };
    let mut rewritten = Vec::with_capacity(last - first + 1);
    for (number, line) in lines.iter().enumerate().take(last + 1).skip(first) {
        let mut text = if number == first { start } else { line.trim_end() };
        if number == first && has_open {
            text = &text[1..];
        }
        if number == last && has_close {
            text = &text[..text.len() - 1];
        }
        let open = if number == first { format!("{}'", shape.prefix) } else { String::new() };
        let close = if number == last { "'" } else { "" };
        rewritten.push((number, format!("{open}{}{close}", text.replace('\'', "''"))));
    }
    Some(Rewrite { code, key: shape.key.map(str::to_owned), lines: rewritten })
}

/// The lines of running text right below a key's value, indented so that they continue the value.
fn indent_below_key(lines: &[String], at: usize) -> Option<Rewrite> {
    if lines[at - 1].trim().is_empty() {
        return None;
    }
    let above = (0..at).rev().find(|number| Shape::of(&lines[*number]).key.is_some())?;
    let owner = Shape::of(&lines[above]);
    // Below a key without a value only the very next line can be meant as one.
    let is_separate = owner.value.is_empty() && above + 1 < at;
    if is_separate || lines[above].starts_with([' ', '\t']) {
        return None;
    }
    let run = lines[at..].iter().take_while(|line| Shape::of(line).is_bare());
    let indented = run.enumerate().map(|(number, line)| (at + number, format!("  {}", line.trim())));
    let key = owner.key.map(str::to_owned);
    Some(Rewrite { code: &code::UNINDENTED_TEXT, key, lines: indented.collect() })
}
