use crate::command::shell_blocks;
use crate::phrase::{Spoken, quoted};
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;

/// What cannot be taken back.
const DEEDS: &[&str] =
    &["delete", "deploy", "destroy", "drop", "force-push", "publish", "purge", "release", "send", "wipe"];

/// Words that make a deed a topic: `release-notes` are written, not released.
const TOPICS: &[&str] = &[
    "audit",
    "best",
    "changelog",
    "check",
    "checker",
    "checklist",
    "checks",
    "docs",
    "engineering",
    "guide",
    "log",
    "management",
    "manager",
    "notes",
    "patterns",
    "plan",
    "planner",
    "planning",
    "practices",
    "readiness",
    "report",
    "review",
    "reviewer",
    "status",
    "strategy",
    "template",
    "templates",
    "test",
    "tests",
    "validate",
    "verify",
];

/// What a body says that stops before the deed.
const STOPS: &[&str] = &[
    "approval",
    "approve",
    "approves",
    "ask",
    "asking",
    "asks",
    "check with",
    "draft",
    "dry run",
    "explicit",
    "explicitly",
    "permission",
    "user agrees",
    "user says",
    "wait for",
];

/// The same, as parts of words in several languages: `confirm` is also in `confirmação` and `confirmer`.
const STOPS_INSIDE: &[&str] = &[
    "askuserquestion",
    "bestätig",
    "confirm",
    "conferm",
    "onayla",
    "подтвер",
    "承認",
    "批准",
    "确认",
    "確認",
    "승인",
    "확인",
];

pub(super) static RULE: Rule = Rule::new(
    "dangerous-auto-invocation",
    Severity::Warning,
    include_str!("dangerous_auto_invocation.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let manifest = skill.manifest();
    let name = manifest.name.folded();
    if manifest.user_only.is_some() || !is_deed(&name) {
        return;
    }
    // A body without a command tells about the deed and does not do it.
    let acts = shell_blocks(skill).next().is_some()
        || skill.paths_in_code().iter().any(|path| path.path.starts_with("scripts/"));
    if !acts || asks_first(skill.body()) {
        return;
    }
    let message =
        format!("the model may start {} on its own, and no step asks the user first", quoted(&name));
    let help = "add `disable-model-invocation: true`, or a step that asks the user first";
    findings.report(skill, skill.name_at(), message, help);
}

/// Whether a body stops before the deed. One such word is enough: where it stands is not judged.
fn asks_first(body: &str) -> bool {
    let lower = body.to_lowercase();
    STOPS_INSIDE.iter().any(|part| lower.contains(part)) || Spoken::of(body).has_any(STOPS)
}

/// Whether a name begins with a deed and does not make it a topic.
fn is_deed(name: &str) -> bool {
    let name = name.replace('_', "-");
    let begins = DEEDS
        .iter()
        .any(|deed| name.strip_prefix(*deed).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')));
    begins && !name.split('-').any(|word| TOPICS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::{asks_first, is_deed};

    #[test]
    fn deeds_are_told_from_topics() {
        for (name, expect) in [
            ("deploy", true),
            ("send-mail", true),
            ("force-push", true),
            ("delete_task", true),
            ("release-notes", false),
            ("deploy-checklist", false),
            ("deployment", false),
            ("droplet", false),
            ("mail-send", false),
        ] {
            assert_eq!(is_deed(name), expect, "{name}");
        }
    }

    #[test]
    fn a_step_that_asks_is_found_in_several_languages() {
        for body in
            ["Confirm first.", "Ask the user.", "Peça confirmação.", "先确认", "Only after confirming"]
        {
            assert!(asks_first(body), "{body}");
        }
        assert!(!asks_first("Run the task and push."));
    }
}
