//! Where a client finds the frontmatter, and what it reads between the fences.
//!
//! The tree is ours in every case: what differs is which bytes it is built from, and what stops the reading.

use super::FileView;
use super::opinion::Opinion;
use super::text::grouped;
use crate::code;
use crate::line::lines;
use crate::yaml::{self, Entry, Feature, Kind, MAX_BYTES, Node, YamlError, YamlErrorKind, first_feature};
use metier_diagnostic::{Edit, Patched, Span};
use std::ops::Range;

/// How a client tells the frontmatter from the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// The file begins with `---`, and the next `---` ends it, wherever it stands.
    Anywhere,
    /// The same, but both have to end their lines.
    AnywhereEndingLines,
    /// The first line begins with `---` and may name a language; the next line that begins with `---` ends it.
    LineBeginnings,
    /// The first line is `---` and the next such line ends it; blanks around them do not matter.
    TrimmedLines,
}

/// What a client reads between the fences.
pub(super) struct Reading<'a> {
    /// The bytes between them.
    pub(super) yaml: Range<usize>,
    /// The keys, a repeated one as often as it stands there.
    pub(super) entries: Vec<Entry<'a>>,
    /// The text that was parsed, where it is not the file's own.
    patched: Option<Patched>,
}

impl Reading<'_> {
    /// The first entry of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Entry<'_>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The first feature beyond simple YAML.
    pub(super) fn first_feature(&self, source: &str) -> Option<(Feature, Span)> {
        let base = self.yaml.start;
        match &self.patched {
            None => first_feature(&source[self.yaml.clone()], base),
            Some(patched) => {
                let (feature, span) = first_feature(patched.text(), 0)?;
                Some((feature, origin(patched, span, base)))
            }
        }
    }

    /// Where something about the whole frontmatter is shown.
    pub(super) fn place(&self) -> Span {
        Span::empty(self.yaml.start)
    }

    /// The keys that stand there for a second time.
    pub(super) fn repeated(&self) -> impl Iterator<Item = &Entry<'_>> {
        let earlier = |at: usize, key: &str| self.entries[..at].iter().any(|entry| entry.key == key);
        self.entries
            .iter()
            .enumerate()
            .filter(move |(at, entry)| earlier(*at, &entry.key))
            .map(|(_, entry)| entry)
    }
}

/// Reads as the client does. What stops it is a refusal with its place.
pub(super) fn read<'a>(file: &FileView<'a>, fence: Fence) -> Result<Reading<'a>, (Span, Opinion)> {
    let range = range(file.source, fence)?;
    if range.len() > MAX_BYTES {
        // Nobody knows what each of them does then, and reading all of it would cost us what it costs them.
        let reason = format!("the frontmatter has {} bytes, more than can be judged", grouped(range.len()));
        let help = "close the frontmatter with `---`, or move what is long into the body";
        return Err((Span::empty(range.start), Opinion::refused(reason).help(help)));
    }
    let text = &file.source[range.clone()];
    let help = repair_help(file);
    let refused = |at: Span, reason: String| {
        let opinion = Opinion::refused(reason);
        (at, if let Some(help) = help.clone() { opinion.help(help) } else { opinion })
    };
    let patched = indented(text);
    match parse(text, range.start, patched.as_ref()) {
        Ok(Some(tree)) => match tree.kind {
            Kind::Mapping(entries) => Ok(Reading { yaml: range, entries, patched }),
            Kind::Scalar { .. } | Kind::Sequence(_) => {
                Err(refused(tree.span, "the frontmatter is no mapping of keys to values".to_owned()))
            }
        },
        Ok(None) => Ok(Reading { yaml: range, entries: Vec::new(), patched }),
        Err(error) => {
            let reason = match error.kind {
                YamlErrorKind::Syntax => format!("the frontmatter is not YAML ({})", error.message),
                YamlErrorKind::Tag | YamlErrorKind::Limit => error.message,
            };
            Err(refused(Span::empty(error.at), reason))
        }
    }
}

