//! A diagnostic for a GitHub workflow: one command that shows it beside the changed lines.

use crate::visible::{acts, push_visible};
use crate::{Diagnostic, Severity};

/// The workflow command for one diagnostic, one line without its line break.
///
/// GitHub finds the file when the path is relative to the checkout. The end of the place needs the source. Columns are
/// said for places within a line only, since annotations have none otherwise.
///
/// The runner takes each line of output that begins with `::` for a command, so nothing of a stranger's text may end
/// the line or, among the properties, the property.
///
/// ```
/// use metier_diagnostic::{Code, Diagnostic, Severity, render_github};
///
/// static ODD: Code = Code::new("odd", Severity::Warning, "Odd.");
/// let found = Diagnostic::new(&ODD, "100% odd\n::error::no");
/// assert_eq!(render_github(&found, None), "::warning title=odd::100%25 odd%0A::error::no");
/// ```
pub fn render_github(diagnostic: &Diagnostic, source: Option<&str>) -> String {
    let mut line = String::from(match diagnostic.severity() {
        Severity::Error => "::error ",
        Severity::Warning => "::warning ",
        Severity::Info => "::notice ",
    });
    if let Some(path) = &diagnostic.path {
        line.push_str("file=");
        property(&mut line, &path.to_string_lossy());
        line.push(',');
        if let Some(place) = diagnostic.place {
            let (start, end) = (place.position, source.map(|source| place.end(source)));
            line.push_str(&format!("line={},", start.line));
            if end.is_none_or(|end| end.line == start.line) {
                line.push_str(&format!("col={},", start.column));
            }
            if let Some(end) = end {
                line.push_str(&format!("endLine={},", end.line));
                if end.line == start.line {
                    line.push_str(&format!("endColumn={},", end.column));
                }
            }
        }
    }
    line.push_str("title=");
    property(&mut line, diagnostic.code.name());
    line.push_str("::");
    data(&mut line, &diagnostic.full_message());
    line
}

/// A property ends at a comma, and the properties at two colons.
fn property(line: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            ':' => line.push_str("%3A"),
            ',' => line.push_str("%2C"),
            c => escaped(line, c),
        }
    }
}

/// The data goes on to the end of the line.
fn data(line: &mut String, text: &str) {
    text.chars().for_each(|c| escaped(line, c));
}

/// What the runner takes back after it has read the line; everything else that acts is shown and stays shown.
fn escaped(line: &mut String, c: char) {
    match c {
        '%' => line.push_str("%25"),
        '\r' => line.push_str("%0D"),
        '\n' => line.push_str("%0A"),
        c if acts(c) => push_visible(line, c),
        c => line.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Span};
    use std::path::Path;
    use std::sync::Arc;

    static ODD: Code = Code::new("odd", Severity::Error, "Odd.");

    fn shown(path: &str, message: &str, source: &str, span: Span) -> String {
        let path: Arc<Path> = Arc::from(Path::new(path));
        render_github(&Diagnostic::new(&ODD, message).at(span, source).in_file(&path), Some(source))
    }

    #[test]
    fn the_place_has_its_end_and_columns_within_a_line_only() {
        let source = "ab\ncdé f\n";
        let line = shown("s/SKILL.md", "this is odd", source, Span::new(4, 7));
        assert_eq!(line, "::error file=s/SKILL.md,line=2,col=2,endLine=2,endColumn=4,title=odd::this is odd");
        let line = shown("s/SKILL.md", "this is odd", source, Span::new(1, 4));
        assert_eq!(line, "::error file=s/SKILL.md,line=1,endLine=2,title=odd::this is odd");
    }

    #[test]
    fn help_and_notes_are_lines_of_the_message() {
        let found = Diagnostic::new(&ODD, "this is odd").note("seen before").help("mend it, soon");
        let found = found.with_severity(Severity::Info);
        let line = "::notice title=odd::this is odd%0Anote: seen before%0Ahelp: mend it, soon";
        assert_eq!(render_github(&found, None), line);
    }

    #[test]
    fn a_strangers_text_starts_no_command_and_adds_no_property() {
        let attacks = [
            "x\n::error::owned",
            "x\r\n::set-env name=PATH::/evil",
            "x\r::stop-commands::t",
            "x::error::owned",
            "x,line=9,title=owned",
            "x%0A::error::owned",
            "x\u{1b}[2K\u{0}\u{b}\u{c}\u{85}\u{2028}::error::owned",
        ];
        for attack in attacks {
            let line = shown(attack, attack, "a", Span::new(0, 1));
            assert!(!line.contains(char::is_control) && !line.contains('\u{2028}'), "{line:?}");
            // Read as the runner reads it: the properties end at the first `::` behind the command.
            let (properties, message) = line["::error ".len()..].split_once("::").expect("there is data");
            let names: Vec<&str> = properties.split(',').filter_map(|pair| pair.split('=').next()).collect();
            assert_eq!(names, ["file", "line", "col", "endLine", "endColumn", "title"], "{line:?}");
            let unescaped = message.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%");
            if !attack.contains('\u{1b}') {
                assert_eq!(unescaped, attack);
            }
        }
    }
}
