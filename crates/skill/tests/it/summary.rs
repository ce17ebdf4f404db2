//! What a parse gave, as lines that a person can compare.

use metier_diagnostic::{Diagnostic, Edit, apply};
use metier_skill::{Context, Description, Manifest, Parsed, Spanned, ToolPattern, code, parse};

/// Everything that was read and reported, one fact a line.
pub(crate) fn summary(bytes: &[u8], folder: Option<&str>) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse(bytes, folder);
    let mut lines = Vec::new();
    if let Some(document) = &parsed.document {
        manifest(&document.manifest, &mut lines);
        let body = &text[document.body as usize..];
        let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        lines.push(format!("body: {}", shown(first)));
    }
    for found in &parsed.diagnostics {
        lines.push(diagnostic(found));
    }
    lines.extend(fixed(&text, &parsed, folder).map(|fix| format!("fix: {fix}")));
    lines
}

/// `warning: unquoted-colon 3:14`, and for a refusal the sentence, too.
pub(crate) fn diagnostic(found: &Diagnostic) -> String {
    let place = match (found.line(), found.column()) {
        (Some(line), Some(column)) => format!("{line}:{column}"),
        _ => "nowhere".to_owned(),
    };
    let line = format!("{}: {} {place}", found.severity(), found.code);
    if is_one_of(found, code::REFUSALS) { format!("{line} {}", found.message) } else { line }
}

/// Every key that has a value, in a fixed order.
pub(crate) fn manifest(manifest: &Manifest, lines: &mut Vec<String>) {
    let mut add = |key: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{key}: {value}")));
    };
    let text = |value: &Option<Spanned<String>>| value.as_ref().map(|text| shown(&text.value));
    let list = |items: &[String]| (!items.is_empty()).then(|| shown(&items.join(" | ")));
    let tools = |value: &Option<Spanned<Vec<ToolPattern>>>| {
        let items = value.as_ref()?.value.iter().map(ToString::to_string).collect::<Vec<_>>();
        Some(if items.is_empty() { "(none)".to_owned() } else { items.join(" | ") })
    };
    let more = &manifest.more;
    add("name", Some(manifest.name.to_string()));
    add("title", manifest.title.as_deref().map(shown));
    match &manifest.description {
        Description::Written(text) => add("description", Some(shown(&text.value))),
        Description::Derived(text) => add("description (derived)", Some(shown(text))),
        Description::Absent => add("description", Some("(absent)".to_owned())),
    }
    add("when_to_use", text(&manifest.when_to_use));
    add("version", text(&manifest.version));
    add("user-only", manifest.user_only.map(|why| format!("{why:?}")));
    add("user-invocable", (!manifest.user_invocable).then(|| "false".to_owned()));
    add("license", text(&more.license));
    add("compatibility", text(&more.compatibility));
    add("metadata", more.metadata.as_ref().map(json));
    add("allowed-tools", tools(&more.allowed_tools));
    add("tools", tools(&more.tools));
    add("disallowed-tools", tools(&more.disallowed_tools));
    add("model", text(&more.model));
    add("effort", text(&more.effort));
    add("maxTurns", more.max_turns.as_ref().map(|turns| turns.value.to_string()));
    add("tags", list(&more.tags));
    add(
        "context",
        match &more.context {
            Context::Inline => None,
            Context::Fork => Some("fork".to_owned()),
            Context::Note(note) => Some(format!("note {}", shown(note))),
        },
    );
    add("agent", text(&more.agent));
    add("background", more.background.map(|background| background.to_string()));
    add("argument-hint", text(&more.argument_hint));
    let arguments = more.arguments.iter().map(|argument| format!("{argument:?}")).collect::<Vec<_>>();
    add("arguments", list(&arguments));
    add("paths", list(&more.paths));
    add("hooks", more.hooks.as_ref().map(json));
    add("shell", text(&more.shell));
    add("requires", more.requires.as_ref().map(|requires| format!("{requires:?}")));
    add("needs", more.needs.as_ref().map(|needs| format!("{needs:?}")));
    for (key, value) in &more.extra {
        add(&format!("extra {key}"), Some(json(value)));
    }
}

/// What becomes of the file when every offered edit is made: `whole` when it then reads the same without any repair.
fn fixed(text: &str, parsed: &Parsed, folder: Option<&str>) -> Option<String> {
    let repairs: Vec<&Diagnostic> =
        parsed.diagnostics.iter().filter(|found| is_one_of(found, code::REPAIRS)).collect();
    let document = parsed.document.as_ref().filter(|_| !repairs.is_empty())?;
    let edits = all_edits(parsed);
    let offers = |found: &&&Diagnostic| found.fix.as_ref().is_some_and(|fix| !fix.edits.is_empty());
    if repairs.iter().filter(offers).count() < repairs.len() {
        return Some(if edits.is_empty() { "none" } else { "in part" }.to_owned());
    }
    let mended = apply(text, &edits);
    let again = parse(mended.as_bytes(), folder);
    let Some(reparsed) = again.document else { return Some(format!("BROKEN, refused: {mended}")) };
    let left: Vec<String> =
        again.diagnostics.iter().filter(|found| is_one_of(found, code::REPAIRS)).map(diagnostic).collect();
    if !left.is_empty() {
        return Some(format!("BROKEN, still needs {}: {mended}", left.join(", ")));
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    manifest(&document.manifest, &mut before);
    manifest(&reparsed.manifest, &mut after);
    if before != after {
        return Some(format!("BROKEN, reads otherwise: {after:?}"));
    }
    Some("whole".to_owned())
}

/// The edits of all diagnostics.
pub(crate) fn all_edits(parsed: &Parsed) -> Vec<Edit> {
    let fixes = parsed.diagnostics.iter().filter_map(|found| found.fix.as_ref());
    fixes.flat_map(|fix| fix.edits.iter().cloned()).collect()
}

pub(crate) fn is_one_of(found: &Diagnostic, codes: &[&metier_diagnostic::Code]) -> bool {
    codes.iter().any(|code| code.name() == found.code.name())
}

fn json(value: &metier_skill::yaml::Value) -> String {
    serde_json::to_string(value).expect("a value is JSON")
}

/// A text on one line.
fn shown(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
}