/// What our parser says of a quoted text that goes on without being indented.
const QUOTED_INDENTATION: &str = "invalid indentation in multiline quoted scalar";
/// How many such lines are indented before the text counts as broken. Each costs a parse, and real files have a few.
const MAX_UNINDENTED: usize = 32;
/// Deeper than any mapping that our parser takes.
const BLANKS: &str = "                                        ";

/// The text with blanks before each line that goes on inside quotes without any, since others take it as it is.
fn indented(text: &str) -> Option<Patched> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut patched: Option<Patched> = None;
    while edits.len() < MAX_UNINDENTED {
        let now = patched.as_ref().map_or(text, Patched::text);
        match yaml::parse(now, 0) {
            Err(error) if error.message == QUOTED_INDENTATION => {
                let at = patched.as_ref().map_or(error.at, |patched| patched.origin(error.at));
                edits.push(Edit::insert(at, BLANKS));
                patched = Some(Patched::new(text, &edits));
            }
            _ => break,
        }
    }
    patched
}

/// Parses a text, or what [`indented`] made of it, with the places of the text.
fn parse<'a>(text: &'a str, base: usize, patched: Option<&Patched>) -> Result<Option<Node<'a>>, YamlError> {
    let Some(patched) = patched else { return yaml::parse(text, base) };
    match yaml::parse(patched.text(), 0) {
        Ok(tree) => Ok(tree.map(|tree| {
            let mut tree = tree.into_owned();
            tree.map_spans(&|span| origin(patched, span, base));
            tree
        })),
        Err(error) => Err(YamlError { at: base + patched.origin(error.at), ..error }),
    }
}

fn origin(patched: &Patched, span: Span, base: usize) -> Span {
    let span = patched.origin_span(span).range();
    Span::new(base + span.start, base + span.end)
}

/// What parsing has already found to do about a broken frontmatter.
fn repair_help(file: &FileView<'_>) -> Option<String> {
    let mut repairs = file.parsed.diagnostics.iter().filter(|found| code::REPAIRS.contains(&found.code));
    repairs.find_map(|found| found.help.clone())
}

fn range(source: &str, fence: Fence) -> Result<Range<usize>, (Span, Opinion)> {
    if fence != Fence::LineBeginnings && source.starts_with('\u{feff}') {
        let reason = "the file begins with a byte order mark, so no frontmatter is seen";
        return Err((
            Span::empty(0),
            Opinion::refused(reason).help("save it as UTF-8 without a byte order mark"),
        ));
    }
    let start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    match fence {
        Fence::Anywhere => {
            let from = opening(source, start)?;
            let length = source[from..].find("---").ok_or_else(|| unclosed(start))?;
            Ok(from..from + length)
        }
        Fence::AnywhereEndingLines => {
            let from = opening(source, start)?;
            let first = line_end(&source[from..]).ok_or_else(|| missing(start))?;
            let length = source[from..].find("---").ok_or_else(|| unclosed(start))?;
            let close = from + length;
            let starts_line = source[..close].ends_with('\n');
            if !starts_line || line_end(&source[close + 3..]).is_none() {
                return Err((Span::new(close, close + 3), close_complaint(source, close)));
            }
            Ok(from + first..close.max(from + first))
        }
        Fence::LineBeginnings => {
            let from = opening(source, start)?;
            if source[from..].starts_with('-') {
                return Err(missing(start));
            }
            let first = lines(source, from).next().map_or(from, |line| line.end());
            let close = source[first..].find("\n---").map_or(source.len(), |at| first + at + 1);
            Ok(first.min(close)..close)
        }
        Fence::TrimmedLines => {
            let is_fence = |text: &str| text.trim() == "---";
            let mut all = lines(source, start);
            let from = all.next().filter(|line| is_fence(line.text)).ok_or_else(|| missing(start))?.next;
            let close = all.find(|line| is_fence(line.text)).ok_or_else(|| unclosed(start))?.start;
            Ok(from..close)
        }
    }
}

