use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity};
use metier_skill::yaml::{Kind, Node};

/// Keys below `metadata` that some client reads as a mapping or a list of its own.
const OWNED: &[&str] =
    &["adk_additional_tools", "clawdbot", "clawdis", "hermes", "metier", "moltbot", "openclaw"];

pub(super) static RULE: Rule = Rule::new(
    "metadata-not-text",
    Severity::Info,
    include_str!("metadata_not_text.md"),
    Check::Fixing(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    // The tree as written: what was repaired has other bytes than the file.
    let Some(entries) = skill.entry("metadata").and_then(|entry| entry.value.entries()) else { return };
    let others: Vec<_> = entries
        .iter()
        .filter(|entry| !entry.value.is_text() && !entry.value.is_null() && !OWNED.contains(&&*entry.key))
        .collect();
    let Some(first) = others.first() else { return };
    let named: Vec<String> = others
        .iter()
        .take(4)
        .map(|entry| format!("{} is {}", quoted(&entry.key), what(&entry.value)))
        .collect();
    let more = if others.len() > 4 { format!(" and {} more", others.len() - 4) } else { String::new() };
    let message = format!("values of `metadata` should be texts: {}{more}", named.join(", "));
    let found = findings.at(skill, first.key_span, message);
    let edits: Vec<Edit> = others
        .iter()
        .filter_map(|entry| {
            let text = entry.value.text().filter(|text| entry.value.span.of(skill.source) == *text)?;
            Some(Edit { span: entry.value.span, text: format!("\"{text}\"") })
        })
        .collect();
    findings.add(if edits.is_empty() {
        found.help("write a list as one text, separated by commas")
    } else {
        let fix = Fix { label: "put the values in quotes".into(), edits };
        found.help("put numbers and booleans in quotes").fix(fix)
    });
}

fn what(node: &Node<'_>) -> &'static str {
    match &node.kind {
        Kind::Scalar { text, .. } if text.starts_with(['t', 'f', 'T', 'F']) => "a boolean",
        Kind::Scalar { .. } => "a number",
        Kind::Sequence(_) => "a list",
        Kind::Mapping(_) => "a mapping",
    }
}
