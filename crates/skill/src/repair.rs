//! What happens when the strict parse fails: narrow repairs in a fixed order, each a warning that keeps the original
//! error and offers the fix.
//!
//! 1. [`frame`]: delimiters that are not exact.
//! 2. [`value`]: the failing line's value, quoted.
//! 3. [`salvage`]: name and description, and whatever else still reads on its own.
//!
//! What none of them can read is refused. Custom tags and exceeded limits are never repaired.

mod budget;
mod frame;
mod quote;
mod salvage;
#[cfg(test)]
mod tests;
mod value;

use crate::code;
use crate::findings::Findings;
use crate::parse::is_harmful;
use crate::yaml::{Entry, Kind, MAX_BYTES, YamlError, YamlErrorKind};
use budget::Budget;
use frame::{Candidates, Frame};
use metier_diagnostic::{Code, Diagnostic, Edit, Fix, Patched, Span};
use std::ops::Range;
use value::MendedValues;

/// How many control characters a fix removes. More of them are no slip, and a person should look at the file.
const MAX_REMOVALS: usize = 100;

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
    pub(crate) findings: Findings,
}

/// Tries the repairs in their order.
pub(crate) fn mend(text: &str) -> Mended {
    mend_within(text, &mut Budget::for_values(), &mut Budget::for_salvage())
}

fn mend_within(text: &str, budget: &mut Budget, for_salvage: &mut Budget) -> Mended {
    let Some(candidates) = frame::candidates(text) else { return Mended::Missing };
    if let Some(word) = candidates.engine {
        let written = word.of(text).trim();
        let message =
            format!("`---{written}` asks for another language to be evaluated; metier never does that");
        return refuse(&code::FRONTMATTER_ENGINE, word, message, text);
    }
    let strict = match read_strictly(text, &candidates, budget) {
        Ok(strict) => strict,
        Err(mended) => return mended,
    };
    match mend_values(text, &candidates, budget) {
        Ok(Some((frame, mended))) => return found(text, frame, mended),
        Ok(None) => {}
        Err(error) => return refuse_limit(&error, text),
    }
    if !candidates.is_certain && strict.error.is_none() && strict.not_a_mapping.is_some() {
        // A rule and some text below a heading: nothing there was ever meant as frontmatter.
        return Mended::Missing;
    }
    if let Some(found) = salvage::salvage(text, &candidates, strict.error.as_ref(), for_salvage) {
        return Mended::Frontmatter(found);
    }
    if !candidates.is_certain {
        return Mended::Missing;
    }
    match (strict.error, strict.not_a_mapping) {
        (None, Some(span)) => {
            let message = "the frontmatter must be a mapping of keys to values";
            refuse(&code::FRONTMATTER_NOT_A_MAPPING, span, message.to_owned(), text)
        }
        (Some(error), _) => {
            let message = format!(
                "the frontmatter cannot be read ({}), and no name and description in it either",
                error.message
            );
            refuse(&code::FRONTMATTER_BROKEN, Span::empty(error.at), message, text)
        }
        (None, None) => {
            let message = "the frontmatter is not closed, and no name and description can be read from it";
            refuse(&code::FRONTMATTER_BROKEN, Span::empty(0), message.to_owned(), text)
        }
    }
}

/// Why no frame reads strictly.
#[derive(Default)]
struct Strict {
    error: Option<YamlError>,
    not_a_mapping: Option<Span>,
}

