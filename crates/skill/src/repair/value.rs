//! Repair 2: values. The strict parser says which line fails; that line, or the value it continues, is rewritten, and
//! a rewrite counts only when the parser gets past the line.

mod bench;
mod rewrite;

use super::budget::Budget;
use super::without_controls;
use crate::code;
use crate::findings::Findings;
use crate::yaml::{Entry, YamlError, YamlErrorKind};
use bench::{Attempt, Bench};
use metier_diagnostic::{Diagnostic, Edit, Fix, Patched, Span};
use rewrite::Rewrite;
use std::ops::Range;

/// Keys and values after repairs.
pub(super) struct MendedValues {
    pub(super) entries: Vec<Entry<'static>>,
    pub(super) findings: Findings,
    /// Control characters that were dropped.
    pub(super) dropped: Vec<Span>,
}

/// Rewrites values until the region parses as a mapping. `Ok(None)` when that does not work out; an error when what
/// comes to light must not be repaired.
pub(super) fn mend_values(
    text: &str,
    region: Range<usize>,
    budget: &mut Budget,
) -> Result<Option<MendedValues>, YamlError> {
    let (clean, dropped) = without_controls(text, region.clone());
    let Some(mut bench) = Bench::new(clean.text()) else { return Ok(None) };
    let mut repairs: Vec<(Rewrite, YamlError)> = Vec::new();
    let mut attempt = bench.parse(budget);
    loop {
        let (error, place) = match attempt {
            Attempt::Mapping(mut entries) => {
                let patched = Patched::new(clean.text(), &bench.edits());
                let origin = |span: Span| super::shift(clean.origin_span(span), region.start);
                for entry in &mut entries {
                    entry.key_span = origin(patched.origin_span(entry.key_span));
                    entry.value.map_spans(&|span| origin(patched.origin_span(span)));
                }
                let mut findings = Findings::default();
                for (rewrite, error) in &repairs {
                    findings.add(|| report(&bench, rewrite, error, text, &origin));
                }
                return Ok(Some(MendedValues { entries, findings, dropped }));
            }
            Attempt::Failed(error, place) => (error, place),
            Attempt::GaveUp => return Ok(None),
        };
        if error.kind != YamlErrorKind::Syntax {
            let patched = Patched::new(clean.text(), &bench.edits());
            return Err(YamlError { at: region.start + clean.origin(patched.origin(error.at)), ..error });
        }
        let Some((rewrite, next)) = bench.improve(place, budget) else { return Ok(None) };
        repairs.push((rewrite, error));
        attempt = next;
    }
}

/// What was done to a value, where, and how to do it in the file. Edits are those of the whole repair, so that two
/// rewrites of one line offer the same edit.
fn report(
    bench: &Bench<'_>,
    rewrite: &Rewrite,
    error: &YamlError,
    text: &str,
    origin: &impl Fn(Span) -> Span,
) -> Diagnostic {
    let edits: Vec<Edit> = rewrite
        .lines
        .iter()
        .filter_map(|(number, _)| bench.edit(*number))
        .map(|edit| Edit { span: origin(edit.span), text: edit.text })
        .collect();
    let whole_line = || rewrite.lines.first().map_or(Span::default(), |(number, _)| bench.span(*number));
    let span = edits.first().map_or_else(|| origin(whole_line()), |edit| edit.span);
    let what = match &rewrite.key {
        Some(key) => format!("the value of `{key}`"),
        None => "this value".to_owned(),
    };
    let code = rewrite.code;
    let (message, label) = if code == &code::TAB_INDENT {
        let message = match edits.len() {
            0 | 1 => "this line is indented with a tab or a no-break space".to_owned(),
            many => format!("{many} lines are indented with tabs or no-break spaces"),
        };
        (message, "indent with blanks")
    } else if code == &code::UNCLOSED_BRACKET {
        (format!("{what} has a bracket that is never closed"), "close the bracket")
    } else if code == &code::BAD_ESCAPE {
        (format!("{what} contains an escape that YAML does not know"), "write the escape as YAML knows it")
    } else if code == &code::UNQUOTED_COLON {
        (format!("{what} contains `: ` and was read as text"), "put the value in quotes")
    } else if code == &code::TEXT_AFTER_QUOTE {
        let message = format!("{what} goes on after its closing quote and was read as text");
        (message, "put the whole value in quotes")
    } else if code == &code::UNCLOSED_QUOTE {
        (format!("{what} begins with a quote that is never closed"), "close the quote")
    } else if code == &code::INNER_QUOTES {
        (format!("{what} contains its own quotes and was read as text"), "put the value in single quotes")
    } else if code == &code::UNINDENTED_TEXT {
        (format!("{what} goes on without being indented"), "indent the line")
    } else {
        let message =
            format!("{what} begins with a character that means something in YAML; it was read as text");
        (message, "put the value in quotes")
    };
    Diagnostic::new(code, message)
        .at(span, text)
        .help(label)
        .note(format!("a strict parser says: {}", error.message))
        .fix(Fix { label: label.to_owned(), edits })
}
