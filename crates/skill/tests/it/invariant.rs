//! What holds for every input. The property tests and the fuzz targets hold it with inputs of their own.

use metier_diagnostic::{Diagnostic, Edit, Span, apply};
use metier_skill::yaml::{Kind, Node, parse_fully, parse_plainly};
use metier_skill::{Description, Document, Manifest, Parsed, Spanned, ToolPattern};
use metier_skill::{Portion, code, parse, scalar, set_text, summarize};

/// The most diagnostics a file may have: the listed ones, the count of the others, and a refusal.
const MAX_DIAGNOSTICS: usize = 102;

/// A file gives a skill or a reason, and every place lies in the text.
pub(crate) fn parsing_answers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse(bytes, Some("folder"));
    let refusals = parsed.diagnostics.iter().filter(|found| code::REFUSALS.contains(&found.code)).count();
    assert_eq!(parsed.document.is_none(), refusals > 0, "a skill or a reason: {parsed:?}");
    assert!(parsed.diagnostics.len() <= MAX_DIAGNOSTICS, "{} diagnostics", parsed.diagnostics.len());
    for found in &parsed.diagnostics {
        diagnostic_is_placed(found, &text);
    }
    if let Some(document) = &parsed.document {
        for span in spans(document) {
            span_is_inside(span, &text);
        }
        assert!(text.is_char_boundary(document.body as usize), "the body begins inside a character");
    }
    assert_eq!(parse(bytes, Some("folder")), parsed, "the same bytes give the same answer");
}

/// The first bytes are judged as the whole file or not at all, and never bring a prefix to fall.
pub(crate) fn a_beginning_agrees(bytes: &[u8], length: usize) {
    let head = &bytes[..length.min(bytes.len())];
    let whole = listed(parse(bytes, Some("folder")));
    if let Some(beginning) = summarize(head, Some("folder"), Portion::Beginning) {
        assert_eq!(listed(beginning), whole, "judged by {} bytes", head.len());
    }
    assert_eq!(
        summarize(bytes, Some("folder"), Portion::Whole).map(listed),
        Some(whole),
        "a summary is the same in short"
    );
    let prefix = summarize(head, Some("folder"), Portion::Prefix);
    assert!(prefix.is_some_and(|prefix| prefix.document.is_some() || !prefix.diagnostics.is_empty()));
}

/// What was parsed without the keys that are kept as they are written: a listing does without them.
pub(crate) fn listed(mut parsed: Parsed) -> (Option<Manifest>, Vec<Diagnostic>) {
    let mut manifest = parsed.document.take().map(|document| document.manifest);
    if let Some(manifest) = &mut manifest {
        let more = &mut manifest.more;
        more.extra.clear();
        for written in [&mut more.compatibility_raw, &mut more.metadata, &mut more.hooks] {
            *written = None;
        }
    }
    (manifest, parsed.diagnostics)
}

/// The offered fixes leave a file that reads the same and offers none any more.
pub(crate) fn fixes_are_sound(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse(bytes, Some("folder"));
    let edits = edits_of(&parsed);
    if edits.is_empty() {
        return;
    }
    let mended = apply(&text, &edits);
    let again = parse(mended.as_bytes(), Some("folder"));
    let read = |parsed: &Parsed| {
        let manifest = &parsed.document.as_ref().expect("a repaired file loads").manifest;
        (manifest.name.clone(), manifest.title.clone(), manifest.description.text().to_owned())
    };
    assert_eq!(read(&parsed), read(&again), "{mended:?}");
    assert_eq!(apply(&mended, &edits_of(&again)), mended, "a second time changes nothing");
    let is_repair = |found: &&Diagnostic| code::REPAIRS.contains(&found.code);
    if parsed.diagnostics.iter().filter(is_repair).all(|found| found.fix.is_some()) {
        let left: Vec<_> = again.diagnostics.iter().filter(is_repair).collect();
        assert!(left.is_empty(), "still to repair: {left:?} in {mended:?}");
    }
}

/// Setting a key changes this key and nothing else.
pub(crate) fn editing_changes_one_key(source: &str, key: &str, value: &str) {
    if let Ok(edits) = set_text(source, key, value) {
        let edited = apply(source, &edits);
        assert_eq!(first_text(&edited, key).as_deref(), Some(value), "{edited:?}");
        others_are_kept(source, &edited, key, &edits);
        // A key that was set can be set back.
        assert!(set_text(&edited, key, value).is_ok(), "{edited:?}");
    }
}

/// A text written as YAML reads back as itself.
pub(crate) fn a_scalar_reads_back(value: &str) {
    let written = format!("k: {}\nz: end\n", scalar(value));
    let tree = parse_fully(&written, 0).expect("it is YAML").expect("it is not empty");
    assert_eq!(tree.get("k").and_then(Node::text), Some(value), "{written:?}");
    assert!(tree.get("k").is_some_and(Node::is_text), "{written:?}");
    assert_eq!(tree.get("z").and_then(Node::text), Some("end"), "{written:?}");
}

/// The fast path declines, or says what the full parser says.
pub(crate) fn both_parsers_agree(text: &str) -> bool {
    let Some(fast) = parse_plainly(text, 7) else { return false };
    assert_eq!(parse_fully(text, 7), Ok(Some(fast)), "{text:?}");
    true
}

/// The edits of all diagnostics.
fn edits_of(parsed: &Parsed) -> Vec<Edit> {
    let fixes = parsed.diagnostics.iter().filter_map(|found| found.fix.as_ref());
    fixes.flat_map(|fix| fix.edits.iter().cloned()).collect()
}

