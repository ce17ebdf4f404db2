//! A diagnostic for a person: the sentence, the source line underlined, the next step.

use crate::excerpt::Excerpt;
use crate::sources::Sources;
use crate::visible::{visible, visible_lines};
use crate::{Diagnostic, Place, Severity};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::path::Path;

/// A width that no excerpt reaches.
const WIDE: usize = 1_000;

/// Whether escape codes for colour may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text alone; it makes the same sense.
    Plain,
    /// With colours, for a terminal.
    Colour,
}

/// Renders one diagnostic. Without the source (or when the place is not in it) the place stands as `path:line:column`.
///
/// Text from the source or the message can do nothing to the terminal: see [`visible`].
pub fn render_text(diagnostic: &Diagnostic, source: Option<&str>, paint: Paint) -> String {
    let excerpt = diagnostic.place.zip(source).and_then(|(place, source)| Excerpt::of(place, source));
    render(diagnostic, excerpt.as_ref(), Aside::Said, paint)
}

/// Renders many diagnostics, a blank line between two. `source` gives the text of a file where it is at hand.
///
/// What a reader has just read is not said again: diagnostics about one place show the line once, and notes and help
/// of a code stand once for those of a file that have the same. Sort by file and place to get the most of it.
pub fn render_report<S: AsRef<str>>(
    diagnostics: &[Diagnostic],
    source: impl FnMut(&Path) -> Option<S>,
    paint: Paint,
) -> String {
    let mut sources = Sources::new(source);
    let mut report = String::new();
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        let path = diagnostic.path.as_deref();
        let above = &diagnostics[..index];
        let above = above.rsplit(|other| other.path.as_deref() != path).next().unwrap_or_default();
        let seen = above.last().and_then(|other| other.place) == diagnostic.place;
        let excerpt =
            diagnostic.place.filter(|_| !seen).and_then(|place: Place| Excerpt::of(place, sources.of(path)?));
        let said = above.iter().any(|other| {
            other.code == diagnostic.code && other.help == diagnostic.help && other.notes == diagnostic.notes
        });
        if index > 0 {
            report.push_str("\n\n");
        }
        let aside = if said { Aside::Left } else { Aside::Said };
        report.push_str(&render(diagnostic, excerpt.as_ref(), aside, paint));
    }
    report
}

/// Whether notes and help are said here, or were said above.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aside {
    Said,
    Left,
}

fn render(diagnostic: &Diagnostic, excerpt: Option<&Excerpt>, aside: Aside, paint: Paint) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let path = diagnostic.path.as_deref().map(|path| visible(&path.to_string_lossy()).into_owned());
    let title = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code.name());
    let mut group = Group::with_title(title);
    if let Some((excerpt, place)) = excerpt.zip(diagnostic.place) {
        let annotation = AnnotationKind::Primary.span(excerpt.range.clone());
        let snippet = Snippet::source(&excerpt.line).line_start(place.position.line as usize);
        group = group.element(snippet.annotation(annotation).path(path.as_deref()));
    } else if let Some(path) = &path {
        let mut origin = Origin::path(path);
        if let Some(place) = diagnostic.place {
            origin = origin.line(place.position.line as usize).char_column(place.position.column as usize);
        }
        group = group.element(origin);
    }
    if aside == Aside::Said {
        for note in &diagnostic.notes {
            group = group.element(Level::NOTE.message(visible_lines(note)));
        }
        // A fix says what it does in an order, as the help does; one of them is enough.
        let fixed = diagnostic.fix.as_ref().map(|fix| &fix.label);
        if let Some(help) = diagnostic.help.as_ref().filter(|help| Some(*help) != fixed) {
            group = group.element(Level::HELP.message(visible_lines(help)));
        }
    }
    if let Some(fix) = &diagnostic.fix {
        group = group.element(Level::HELP.with_name("fix").message(visible_lines(&fix.label)));
    }
    let renderer = match paint {
        Paint::Plain => Renderer::plain(),
        Paint::Colour => Renderer::styled(),
    };
    // The excerpt is cut already, and marked where it was; a second cut would take what ours left.
    let text = renderer.term_width(WIDE).render(&[group]);
    match (path, excerpt, diagnostic.place) {
        (Some(path), Some(excerpt), Some(place)) => with_real_column(text, &path, excerpt, place),
        _ => text,
    }
}

