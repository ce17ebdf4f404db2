//! Repair 2: values. The strict parser says which line fails; that line, or the value it continues, is rewritten, and
//! a rewrite counts only when the parser gets past the line.

use super::quote::{Shape, plain_text_of, quoted, quoted_items, with_known_escapes, without_tabs};
use super::without_controls;
use crate::code;
use crate::line::{Line, lines};
use crate::yaml::{self, Entry, Kind, YamlError, YamlErrorKind};
use metier_diagnostic::{Code, Diagnostic, Edit, Fix, Patched, Span};
use std::ops::Range;

/// How many bytes may be parsed while trying, so that a hostile file costs milliseconds and not minutes.
const MAX_WORK: usize = 2 * 1024 * 1024;
/// How far above a failing line the value that it belongs to may begin.
const MAX_LOOK_BACK: usize = 40;

/// Keys and values after repairs.
pub(super) struct MendedValues {
    pub(super) entries: Vec<Entry<'static>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Where control characters were dropped.
    pub(super) cleaned: Vec<usize>,
}

/// Rewrites values until the region parses as a mapping. `Ok(None)` when that does not work out; an error when what
/// comes to light must not be repaired.
pub(super) fn mend_values(text: &str, region: Range<usize>) -> Result<Option<MendedValues>, YamlError> {
    let (clean, cleaned) = without_controls(text, region.clone());
    let mut bench = Bench::new(clean.text());
    let mut repairs: Vec<(Rewrite, YamlError)> = Vec::new();
    loop {
        let (error, line) = match bench.parse() {
            Attempt::Mapping(entries) => {
                let edits = bench.edits();
                let patched = Patched::new(clean.text(), &edits);
                let back = |span: Span| {
                    let span = clean.origin_span(patched.origin_span(span));
                    Span::new(span.start as usize + region.start, span.end as usize + region.start)
                };
                let mut entries = entries;
                for entry in &mut entries {
                    entry.key_span = back(entry.key_span);
                    entry.value.map_spans(&back);
                }
                let place = |span: Span| {
                    let span = clean.origin_span(span);
                    Span::new(span.start as usize + region.start, span.end as usize + region.start)
                };
                let diagnostics = repairs.iter().map(|(rewrite, error)| bench.report(rewrite, error, text, &place));
                return Ok(Some(MendedValues { entries, diagnostics: diagnostics.collect(), cleaned }));
            }
            Attempt::Failed(error, line) => (error, line),
            Attempt::GaveUp => return Ok(None),
        };
        if error.kind != YamlErrorKind::Syntax {
            return Err(YamlError { at: region.start + clean.origin(error.at), ..error });
        }
        let Some(rewrite) = bench.improve(line) else { return Ok(None) };
        repairs.push((rewrite, error));
    }
}

/// One change of one or more lines.
struct Rewrite {
    code: &'static Code,
    key: Option<String>,
    lines: Vec<(usize, String)>,
}

enum Attempt {
    Mapping(Vec<Entry<'static>>),
    Failed(YamlError, usize),
    GaveUp,
}

/// The lines being worked on beside the originals.
struct Bench<'a> {
    originals: Vec<Line<'a>>,
    current: Vec<String>,
    work: usize,
}

impl<'a> Bench<'a> {
    fn new(text: &'a str) -> Self {
        let originals: Vec<Line<'a>> = lines(text, 0).collect();
        let current = originals.iter().map(|line| line.text.to_owned()).collect();
        Self { originals, current, work: 0 }
    }

