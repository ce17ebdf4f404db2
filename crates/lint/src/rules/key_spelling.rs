use crate::{Check, Example, Findings, Mends, Rule, Skill};
use metier_diagnostic::{Code, Edit, Fix, Severity};

/// Spellings that metier accepts, and the one that most clients read.
const SPELLINGS: &[(&str, &str)] = &[
    ("allowed_tools", "allowed-tools"),
    ("disableModelInvocation", "disable-model-invocation"),
    ("disable_model_invocation", "disable-model-invocation"),
    ("max-turns", "maxTurns"),
    ("max_turns", "maxTurns"),
    ("user_invocable", "user-invocable"),
    ("when-to-use", "when_to_use"),
    ("whenToUse", "when_to_use"),
];

pub(super) static RULE: Rule = Rule {
    code: Code::new(
        "key-spelling",
        Severity::Warning,
        "A key is spelled in a way that most clients do not read.",
    ),
    why: "metier understands the spelling. Most clients ignore a key they do not know without a word, so a tool list \
          or an invocation switch has no effect there.",
    remedy: "Write the key as most clients read it.",
    mends: Mends::WhereCertain,
    ok: Example::new(
        "---\nname: lookup\ndescription: Looks words up. Use when a word is unknown.\nallowed-tools: Read\n---\nLook in the glossary.\n",
    ),
    bad: Example::new(
        "---\nname: lookup\ndescription: Looks words up. Use when a word is unknown.\nallowed_tools: Read\n---\nLook in the glossary.\n",
    ),
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for entry in skill.entries() {
        let Some((written, common)) = SPELLINGS.iter().find(|(written, _)| entry.key == *written) else {
            continue;
        };
        let span = entry.key_span;
        let message = format!("most clients do not read `{written}`; they read `{common}`");
        let mut found = findings.at(skill, span, message).help(format!("write `{common}`"));
        // Renaming is certain only where no other spelling of the key would come to stand beside it.
        let is_alone = skill
            .entries()
            .iter()
            .filter(|other| {
                other.key == *common
                    || SPELLINGS.iter().any(|(key, means)| other.key == *key && means == common)
            })
            .count()
            == 1;
        if is_alone && span.of(skill.source) == *written {
            let edits = vec![Edit { span, text: (*common).to_owned() }];
            found = found.fix(Fix { label: format!("rename the key to `{common}`"), edits });
        }
        findings.add(found);
    }
}
