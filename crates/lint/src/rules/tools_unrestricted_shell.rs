use crate::command::programs;
use crate::tool::{place_of, spoken_name};
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::{Tool, ToolPattern};

/// How many programs a message proposes; a skill that needs more needs a shell.
const MAX_PROPOSED: usize = 6;
/// Programs that start any other or remove anything: a pattern for one of them restricts nothing.
const WIDE: &[&str] = &["bash", "env", "eval", "rm", "sh", "sudo", "xargs", "zsh"];

pub(super) static RULE: Rule = Rule::new(
    "tools-unrestricted-shell",
    Severity::Info,
    include_str!("tools_unrestricted_shell.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let Some(list) = &skill.manifest().more.allowed_tools else { return };
    let Some(pattern) = list.value.iter().find(|pattern| is_any_command(pattern)) else { return };
    let needed = programs(skill);
    let is_narrow = !needed.iter().any(|program| WIDE.contains(program));
    let help = if is_narrow && (1..=MAX_PROPOSED).contains(&needed.len()) {
        let patterns: Vec<String> = needed.iter().map(|program| format!("`Bash({program}:*)`")).collect();
        format!("name what it runs; its shell blocks need {}", patterns.join(", "))
    } else {
        "name the programs it needs, such as `Bash(git:*)`".to_owned()
    };
    let message = format!("`{pattern}` allows every command without asking");
    findings.report(skill, place_of(skill, list.span, pattern), message, help);
}

fn is_any_command(pattern: &ToolPattern) -> bool {
    let is_shell =
        spoken_name(&pattern.tool) == "Bash" && Tool::named(&pattern.tool) != Some(Tool::SkillRunScript);
    is_shell && matches!(pattern.argument.as_deref(), None | Some("*" | ":*" | "**" | ""))
}
