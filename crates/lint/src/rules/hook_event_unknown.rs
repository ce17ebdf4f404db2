use crate::phrase::quoted;
use crate::spelling::meant;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;

/// The events that Claude Code documents, which is the client that reads `hooks`.
const EVENTS: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
];

pub(super) static RULE: Rule = Rule::new(
    "hook-event-unknown",
    Severity::Warning,
    include_str!("hook_event_unknown.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let Some(events) = skill.manifest().more.hooks.as_ref().and_then(|hooks| hooks.entries()) else { return };
    for event in events.iter().filter(|event| !EVENTS.contains(&&*event.key)) {
        let message = format!("{} is no event that Claude Code knows", quoted(&event.key));
        let help = match meant(&event.key, EVENTS) {
            Some(name) => format!("write `{name}`"),
            None => {
                "the usual ones are `PreToolUse`, `PostToolUse`, `UserPromptSubmit` and `Stop`".to_owned()
            }
        };
        findings.report(skill, event.key_span, message, help);
    }
}
