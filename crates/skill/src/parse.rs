//! From bytes to a skill. The common case touches the frontmatter once and nothing else; everything odd goes the long
//! way through [`crate::repair`].

use crate::code;
use crate::document::{Document, Parsed};
use crate::findings::Findings;
use crate::manifest::{Description, Keep, Typed, UserOnly, type_tree};
use crate::paragraph::first_paragraph;
use crate::repair::{self, Mended};
use crate::split::{self, Split};
use crate::yaml::{self, Entry, Kind, MAX_BYTES};
use metier_diagnostic::{Code, Diagnostic, Edit, Span, apply};
use std::borrow::Cow;
use std::str;

/// Fewer bytes than this without frontmatter are no skill but a leftover.
const MIN_BYTES: usize = 20;

/// How much of a file the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portion {
    /// The first bytes; more can be had.
    Beginning,
    /// The first bytes; more will not be read.
    Prefix,
    /// All of it.
    Whole,
}

/// Parses a whole SKILL.md. `folder` is the name of the folder it lies in, which is the skill's name when it has none.
///
/// Never fails: what is wrong is in [`Parsed::diagnostics`], and a refused file has no [`Parsed::document`].
pub fn parse(bytes: &[u8], folder: Option<&str>) -> Parsed {
    let way = Way { folder, portion: Portion::Whole, keep: Keep::Everything };
    parse_portion(bytes, way).unwrap_or_default()
}

/// Parses a SKILL.md that is judged whole and not only listed: what is not UTF-8 in its body is said, too, and so are the
/// control characters that [`without_controls`] takes out of it.
pub fn parse_whole(bytes: &[u8], folder: Option<&str>) -> Parsed {
    let mut parsed = parse(bytes, folder);
    if let Some(body) = parsed.document.as_ref().map(|document| document.body as usize) {
        let text = decoded(bytes);
        if has_controls(text.as_bytes().get(body..).unwrap_or_default()) {
            parsed.diagnostics.extend(repair::controls_of_body(&text, body));
        }
    }
    let is_said = |found: &Diagnostic| [&code::INVALID_UTF8, &code::NOT_TEXT].contains(&found.code);
    if let Some(at) = first_invalid(bytes)
        && !parsed.diagnostics.iter().any(is_said)
    {
        parsed.diagnostics.push(invalid_utf8(at, &decoded(bytes)));
    }
    parsed
}

/// A body as it is used: without control characters, which could move a terminal's cursor or end a text early. Line
/// breaks and tabs stay.
pub fn without_controls(body: &str) -> Cow<'_, str> {
    if !has_controls(body.as_bytes()) {
        return Cow::Borrowed(body);
    }
    Cow::Owned(body.chars().filter(|character| !is_harmful(*character)).collect())
}

/// Whether there may be any, told from the bytes, since nearly no file has one.
fn has_controls(bytes: &[u8]) -> bool {
    let is_plain =
        |byte: u8| (byte >= 0x20 && byte != 0x7f && byte != 0xc2) || matches!(byte, b'\n' | b'\r' | b'\t');
    // 0xc2 also begins harmless characters such as `§`; the long way tells them apart.
    bytes.iter().any(|byte| !is_plain(*byte))
}

pub(crate) fn is_harmful(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t')
}

/// What a listing shows of a SKILL.md, from a portion of it: the manifest lacks the values that are kept as they are
/// written, since of ten thousand files nobody wants the hooks. A beginning that is not enough to judge the file gives
/// `None`; the other portions always give an answer.
pub fn summarize(bytes: &[u8], folder: Option<&str>, portion: Portion) -> Option<Parsed> {
    parse_portion(bytes, Way { folder, portion, keep: Keep::Summary })
}

/// What a parse has to know beside the bytes.
#[derive(Clone, Copy)]
struct Way<'f> {
    folder: Option<&'f str>,
    portion: Portion,
    keep: Keep,
}

fn parse_portion(bytes: &[u8], way: Way<'_>) -> Option<Parsed> {
    if let Some(parsed) = parse_exactly(bytes, way) {
        return Some(parsed);
    }
    if way.portion == Portion::Beginning {
        return None;
    }
    let parsed = parse_leniently(bytes, way);
    Some(with_sound_fixes(parsed, bytes, way))
}

