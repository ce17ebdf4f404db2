use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity};
use metier_skill::yaml::{Entry, Kind, Style};
use metier_skill::{KeyType, ManifestKey};

pub(super) static RULE: Rule = Rule::new(
    "boolean-in-quotes",
    Severity::Warning,
    include_str!("boolean_in_quotes.md"),
    Check::Fixing(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let takes_boolean =
        |entry: &&Entry<'_>| ManifestKey::of(&entry.key).is_some_and(|key| key.takes == KeyType::Boolean);
    for entry in skill.entries().iter().filter(takes_boolean) {
        let Kind::Scalar { text, style: Style::SingleQuoted | Style::DoubleQuoted } = &entry.value.kind
        else {
            continue;
        };
        let meant = match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => "true",
            "false" | "no" | "off" | "0" => "false",
            _ => continue,
        };
        let message = format!("`{}` is the text {}, not `{meant}`", entry.key, quoted(text));
        let span = entry.value.span;
        let edits = vec![Edit { span, text: meant.to_owned() }];
        let found = findings.at(skill, span, message).help(format!("write `{}: {meant}`", entry.key));
        findings.add(found.fix(Fix { label: "take the quotes away".into(), edits }));
    }
}