fn diagnostic_is_placed(found: &Diagnostic, text: &str) {
    let place = found.place.unwrap_or_else(|| unreachable!("{found:?} has no place"));
    span_is_inside(place.span, text);
    assert!(place.position.line >= 1 && place.position.column >= 1);
    assert!(!found.message.is_empty());
    for edit in found.fix.iter().flat_map(|fix| &fix.edits) {
        span_is_inside(edit.span, text);
    }
}

fn span_is_inside(span: Span, text: &str) {
    let range = span.range();
    assert!(range.start <= range.end && range.end <= text.len(), "{span:?} of {} bytes", text.len());
    assert!(
        text.is_char_boundary(range.start) && text.is_char_boundary(range.end),
        "{span:?} cuts a character"
    );
}

/// Every span of a document.
fn spans(document: &Document) -> Vec<Span> {
    let manifest = &document.manifest;
    let more = &manifest.more;
    let mut spans: Vec<Span> = document.frontmatter.into_iter().chain(manifest.name_span).collect();
    if let Description::Written(text) = &manifest.description {
        spans.push(text.span);
    }
    let texts = [
        &manifest.when_to_use,
        &manifest.version,
        &more.license,
        &more.compatibility,
        &more.model,
        &more.effort,
        &more.agent,
        &more.argument_hint,
        &more.shell,
    ];
    spans.extend(texts.into_iter().flatten().map(|text: &Spanned<String>| text.span));
    let tools = [&more.allowed_tools, &more.tools, &more.disallowed_tools];
    spans.extend(tools.into_iter().flatten().map(|tools: &Spanned<Vec<ToolPattern>>| tools.span));
    spans.extend(more.max_turns.as_ref().map(|turns| turns.span));
    let raw = [&more.compatibility_raw, &more.metadata, &more.hooks];
    let values = raw.into_iter().flatten().chain(more.extra.iter().map(|(_, value)| value));
    values.for_each(|value| nested_spans(value, &mut spans));
    spans
}

fn nested_spans(node: &Node<'_>, spans: &mut Vec<Span>) {
    spans.push(node.span);
    match &node.kind {
        Kind::Scalar { .. } => {}
        Kind::Sequence(items) => items.iter().for_each(|item| nested_spans(item, spans)),
        Kind::Mapping(entries) => {
            for entry in entries {
                spans.push(entry.key_span);
                nested_spans(&entry.value, spans);
            }
        }
    }
}

/// The frontmatter of a file with exact delimiters, as a tree.
fn tree(source: &str) -> Option<Node<'_>> {
    let (yaml, _) = metier_skill::split(source.as_bytes())?;
    parse_fully(&source[yaml], 0).ok().flatten()
}

fn first_text(source: &str, key: &str) -> Option<String> {
    tree(source)?.get(key)?.text().map(str::to_owned)
}

/// Every other key, the body, and every byte outside the edits are as they were.
fn others_are_kept(source: &str, edited: &str, key: &str, edits: &[Edit]) {
    let others = |source: &str| -> Vec<String> {
        let tree = tree(source);
        let entries = tree.as_ref().and_then(Node::entries).unwrap_or_default();
        let others = entries.iter().filter(|entry| entry.key != key);
        others.map(|entry| format!("{}: {}", entry.key, meaning(&entry.value))).collect()
    };
    assert_eq!(others(source), others(edited), "{edited:?}");
    let body = |text: &str| -> String {
        let at = metier_skill::split(text.as_bytes()).map_or(0, |(_, body)| body);
        text[at..].trim_start_matches('\u{feff}').to_owned()
    };
    assert_eq!(body(source), body(edited));
    let mut rest = edited;
    let mut done = 0;
    for edit in edits {
        let kept = &source[done..edit.span.range().start];
        rest = rest
            .strip_prefix(kept)
            .and_then(|rest| rest.strip_prefix(&*edit.text))
            .expect("a byte was changed");
        done = edit.span.range().end;
    }
    assert_eq!(rest, &source[done..]);
}

fn meaning(node: &Node<'_>) -> String {
    match &node.kind {
        Kind::Scalar { text, style } => format!("{style:?} {text:?}"),
        Kind::Sequence(items) => format!("{:?}", items.iter().map(meaning).collect::<Vec<_>>()),
        Kind::Mapping(entries) => {
            format!(
                "{:?}",
                entries.iter().map(|entry| (&entry.key, meaning(&entry.value))).collect::<Vec<_>>()
            )
        }
    }
}

/// Every client has an opinion on every file: its places are in the text, and what does not load says why.
pub(crate) fn judging_answers(bytes: &[u8], folder: Option<&str>) {
    use metier_skill::profile::{Fate, FileView, Profile, judge};
    let source = String::from_utf8_lossy(bytes);
    let parsed = metier_skill::parse(bytes, folder);
    for profile in Profile::ALL {
        let verdict = judge(*profile, &FileView::new(&source, &parsed, folder));
        let refusals = || verdict.remarks.iter().filter(|remark| remark.fate == Fate::Refused);
        assert_eq!(verdict.loads.is_yes(), refusals().count() == 0, "{profile}");
        assert!(refusals().all(|remark| !remark.reason.as_deref().unwrap_or("").is_empty()), "{profile}");
        for found in verdict.diagnostics(&source) {
            let span = found.place.expect("every diagnostic has a place").span;
            assert!(source.get(span.range()).is_some(), "{profile}: {span:?} of {}", found.message);
        }
    }
}