/// Takes the fixes back unless they are sound: once all of them are made, the file reads the same, nothing is left to
/// fix, and where every repair offers a fix, no repair is needed. A fix that has to be fixed would cost trust.
fn with_sound_fixes(mut parsed: Parsed, bytes: &[u8], way: Way<'_>) -> Parsed {
    let edits = |parsed: &Parsed| -> Vec<Edit> {
        let fixes = parsed.diagnostics.iter().filter_map(|found| found.fix.as_ref());
        fixes.flat_map(|fix| fix.edits.iter().cloned()).collect()
    };
    let all = edits(&parsed);
    if all.is_empty() {
        return parsed;
    }
    let mended = apply(&decoded(bytes), &all);
    let whole = Way { portion: Portion::Whole, ..way };
    let again = match parse_exactly(mended.as_bytes(), whole) {
        Some(again) => again,
        None => parse_leniently(mended.as_bytes(), whole),
    };
    let is_repair = |found: &&Diagnostic| code::REPAIRS.contains(&found.code);
    let repairs = |parsed: &Parsed| parsed.diagnostics.iter().filter(is_repair).count();
    let fixable = parsed.diagnostics.iter().filter(is_repair).filter(|found| found.fix.is_some()).count();
    let is_sound = match (&parsed.document, &again.document) {
        (Some(before), Some(after)) => {
            let reads = |document: &Document| {
                let manifest = &document.manifest;
                let description = manifest.description.text().to_owned();
                (manifest.name.clone(), manifest.title.clone(), description)
            };
            let is_whole = fixable < repairs(&parsed) || repairs(&again) == 0;
            reads(before) == reads(after) && edits(&again).is_empty() && is_whole
        }
        _ => false,
    };
    if !is_sound {
        parsed.diagnostics.iter_mut().for_each(|found| found.fix = None);
    }
    parsed
}

/// The strict way. `None` when the delimiters are not exact, the YAML is not strict, or the body is needed.
fn parse_exactly(bytes: &[u8], way: Way<'_>) -> Option<Parsed> {
    let from = split::opening(bytes)?;
    let split = split::close(bytes, from).filter(|split| split.yaml.len() <= MAX_BYTES)?;
    // A closing line at the very end of a beginning may be the first half of a longer line.
    if way.portion == Portion::Beginning && split.body == bytes.len() && bytes.last() != Some(&b'\n') {
        return None;
    }
    let head = str::from_utf8(&bytes[..split.body]).ok()?;
    let tree = yaml::parse(&head[split.yaml.clone()], split.yaml.start).ok()??;
    let Kind::Mapping(entries) = tree.kind else { return None };
    let typed = type_tree(entries, head, way.folder, way.keep);
    let lacks_description =
        typed.manifest.as_ref().is_some_and(|manifest| manifest.description == Description::Absent);
    if !lacks_description {
        return Some(finish(typed, Some(split.yaml.into()), split.body, head));
    }
    match way.portion {
        Portion::Beginning => None,
        // What is not UTF-8 has to be said, since the description may come from there.
        Portion::Prefix | Portion::Whole => {
            let text = str::from_utf8(whole_characters(bytes, way.portion)).ok()?;
            Some(finish(typed, Some(split.yaml.into()), split.body, text))
        }
    }
}

/// The keys of a frontmatter that needs no repair, and where it stands.
pub(crate) fn strict_entries(text: &str) -> Option<(Vec<Entry<'_>>, Split)> {
    let from = split::opening(text.as_bytes())?;
    let split = split::close(text.as_bytes(), from).filter(|split| split.yaml.len() <= MAX_BYTES)?;
    match yaml::parse(&text[split.yaml.clone()], split.yaml.start).ok()??.kind {
        Kind::Mapping(entries) => Some((entries, split)),
        Kind::Scalar { .. } | Kind::Sequence(_) => None,
    }
}

/// Settles what depends on the body: a description that is not written.
fn finish(mut typed: Typed, frontmatter: Option<Span>, body_at: usize, text: &str) -> Parsed {
    if let Some(manifest) = typed.manifest.as_mut()
        && manifest.description == Description::Absent
    {
        let (code, message) = if let Some(paragraph) = first_paragraph(&text[body_at..]) {
            manifest.description = Description::Derived(paragraph);
            (&code::DESCRIPTION_DERIVED, "there is no description; the first paragraph stands in for it")
        } else {
            manifest.user_only.get_or_insert(UserOnly::NoDescription);
            let message =
                "there is no description and no paragraph to take one from; only the user can start it";
            (&code::DESCRIPTION_MISSING, message)
        };
        let help = "write `description:` with what it does and when to use it";
        typed.findings.add(|| Diagnostic::new(code, message).at(typed.description_at, text).help(help));
    }
    let body = u32::try_from(body_at).unwrap_or(u32::MAX);
    let document = typed.manifest.map(|manifest| Document { manifest, frontmatter, body });
    Parsed { document, diagnostics: typed.findings.into_diagnostics(text) }
}