    fn parse(&mut self) -> Attempt {
        let text = self.current.join("\n") + "\n";
        self.work += text.len();
        if self.work > MAX_WORK {
            return Attempt::GaveUp;
        }
        match yaml::parse_fully(&text, 0) {
            Ok(Some(tree)) => match tree.into_owned().kind {
                Kind::Mapping(entries) => Attempt::Mapping(entries),
                Kind::Scalar { .. } | Kind::Sequence(_) => Attempt::GaveUp,
            },
            Ok(None) => Attempt::GaveUp,
            Err(error) => {
                let line = text.as_bytes()[..error.at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
                Attempt::Failed(error, line.min(self.current.len().saturating_sub(1)))
            }
        }
    }

    /// Finds a rewrite that lets the parser get past `failing`, applies it, and gives it back.
    fn improve(&mut self, failing: usize) -> Option<Rewrite> {
        let first = failing.saturating_sub(MAX_LOOK_BACK);
        for candidate in (first..=failing).rev() {
            for rewrite in self.rewrites(candidate, failing) {
                let before: Vec<(usize, String)> =
                    rewrite.lines.iter().map(|(line, _)| (*line, self.current[*line].clone())).collect();
                for (line, text) in &rewrite.lines {
                    self.current[*line].clone_from(text);
                }
                match self.parse() {
                    Attempt::Mapping(_) => return Some(rewrite),
                    // Tags and limits must come to light, so reaching one of them counts as getting past.
                    Attempt::Failed(error, line) if line > failing || error.kind != YamlErrorKind::Syntax => {
                        return Some(rewrite);
                    }
                    Attempt::Failed(..) => {}
                    Attempt::GaveUp => return None,
                }
                for (line, text) in before {
                    self.current[line] = text;
                }
            }
            // The value that a failing line belongs to begins at the nearest top-level key at the latest.
            let is_top_key = self.originals.get(candidate).is_some_and(|line| line.top_key().is_some());
            if is_top_key && candidate < failing {
                break;
            }
        }
        None
    }

    /// The rewrites worth trying for a line, the narrowest first.
    fn rewrites(&self, at: usize, failing: usize) -> Vec<Rewrite> {
        let Some(line) = self.current.get(at) else { return Vec::new() };
        let shape = Shape::of(line);
        let key = shape.key.map(str::to_owned);
        let rewrite = |code: &'static Code, text: String| Rewrite { code, key: key.clone(), lines: vec![(at, text)] };
        let mut found = Vec::new();
        found.extend(without_tabs(line).map(|text| rewrite(&code::TAB_INDENT, text)));
        found.extend(with_known_escapes(line).map(|text| rewrite(&code::BAD_ESCAPE, text)));
        if let Some(items) = quoted_items(shape.value) {
            found.push(rewrite(&code::UNQUOTED_INDICATOR, format!("{}{items}", shape.prefix)));
        }
        let last = self.last_line_of_value(at);
        if last > at && last >= failing && shape.key.is_some() {
            found.extend(self.quote_lines(at, last, &shape));
        }
        if let Some((code, text)) = plain_text_of(shape.value)
            && !shape.is_bare()
        {
            found.push(rewrite(code, format!("{}{}", shape.prefix, quoted(&text))));
        }
        if shape.is_bare() && at > 0 && at == failing {
            found.extend(self.indent_below_key(at));
        }
        found
    }

    /// The last line that continues the value beginning on a line: those that are indented deeper.
    fn last_line_of_value(&self, at: usize) -> usize {
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let own = indent(&self.current[at]);
        let mut last = at;
        for (number, line) in self.current.iter().enumerate().skip(at + 1) {
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
    fn quote_lines(&self, first: usize, last: usize, shape: &Shape<'_>) -> Option<Rewrite> {
        let start = shape.value;
        let quote = start.chars().next().filter(|c| matches!(c, '"' | '\''));
        let ends_quoted = quote.is_some_and(|quote| self.current[last].trim_end().ends_with(quote));
        if start.is_empty() || start.starts_with(['>', '|', '{', '[']) {
            return None;
        }
        let mut lines = Vec::new();
        for number in first..=last {
            let mut text = if number == first { start.to_owned() } else { self.current[number].trim_end().to_owned() };
            if ends_quoted && number == first {
                text.remove(0);
            }
            if ends_quoted && number == last {
                text.pop();
            }
            let text = text.replace('\'', "''");
            let open = if number == first { format!("{}'", shape.prefix) } else { String::new() };
            let close = if number == last { "'" } else { "" };
            lines.push((number, format!("{open}{text}{close}")));
        }
        let code = match quote {
            Some(_) if ends_quoted => &code::INNER_QUOTES,
            Some(_) => &code::TEXT_AFTER_QUOTE,
            None => &code::UNQUOTED_COLON,
        };
        Some(Rewrite { code, key: shape.key.map(str::to_owned), lines })
    }

    /// Running text right below a key's value, indented so that it continues the value.
    fn indent_below_key(&self, at: usize) -> Option<Rewrite> {
        if self.current[at - 1].trim().is_empty() {
            return None;
        }
        let above = (0..at).rev().find(|number| Shape::of(&self.current[*number]).key.is_some())?;
        let owner = Shape::of(&self.current[above]);
        if owner.value.is_empty() || self.current[above].starts_with([' ', '\t']) {
            return None;
        }
        let text = format!("  {}", self.current[at].trim());
        Some(Rewrite { code: &code::UNINDENTED_TEXT, key: owner.key.map(str::to_owned), lines: vec![(at, text)] })
    }

    /// What changed, as edits of the clean text, each as small as the change.
    fn edits(&self) -> Vec<Edit> {
        let changed = self.originals.iter().zip(&self.current);
        changed.filter_map(|(line, current)| smallest_edit(line, current)).collect()
    }

    fn report(&self, rewrite: &Rewrite, error: &YamlError, text: &str, place: &impl Fn(Span) -> Span) -> Diagnostic {
        let edits: Vec<Edit> = rewrite
            .lines
            .iter()
            .filter_map(|(number, _)| smallest_edit(&self.originals[*number], &self.current[*number]))
            .map(|edit| Edit { span: place(edit.span), text: edit.text })
            .collect();
        let first = &self.originals[rewrite.lines.first().map_or(0, |(number, _)| *number)];
        let span = edits.first().map_or(place(Span::new(first.start, first.end())), |edit| edit.span);
        let what = match &rewrite.key {
            Some(key) => format!("the value of `{key}`"),
            None => "this value".to_owned(),
        };
        let (message, label) = match rewrite.code.name() {
            "tab-indent" => ("this line is indented with a tab".to_owned(), "indent with blanks"),
            "bad-escape" => (format!("{what} contains an escape that YAML does not know"), "write the backslash twice"),
            "unquoted-colon" => (format!("{what} contains `: ` and was read as text"), "put the value in quotes"),
            "text-after-quote" => (format!("{what} goes on after its closing quote and was read as text"), "put the whole value in quotes"),
            "inner-quotes" => (format!("{what} contains its own quotes and was read as text"), "put the value in single quotes"),
            "unindented-text" => (format!("{what} goes on without being indented"), "indent the line"),
            _ => (format!("{what} begins with a character that means something in YAML; it was read as text"), "put the value in quotes"),
        };
        Diagnostic::new(rewrite.code, message)
            .at(span, text)
            .help(label)
            .note(format!("a strict parser says: {}", error.message))
            .fix(Fix { label: label.to_owned(), edits })
    }
}

/// The change of one line without what is equal at both ends.
fn smallest_edit(line: &Line<'_>, current: &str) -> Option<Edit> {
    if line.text == current {
        return None;
    }
    let prefix: usize = line.text.chars().zip(current.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (&line.text[prefix..], &current[prefix..]);
    let suffix: usize =
        old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let start = line.start + prefix;
    Some(Edit::replace(start, start + old.len() - suffix, &new[..new.len() - suffix]))
}
