//! A diagnostic for a person: the sentence, the source line underlined, the next step.

use crate::{Diagnostic, Severity};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// Longest source line that is shown. A description of a kilobyte under a caret helps nobody.
const MAX_LINE: usize = 160;

/// Whether escape codes for colour may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text alone; it makes the same sense.
    Plain,
    /// With colours, for a terminal.
    Colour,
}

/// Renders one diagnostic. Without the source (or when the place is not in it) the place stands as `path:line:column`.
pub fn render_text(diagnostic: &Diagnostic, source: Option<&str>, paint: Paint) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let path = diagnostic.path.as_deref().map(|path| path.to_string_lossy().into_owned());
    let title = level.primary_title(clean(&diagnostic.message)).id(diagnostic.code.name());
    let mut group = Group::with_title(title);
    let excerpt = source.and_then(|source| Excerpt::of(diagnostic, source));
    if let Some(excerpt) = &excerpt {
        let annotation = AnnotationKind::Primary.span(excerpt.range.clone());
        let snippet = Snippet::source(&excerpt.line).line_start(excerpt.number).annotation(annotation);
        group = group.element(snippet.path(path.as_deref()));
    } else if let Some(path) = &path {
        let mut origin = Origin::path(path);
        if let Some(place) = diagnostic.place {
            origin = origin.line(place.position.line as usize).char_column(place.position.column as usize);
        }
        group = group.element(origin);
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(clean(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(clean(help)));
    }
    let renderer = match paint {
        Paint::Plain => Renderer::plain(),
        Paint::Colour => Renderer::styled(),
    };
    renderer.render(&[group])
}

/// Text from a stranger's file must not move the cursor of the terminal it is shown on.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The line a diagnostic points at, cut to a width a person can read.
struct Excerpt {
    line: String,
    number: usize,
    range: std::ops::Range<usize>,
}

impl Excerpt {
    fn of(diagnostic: &Diagnostic, source: &str) -> Option<Self> {
        let place = diagnostic.place?;
        let span = place.span.range();
        let before = source.get(..span.start)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = source[span.start..].find('\n').map_or(source.len(), |at| span.start + at);
        // A window of the line around the place: characters, so that none is cut in two.
        let column = source[start..span.start].chars().count();
        let skipped = column.saturating_sub(MAX_LINE / 2);
        let mut line = String::new();
        let mut range = None;
        let mut offset = start;
        for c in source[start..end].trim_end_matches('\r').chars().skip(skipped).take(MAX_LINE) {
            if line.is_empty() {
                offset = start + source[start..end].chars().take(skipped).map(char::len_utf8).sum::<usize>();
            }
            let at = offset;
            offset += c.len_utf8();
            if at == span.start {
                range = Some(line.len()..line.len());
            }
            // Tabs and other control characters become one visible column each.
            line.push(if c.is_control() { ' ' } else { c });
            if let Some(range) = range.as_mut().filter(|_| at < span.end.max(span.start + 1)) {
                range.end = line.len();
            }
        }
        let range = range.unwrap_or(line.len()..line.len());
        Some(Self { line, number: place.position.line as usize, range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Span};
    use std::path::Path;
    use std::sync::Arc;

    static ODD: Code = Code::new("odd", Severity::Warning, "Odd.");

    fn shown(source: &str, start: usize, end: usize) -> String {
        let path: Arc<Path> = Arc::from(Path::new("a/SKILL.md"));
        let diagnostic = Diagnostic::new(&ODD, "this is odd").at(Span::new(start, end), source);
        let diagnostic = diagnostic.in_file(&path).note("seen before").help("mend it");
        render_text(&diagnostic, Some(source), Paint::Plain)
    }

    #[test]
    fn the_source_line_is_underlined_with_help_below() {
        let text = shown("---\nname: x: y\n", 10, 14);
        assert_eq!(
            text,
            "warning[odd]: this is odd\n --> a/SKILL.md:2:7\n  |\n2 | name: x: y\n  |       ^^^^\n  |\n  = note: seen before\n  = help: mend it"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let source = format!("{}HERE{}", "é".repeat(500), "z".repeat(500));
        let text = shown(&source, 1000, 1004);
        assert!(text.contains("^^^^") && text.contains("HERE"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
    }

    #[test]
    fn without_a_source_the_place_is_named() {
        let path: Arc<Path> = Arc::from(Path::new("a/SKILL.md"));
        let diagnostic =
            Diagnostic::new(&ODD, "odd \u{1b}[31m text").at(Span::new(4, 5), "---\nx").in_file(&path);
        let text = render_text(&diagnostic, None, Paint::Plain);
        assert_eq!(text, "warning[odd]: odd \u{fffd}[31m text\n--> a/SKILL.md:2:1");
    }

    #[test]
    fn any_place_of_any_text_renders() {
        for source in ["", "\n", "é\r\n\tx", "\u{feff}---\n"] {
            for start in 0..=source.len() {
                let _ = shown(source, start, start + 1);
            }
        }
    }
}