/// The renderer counts the columns of what it was given, a cut line with escapes in it; people go to those of the file.
fn with_real_column(text: String, path: &str, excerpt: &Excerpt, place: Place) -> String {
    let counted = excerpt.line[..excerpt.range.start].chars().count() + 1;
    let line = place.position.line;
    if counted == place.position.column as usize {
        return text;
    }
    // The title is one line, and the place stands on the next.
    let Some((title, rest)) = text.split_once('\n') else { return text };
    let (wrong, right) =
        (format!("{path}:{line}:{counted}"), format!("{path}:{line}:{}", place.position.column));
    format!("{title}\n{}", rest.replacen(&wrong, &right, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Edit, Fix, Span};
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
    fn a_long_line_is_cut_around_the_place_and_the_column_is_the_files() {
        let source = format!("description: {}HERE{}", "é".repeat(500), "z".repeat(500));
        let text = shown(&source, 1013, 1017);
        assert!(text.contains("^^^^") && text.contains("HERE"), "{text}");
        assert!(text.contains("a/SKILL.md:1:514\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 110), "{text}");
        assert!(text.contains("1 | …é") && text.contains("z…\n") && !text.contains("..."), "{text}");
    }

    #[test]
    fn a_strangers_text_does_nothing_to_the_terminal() {
        let hostile = "a\u{1b}[2J\u{202e}b\r\u{7}\u{9b}c\u{2066}";
        let source = format!("x\n{hostile}HERE\n");
        let at = source.find("HERE").expect("it is there");
        let path: Arc<Path> = Arc::from(Path::new(hostile));
        let fix = Fix { label: hostile.to_owned(), edits: Vec::new() };
        let found = Diagnostic::new(&ODD, format!("{hostile}\nerror: no")).at(Span::new(at, at + 4), &source);
        let found = found.in_file(&path).note(hostile).help(format!("mend {hostile}")).fix(fix);
        let text = render_text(&found, Some(&source), Paint::Plain);
        let shown = r"a\u{1b}[2J\u{202e}b\r\u{7}\u{9b}c\u{2066}";
        assert_eq!(text.matches(shown).count(), 6, "{text}");
        assert!(!text.contains(|c| c != '\n' && crate::visible::acts(c)), "{text:?}");
        assert!(text.lines().next().is_some_and(|title| title.ends_with(r"\nerror: no")), "{text}");
        assert!(text.contains(":2:13\n"), "{text}");
    }

    #[test]
    fn a_fix_is_named() {
        let fix = Fix { label: "quote the value".to_owned(), edits: vec![Edit::insert(0, "'")] };
        let text = render_text(&Diagnostic::new(&ODD, "this is odd").fix(fix), None, Paint::Plain);
        assert_eq!(text, "warning[odd]: this is odd\n |\n = fix: quote the value");
    }

    #[test]
    fn help_that_the_fix_says_is_said_once() {
        let fix = Fix { label: "mend it".to_owned(), edits: vec![Edit::insert(0, "'")] };
        let found = Diagnostic::new(&ODD, "this is odd").help("mend it").fix(fix);
        let text = render_text(&found, None, Paint::Plain);
        assert_eq!(text, "warning[odd]: this is odd\n |\n = fix: mend it");
    }

    #[test]
    fn a_report_does_not_repeat_itself() {
        let source = "name: X\nkind: Y\n";
        let path: Arc<Path> = Arc::from(Path::new("a/SKILL.md"));
        let found = |start, message: &str| {
            let found = Diagnostic::new(&ODD, message).at(Span::new(start, start + 1), source);
            found.in_file(&path).help("mend it")
        };
        let diagnostics = [found(6, "one"), found(6, "two"), found(14, "three").help("or not")];
        let text = render_report(&diagnostics, |_| Some(source), Paint::Plain);
        assert_eq!(
            text,
            "warning[odd]: one\n --> a/SKILL.md:1:7\n  |\n1 | name: X\n  |       ^\n  |\n  = help: mend it\n\n\
             warning[odd]: two\n--> a/SKILL.md:1:7\n\n\
             warning[odd]: three\n --> a/SKILL.md:2:7\n  |\n2 | kind: Y\n  |       ^\n  |\n  = help: or not"
        );
        assert_eq!(render_report(&[], |_| Some(source), Paint::Plain), "");
    }

    #[test]
    fn without_a_source_the_place_is_named() {
        let path: Arc<Path> = Arc::from(Path::new("a/SKILL.md"));
        let diagnostic =
            Diagnostic::new(&ODD, "odd \u{1b}[31m text").at(Span::new(4, 5), "---\nx").in_file(&path);
        let text = render_text(&diagnostic, None, Paint::Plain);
        assert_eq!(text, "warning[odd]: odd \\u{1b}[31m text\n--> a/SKILL.md:2:1");
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