/// Reads the frames as they are. What settles the matter, good or bad, comes back as an `Err`.
fn read_strictly(text: &str, candidates: &Candidates, budget: &mut Budget) -> Result<Strict, Mended> {
    let mut strict = Strict::default();
    let mut refusal = None;
    let mut empty = None;
    for frame in &candidates.frames {
        if frame.yaml.len() > MAX_BYTES {
            refusal = candidates.is_certain.then(|| too_large(frame, text));
            continue;
        }
        match read(text, frame.yaml.clone(), budget) {
            Ok(Reading::Mapping(values)) if frame.is_exact() || has_essential_key(&values.entries) => {
                return Err(found(text, frame, values));
            }
            Ok(Reading::Empty) if frame.is_exact() => empty = Some(frame),
            Ok(Reading::Mapping(_) | Reading::Empty | Reading::TooMuch) => {}
            Ok(Reading::Other(span)) => strict.not_a_mapping = strict.not_a_mapping.or(Some(span)),
            Err(error) if error.kind == YamlErrorKind::Syntax => strict.error = strict.error.or(Some(error)),
            // A nearer end may still leave what must not be read outside.
            Err(error) => refusal = refusal.or(Some(refuse_limit(&error, text))),
        }
    }
    match (refusal, empty) {
        (Some(refusal), _) => Err(refusal),
        (None, Some(frame)) => Err(Mended::Empty { body: frame.body, at: Span::new(0, frame.body) }),
        (None, None) => Ok(strict),
    }
}

/// Mends the values of each frame; the one that needs the least is how a person would read the file.
fn mend_values<'f>(
    text: &str,
    candidates: &'f Candidates,
    budget: &mut Budget,
) -> Result<Option<(&'f Frame, MendedValues)>, YamlError> {
    let mut best: Option<(usize, &Frame, MendedValues)> = None;
    for frame in candidates.frames.iter().filter(|frame| frame.yaml.len() <= MAX_BYTES) {
        let Some(mended) = value::mend_values(text, frame.yaml.clone(), budget)? else { continue };
        let needed = frame.oddities() + mended.findings.count();
        let is_better = best.as_ref().is_none_or(|(least, ..)| needed < *least);
        if is_better && has_essential_key(&mended.entries) {
            best = Some((needed, frame, mended));
        }
    }
    Ok(best.map(|(_, frame, mended)| (frame, mended)))
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
    let nuls = start.split(|byte| *byte == 0).count() - 1;
    (nuls * 10 > start.len()).then_some("binary data")
}

enum Reading {
    Mapping(MendedValues),
    Empty,
    Other(Span),
    /// The budget is spent.
    TooMuch,
}

/// Parses a region with its control characters taken out. Offsets are of the file.
fn read(text: &str, region: Range<usize>, budget: &mut Budget) -> Result<Reading, YamlError> {
    let (patched, dropped) = without_controls(text, region.clone());
    let back = |span: Span| shift(patched.origin_span(span), region.start);
    match budget.parse(patched.text()) {
        None => Ok(Reading::TooMuch),
        Some(Ok(None)) => Ok(Reading::Empty),
        Some(Ok(Some(tree))) => {
            let mut tree = tree.into_owned();
            tree.map_spans(&back);
            match tree.kind {
                Kind::Mapping(entries) => {
                    Ok(Reading::Mapping(MendedValues { entries, findings: Findings::default(), dropped }))
                }
                Kind::Scalar { .. } | Kind::Sequence(_) => Ok(Reading::Other(tree.span)),
            }
        }
        Some(Err(mut error)) => {
            error.at = region.start + patched.origin(error.at);
            Err(error)
        }
    }
}

fn shift(span: Span, by: usize) -> Span {
    Span::new(span.start as usize + by, span.end as usize + by)
}

/// A region without control characters, and where in the file they were.
fn without_controls(text: &str, region: Range<usize>) -> (Patched, Vec<Span>) {
    let slice = text.get(region.clone()).unwrap_or_default();
    let controls = slice.char_indices().filter(|(_, c)| is_dropped(*c));
    let edits: Vec<Edit> = controls.map(|(at, c)| Edit::delete(at, at + c.len_utf8())).collect();
    let dropped = edits.iter().map(|edit| shift(edit.span, region.start)).collect();
    (Patched::new(slice, &edits), dropped)
}