fn opening(source: &str, start: usize) -> Result<usize, (Span, Opinion)> {
    if source[start..].starts_with("---") { Ok(start + 3) } else { Err(missing(start)) }
}

/// The length of a line break, when the text begins with one.
fn line_end(text: &str) -> Option<usize> {
    ["\n", "\r\n"].into_iter().find(|end| text.starts_with(end)).map(str::len)
}

fn close_complaint(source: &str, close: usize) -> Opinion {
    if close + 3 == source.len() {
        return Opinion::refused("the file ends right behind the closing `---`, without a line break")
            .help("end the file with a line break");
    }
    Opinion::refused(
        "the first `---` behind the opening one is taken for the closing line, and it is not alone there",
    )
    .help("write a dash (`–`) or other words instead of `---` in the frontmatter")
}

fn missing(at: usize) -> (Span, Opinion) {
    let reason = "the file does not begin with frontmatter";
    (
        Span::empty(at),
        Opinion::refused(reason).help("begin the file with `---`, `name:`, `description:`, `---`"),
    )
}

fn unclosed(at: usize) -> (Span, Opinion) {
    let reason = "the frontmatter is not closed with `---`";
    (Span::empty(at), Opinion::refused(reason).help("end the frontmatter with a line that is `---`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fence: Fence, source: &str, expect: Option<&str>) {
        let found = range(source, fence).ok().map(|range| &source[range]);
        assert_eq!(found, expect, "{fence:?} {source:?}");
    }

    #[test]
    fn text_in_quotes_needs_no_indentation_and_keeps_its_place() {
        let text = "a: \"x\ny\n\nz\"\nb: 'é\nf'\n";
        let tree = parse(text, 7, indented(text).as_ref()).unwrap().unwrap();
        let values: Vec<_> =
            tree.entries().unwrap().iter().map(|entry| entry.value.text().unwrap()).collect();
        assert_eq!(values, ["x y\nz", "é f"]);
        let last = tree.entries().unwrap()[1].value.span;
        assert_eq!(&text[last.range().start - 7..last.range().end - 7], "'é\nf'");
        let unclosed = "a: \"x\ny\nb: c\n";
        assert!(parse(unclosed, 0, indented(unclosed).as_ref()).is_err());
    }

    #[test]
    fn each_fence_finds_its_frontmatter() {
        check(Fence::Anywhere, "---\na: b\n---\nc", Some("\na: b\n"));
        check(Fence::Anywhere, "---a: b --- c", Some("a: b "));
        check(Fence::Anywhere, "\u{feff}---\na: b\n---\n", None);
        check(Fence::Anywhere, "---\na: b\n", None);
        check(Fence::Anywhere, "\n---\na: b\n---\n", None);
        check(Fence::AnywhereEndingLines, "---\na: b\n---\nc", Some("a: b\n"));
        check(Fence::AnywhereEndingLines, "---\r\na: b\r\n---\r\n", Some("a: b\r\n"));
        check(Fence::AnywhereEndingLines, "---\na: b\n---", None);
        check(Fence::AnywhereEndingLines, "--- \na: b\n---\n", None);
        check(Fence::AnywhereEndingLines, "---\na: b --- c\n---\n", None);
        check(Fence::LineBeginnings, "\u{feff}---\na: b\n----\nc", Some("\na: b\n"));
        check(Fence::LineBeginnings, "---yaml\na: b --- c\n---", Some("\na: b --- c\n"));
        check(Fence::LineBeginnings, "---\na: b\n", Some("\na: b\n"));
        check(Fence::LineBeginnings, "----\na: b\n---\n", None);
        check(Fence::LineBeginnings, "---", Some(""));
        check(Fence::TrimmedLines, "--- \na: b --- c\n ---\n", Some("a: b --- c\n"));
        check(Fence::TrimmedLines, "---\na: b\n", None);
        check(Fence::TrimmedLines, "", None);
    }
}
