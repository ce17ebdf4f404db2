use crate::phrase::quoted;
use crate::spelling::meant;
use crate::tool::{KNOWN, lists, place_of, spoken_name};
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity};

pub(super) static RULE: Rule =
    Rule::new("tool-misspelled", Severity::Warning, include_str!("tool_misspelled.md"), Check::Fixing(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for (key, list) in lists(skill) {
        for pattern in &list.value {
            let Some(name) = meant(&pattern.tool, KNOWN) else { continue };
            let is_case = name.eq_ignore_ascii_case(&pattern.tool);
            // `tools` is the key of other clients, and `Shell` and `bash` are names of their tools.
            let is_dialect = spoken_name(&pattern.tool) != pattern.tool;
            if is_dialect && (key == "tools" || !is_case) {
                continue;
            }
            let place = place_of(skill, list.span, pattern);
            let message = format!("{} is no tool of Claude Code; `{name}` is", quoted(&pattern.tool));
            let mut found = findings.at(skill, place, message).help(format!("write `{name}`"));
            // A list in which another tool is spelled as Claude Code does is meant for Claude Code.
            let is_certain = is_case && list.value.iter().any(|other| KNOWN.contains(&other.tool.as_str()));
            if is_certain && place.of(skill.source) == pattern.tool {
                let edits = vec![Edit { span: place, text: name.to_owned() }];
                found = found.fix(Fix { label: format!("write `{name}`"), edits });
            }
            findings.add(found);
        }
    }
}