/// The long way: decode what is not UTF-8, find delimiters that are not exact, repair, salvage, or refuse.
fn parse_leniently(bytes: &[u8], way: Way<'_>) -> Parsed {
    if let Some(what) = repair::binary_kind(bytes) {
        let message = format!("this is {what}, not text");
        let reason = Diagnostic::new(&code::NOT_TEXT, message).at(Span::default(), "");
        return refused(reason.help("save it as plain UTF-8 text"));
    }
    let bytes = whole_characters(bytes, way.portion);
    let text = decoded(bytes);
    let mut findings = Findings::default();
    if let Some(at) = first_invalid(bytes) {
        findings.add(|| invalid_utf8(at, &text));
    }
    let without = |findings: &mut Findings, code: &'static Code, message: &str, at: Span| {
        findings.add(|| Diagnostic::new(code, message).at(at, &text).help(ADD_FRONTMATTER));
    };
    match repair::mend(&text) {
        Mended::Frontmatter(found) => {
            findings.absorb(found.findings);
            let mut typed = type_tree(found.entries, &text, way.folder, way.keep);
            findings.absorb(typed.findings);
            typed.findings = findings;
            finish(typed, Some(found.yaml), found.body, &text)
        }
        Mended::Empty { body, at } => {
            let message = "the frontmatter is empty; the skill is for the user only";
            without(&mut findings, &code::FRONTMATTER_EMPTY, message, at);
            without_frontmatter(&text, body, way, findings)
        }
        Mended::Missing if text.trim().len() < MIN_BYTES => {
            let message =
                format!("there is no frontmatter and nothing else to speak of ({} bytes)", text.len());
            let found = Diagnostic::new(&code::TOO_SMALL, message).at(Span::empty(0), &text);
            refused(found.help("write a frontmatter and instructions"))
        }
        Mended::Missing => {
            let message = "there is no frontmatter; the skill is for the user only";
            without(&mut findings, &code::FRONTMATTER_MISSING, message, Span::empty(0));
            without_frontmatter(&text, 0, way, findings)
        }
        Mended::Refused(reason) => {
            findings.refuse(*reason);
            Parsed { document: None, diagnostics: findings.into_diagnostics(&text) }
        }
    }
}

const ADD_FRONTMATTER: &str = "begin the file with `---`, `name:`, `description:`, `---`";

/// A skill that says nothing of itself: the folder's name, the first paragraph, for the user only.
fn without_frontmatter(text: &str, body_at: usize, way: Way<'_>, mut findings: Findings) -> Parsed {
    let mut typed = type_tree(Vec::new(), text, way.folder, way.keep);
    if let Some(manifest) = typed.manifest.as_mut() {
        manifest.user_only = Some(UserOnly::NoFrontmatter);
        if let Some(paragraph) = first_paragraph(&text[body_at..]) {
            manifest.description = Description::Derived(paragraph);
        }
    }
    findings.absorb(typed.findings);
    let body = u32::try_from(body_at).unwrap_or(u32::MAX);
    let document = typed.manifest.map(|manifest| Document { manifest, frontmatter: None, body });
    Parsed { document, diagnostics: findings.into_diagnostics(text) }
}

fn refused(reason: Diagnostic) -> Parsed {
    Parsed { document: None, diagnostics: vec![reason] }
}

fn invalid_utf8(at: usize, text: &str) -> Diagnostic {
    let found = Diagnostic::new(&code::INVALID_UTF8, "bytes that are not UTF-8 were replaced");
    found.at(Span::empty(at), text).help("save the file as UTF-8")
}

/// The first byte that is not UTF-8, as an offset into the text that replaces it (which is the same up to there).
fn first_invalid(bytes: &[u8]) -> Option<usize> {
    str::from_utf8(bytes).err().map(|error| error.valid_up_to())
}

/// The bytes without a character that the end of a prefix cut in two.
fn whole_characters(bytes: &[u8], portion: Portion) -> &[u8] {
    if portion == Portion::Whole {
        return bytes;
    }
    match str::from_utf8(&bytes[last_character(bytes)..]) {
        Err(error) if error.error_len().is_none() => &bytes[..last_character(bytes)],
        _ => bytes,
    }
}

/// Where the last character begins: at the last byte that does not continue one, which is among the last four.
fn last_character(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(4);
    let begins = |byte: &u8| byte & 0xc0 != 0x80;
    bytes[from..].iter().rposition(begins).map_or(from, |at| from + at)
}

/// The text of a file. Nearly all are valid, and asking that first is several times faster than replacing right away.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