/// Control characters, and the three others that YAML does not take.
fn is_dropped(c: char) -> bool {
    is_harmful(c) || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn has_essential_key(entries: &[Entry<'_>]) -> bool {
    entries.iter().any(|entry| matches!(&*entry.key, "name" | "description"))
}

/// Puts a result together: what was odd about the delimiters, then about the values.
fn found(text: &str, frame: &Frame, values: MendedValues) -> Mended {
    // From the key on, since what stands at the edges of the name is no part of the value any more.
    let name = values.entries.iter().find(|entry| entry.key == "name");
    let in_name = |span: &&Span| {
        let reaches = |entry: &Entry<'_>| (entry.key_span.end..=entry.value.span.end).contains(&span.start);
        name.is_some_and(reaches) && span.of(text).contains(char::is_control)
    };
    if let Some(span) = values.dropped.iter().find(in_name) {
        let message = "the name contains a control character".to_owned();
        return refuse(&code::NAME_CONTROL_CHARACTER, *span, message, text);
    }
    let mut findings = Findings::default();
    for found in frame.diagnostics(text).into_iter().chain(dropped_controls(&values.dropped, text)) {
        findings.add(|| found);
    }
    findings.absorb(values.findings);
    let entries = values.entries;
    Mended::Frontmatter(Found { entries, yaml: frame.yaml.clone().into(), body: frame.body, findings })
}

/// The same for a body, of which nothing is read here but what goes.
pub(crate) fn controls_of_body(text: &str, body: usize) -> Option<Diagnostic> {
    let slice = text.get(body..).unwrap_or_default();
    let harmful = slice.char_indices().filter(|(_, character)| is_harmful(*character));
    let dropped: Vec<Span> =
        harmful.map(|(at, character)| Span::new(body + at, body + at + character.len_utf8())).collect();
    dropped_controls(&dropped, text)
}

/// One diagnostic for all control characters that were dropped.
fn dropped_controls(dropped: &[Span], text: &str) -> Option<Diagnostic> {
    let first = dropped.first()?;
    let message = match dropped.len() {
        1 => "a control character was dropped".to_owned(),
        many => format!("{many} control characters were dropped"),
    };
    let label = "remove them";
    let found = Diagnostic::new(&code::CONTROL_CHARACTERS, message).at(*first, text).help(label);
    if dropped.len() > MAX_REMOVALS {
        return Some(found);
    }
    let edits = dropped.iter().map(|span| Edit { span: *span, text: String::new() }).collect();
    Some(found.fix(Fix { label: label.to_owned(), edits }))
}

fn refuse(code: &'static Code, span: Span, message: String, text: &str) -> Mended {
    Mended::Refused(Box::new(Diagnostic::new(code, message).at(span, text).help(remedy(code))))
}

fn remedy(code: &'static Code) -> &'static str {
    match code.name() {
        "custom-tag" => "remove the tag; put a text that begins with `!` in quotes",
        "frontmatter-too-large" | "frontmatter-too-complex" => {
            "move what is not about the skill itself into the body"
        }
        "frontmatter-not-a-mapping" => {
            "write lines such as `name: …` and `description: …` between the `---` lines"
        }
        "frontmatter-engine" => "write `---` alone",
        "name-control-character" => "give it a `name` of lower-case letters, digits and hyphens",
        _ => "write `---`, `name: …`, `description: …`, `---`, each on its own line",
    }
}

fn too_large(frame: &Frame, text: &str) -> Mended {
    let message = format!("the frontmatter has {} bytes; {MAX_BYTES} are the most", frame.yaml.len());
    refuse(&code::FRONTMATTER_TOO_LARGE, Span::empty(frame.yaml.start), message, text)
}

fn refuse_limit(error: &YamlError, text: &str) -> Mended {
    let code = match error.kind {
        YamlErrorKind::Tag => &code::CUSTOM_TAG,
        YamlErrorKind::Limit | YamlErrorKind::Syntax => &code::FRONTMATTER_TOO_COMPLEX,
    };
    refuse(code, Span::empty(error.at), error.message.clone(), text)
}

/// Whether a text without an exact opening line seems to have frontmatter all the same.
pub(crate) fn seems_intended(text: &str) -> bool {
    frame::candidates(text).is_some()
}
