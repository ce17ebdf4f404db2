use crate::command::shell_blocks;
use crate::phrase::{Spoken, quoted};
use crate::reference::paths_in_code;
use crate::{Check, Example, Findings, Mends, Rule, Skill};
use metier_diagnostic::{Code, Severity};

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
    "confirm",
    "confirms",
    "confirmed",
    "confirmation",
    "ask the user",
    "ask for",
    "approval",
    "approve",
    "approves",
    "permission",
    "explicit",
    "explicitly asked",
    "dry run",
    "wait for the user",
    "user agrees",
    "check with the user",
    "askuserquestion",
    "before you send",
    "draft",
];

pub(super) static RULE: Rule = Rule {
    code: Code::new(
        "dangerous-auto-invocation",
        Severity::Warning,
        "A skill that deploys, deletes or sends may be started by the model, and nothing stops before the deed.",
    ),
    why: "A model that misreads a request starts the skill on its own. What was deployed, deleted or sent then \
          cannot be taken back.",
    remedy: "Add `disable-model-invocation: true`, so that only the user starts it, or a step that asks first.",
    mends: Mends::Never,
    ok: Example::new(
        "deploy",
        "---\nname: deploy\ndescription: Deploys the site. Use when asked to deploy.\ndisable-model-invocation: true\n---\nRun this:\n\n```bash\nmake deploy\n```\n",
    ),
    bad: Example::new(
        "deploy",
        "---\nname: deploy\ndescription: Deploys the site. Use when asked to deploy.\n---\nRun this:\n\n```bash\nmake deploy\n```\n",
    ),
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let manifest = skill.manifest();
    let name = manifest.name.folded();
    let Some(deed) = deed(&name).filter(|_| manifest.user_only.is_none()) else { return };
    // A body without a command tells about the deed and does not do it.
    let acts = shell_blocks(skill).next().is_some()
        || paths_in_code(skill).iter().any(|path| path.path.starts_with("scripts/"));
    if !acts || Spoken::of(skill.body()).has_any(STOPS) {
        return;
    }
    let message = format!(
        "the model may start {} on its own, and no step asks before it goes to {deed}",
        quoted(&name)
    );
    let found = findings.at(skill, skill.name_at(), message.replace("goes to force-push", "force-pushes"));
    findings.add(found.help("add `disable-model-invocation: true`, or a step that asks the user first"));
}

/// The deed a name begins with.
fn deed(name: &str) -> Option<&'static str> {
    let name = name.replace('_', "-");
    let found = DEEDS.iter().find(|deed| {
        name.strip_prefix(**deed).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })?;
    let is_topic = name.split('-').any(|word| TOPICS.contains(&word));
    (!is_topic).then_some(*found)
}

#[cfg(test)]
mod tests {
    use super::deed;

    #[test]
    fn deeds_are_told_from_topics() {
        for (name, expect) in [
            ("deploy", Some("deploy")),
            ("send-mail", Some("send")),
            ("force-push", Some("force-push")),
            ("delete_task", Some("delete")),
            ("release-notes", None),
            ("deploy-checklist", None),
            ("deployment", None),
            ("droplet", None),
            ("mail-send", None),
        ] {
            assert_eq!(deed(name), expect, "{name}");
        }
    }
}
