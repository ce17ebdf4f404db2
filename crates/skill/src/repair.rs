//! What happens when the strict parse fails: narrow repairs in a fixed order, each a warning that keeps the original
//! error and offers the fix.
//!
//! 1. [`frame`]: delimiters that are not exact.
//! 2. [`value`]: the failing line's value, quoted.
//! 3. [`salvage`]: name and description, and whatever else still reads on its own.
//!
//! What none of them can read is refused. Custom tags and exceeded limits are never repaired.

mod frame;
mod quote;
mod salvage;
mod value;

use crate::code;
use crate::yaml::{self, Entry, Kind, MAX_BYTES, YamlError, YamlErrorKind};
use frame::Frame;
use metier_diagnostic::{Diagnostic, Edit, Patched, Span};
use std::ops::Range;

/// What could be made of a text whose frontmatter is not exact.
pub(crate) enum Mended {
    /// Keys and values, with what was done to get them.
    Frontmatter(Found),
    /// Delimiters with nothing between them.
    Empty { body: usize, at: Span },
    /// No frontmatter.
    Missing,
    /// Neither readable nor absent.
    Refused(Box<Diagnostic>),
}

/// A frontmatter that was found.
pub(crate) struct Found {
    pub(crate) entries: Vec<Entry<'static>>,
    pub(crate) yaml: Span,
    pub(crate) body: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Tries the repairs in their order.
pub(crate) fn mend(text: &str) -> Mended {
    let frames = frame::candidates(text);
    let Some(start) = frames.start else { return Mended::Missing };
    let mut first_error: Option<YamlError> = None;
    let mut empty = None;
    let mut not_a_mapping = None;
    for frame in &frames.frames {
        if frame.yaml.len() > MAX_BYTES {
            let message = format!("the frontmatter has {} bytes; {MAX_BYTES} are the most", frame.yaml.len());
            return refuse(&code::FRONTMATTER_TOO_LARGE, Span::empty(frame.yaml.start), message, text);
        }
        match read(text, frame.yaml.clone()) {
            Ok(Reading::Mapping(entries, cleaned)) if frame.is_exact() || has_essential_key(&entries) => {
                return found(text, frame, entries, cleaned, Vec::new());
            }
            Ok(Reading::Mapping(..)) => {}
            Ok(Reading::Empty) if frame.is_exact() => empty = Some(frame),
            Ok(Reading::Empty) => {}
            Ok(Reading::Other(span)) => not_a_mapping = not_a_mapping.or(Some(span)),
            Err(error) if error.kind == YamlErrorKind::Syntax => first_error = first_error.or(Some(error)),
            Err(error) => return refuse_limit(&error, text),
        }
    }
    if let Some(frame) = empty {
        return Mended::Empty { body: frame.body, at: Span::new(0, frame.body) };
    }
    for frame in &frames.frames {
        match value::mend_values(text, frame.yaml.clone()) {
            Ok(Some(mended)) if has_essential_key(&mended.entries) => {
                return found(text, frame, mended.entries, mended.cleaned, mended.diagnostics);
            }
            Ok(_) => {}
            Err(error) => return refuse_limit(&error, text),
        }
    }
    if !frames.is_certain && first_error.is_none() && not_a_mapping.is_some() {
        // A rule and some text below a heading: nothing there was ever meant as frontmatter.
        return Mended::Missing;
    }
    if let Some(found) = salvage::salvage(text, start, first_error.as_ref()) {
        return Mended::Frontmatter(found);
    }
    if !frames.is_certain {
        return Mended::Missing;
    }
    match (first_error, not_a_mapping) {
        (None, Some(span)) => {
            let message = "the frontmatter must be a mapping of keys to values";
            refuse(&code::FRONTMATTER_NOT_A_MAPPING, span, message.to_owned(), text)
        }
        (Some(error), _) => {
            let message = format!("the frontmatter cannot be read ({}), and no name and description in it either", error.message);
            refuse(&code::FRONTMATTER_BROKEN, Span::empty(error.at), message, text)
        }
        (None, None) => {
            let message = "the frontmatter is not closed, and no name and description can be read from it";
            refuse(&code::FRONTMATTER_BROKEN, Span::empty(0), message.to_owned(), text)
        }
    }
}

/// What kind of binary the bytes are, if they are one.
pub(crate) fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.get(..512).unwrap_or(bytes);
    let signatures: [(&[u8], &str); 6] = [
        (b"{\\rtf", "an RTF document"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive or an office document"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
        (b"\x7fELF", "a program"),
    ];
    if let Some((_, what)) = signatures.iter().find(|(signature, _)| start.starts_with(signature)) {
        return Some(what);
    }
    // A stray NUL is dropped like any control character; many of them are no text.
    let nuls = start.iter().filter(|byte| **byte == 0).count();
    (nuls * 10 > start.len()).then_some("binary data")
}

enum Reading {
    Mapping(Vec<Entry<'static>>, Vec<usize>),
    Empty,
    Other(Span),
}

/// Parses a region with its control characters taken out. Offsets are of the file.
fn read(text: &str, region: Range<usize>) -> Result<Reading, YamlError> {
    let (patched, dropped) = without_controls(text, region.clone());
    let back = |span: Span| shift(patched.origin_span(span), region.start);
    match yaml::parse_fully(patched.text(), 0) {
        Ok(None) => Ok(Reading::Empty),
        Ok(Some(tree)) => {
            let mut tree = tree.into_owned();
            tree.map_spans(&back);
            match tree.kind {
                Kind::Mapping(entries) => Ok(Reading::Mapping(entries, dropped)),
                Kind::Scalar { .. } | Kind::Sequence(_) => Ok(Reading::Other(tree.span)),
            }
        }
        Err(mut error) => {
            error.at = region.start + patched.origin(error.at);
            Err(error)
        }
    }
}

fn shift(span: Span, by: usize) -> Span {
    Span::new(span.start as usize + by, span.end as usize + by)
}

/// A region without control characters, and where in the file they were.
fn without_controls(text: &str, region: Range<usize>) -> (Patched, Vec<usize>) {
    let slice = text.get(region.clone()).unwrap_or_default();
    let controls = slice.char_indices().filter(|(_, c)| is_dropped(*c));
    let edits: Vec<Edit> = controls.map(|(at, c)| Edit::delete(at, at + c.len_utf8())).collect();
    let dropped = edits.iter().map(|edit| region.start + edit.span.start as usize).collect();
    (Patched::new(slice, &edits), dropped)
}

fn is_dropped(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || c == '\u{feff}'
}

fn has_essential_key(entries: &[Entry<'_>]) -> bool {
    entries.iter().any(|entry| matches!(&*entry.key, "name" | "description"))
}

/// Puts a result together: what was odd about the delimiters, then about the values.
fn found(
    text: &str,
    frame: &Frame,
    entries: Vec<Entry<'static>>,
    dropped: Vec<usize>,
    mut values: Vec<Diagnostic>,
) -> Mended {
    let name = entries.iter().find(|entry| entry.key == "name").map(|entry| entry.value.span);
    if let Some(at) = dropped.iter().find(|at| name.is_some_and(|span| span.contains(**at))) {
        let message = "the name contains a control character".to_owned();
        return refuse(&code::NAME_CONTROL_CHARACTER, Span::empty(*at), message, text);
    }
    let mut diagnostics = frame.diagnostics(text);
    if let Some(first) = dropped.first() {
        let message = format!("{} control characters were dropped", dropped.len());
        diagnostics.push(Diagnostic::new(&code::CONTROL_CHARACTERS, message).at(Span::empty(*first), text));
    }
    diagnostics.append(&mut values);
    Mended::Frontmatter(Found { entries, yaml: frame.yaml.clone().into(), body: frame.body, diagnostics })
}

fn refuse(code: &'static metier_diagnostic::Code, span: Span, message: String, text: &str) -> Mended {
    Mended::Refused(Box::new(Diagnostic::new(code, message).at(span, text).help(remedy(code))))
}

fn remedy(code: &'static metier_diagnostic::Code) -> &'static str {
    match code.name() {
        "custom-tag" => "remove the tag; put a text that begins with `!` in quotes",
        "frontmatter-too-large" | "frontmatter-too-complex" => "move what is not about the skill itself into the body",
        "frontmatter-not-a-mapping" => "write lines such as `name: …` and `description: …` between the `---` lines",
        "name-control-character" => "give it a `name` of lower-case letters, digits and hyphens",
        _ => "write `---`, `name: …`, `description: …`, `---`, each on its own line",
    }
}

fn refuse_limit(error: &YamlError, text: &str) -> Mended {
    let code = match error.kind {
        YamlErrorKind::Tag => &code::CUSTOM_TAG,
        YamlErrorKind::Limit | YamlErrorKind::Syntax => &code::FRONTMATTER_TOO_COMPLEX,
    };
    refuse(code, Span::empty(error.at), error.message.clone(), text)
}
