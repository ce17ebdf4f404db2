use crate::{Check, Example, Findings, Mends, Rule, Skill};
use metier_diagnostic::{Code, Severity, Span};

/// What the open standard advises. It counts lines because authors can.
const MAX_LINES: usize = 500;

pub(super) static RULE: Rule = Rule {
    code: Code::new("body-too-long", Severity::Warning, "The body has more than 500 lines."),
    why: "The whole body enters the conversation each time the skill is used, whatever part of it is needed, and \
          stays there. What is read only when it is needed costs nothing until then.",
    remedy: "Move parts into files below `references/` and say in the body when to read each of them.",
    mends: Mends::Never,
    ok: Example::new(
        "api",
        "---\nname: api\ndescription: Calls our API. Use when order data is needed.\n---\nRead [the calls](references/calls.md) before you write one.\n",
    )
    .with(&[("references/calls.md", "# Calls\n", crate::RunBit::Clear)]),
    bad: Example::new("api", "---\nname: api\ndescription: Calls our API. Use when order data is needed.\n---\n")
        .repeating("One more call.\n", 501),
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let lines = skill.body().lines().count();
    if lines > MAX_LINES {
        let message = format!("the body has {lines} lines; {MAX_LINES} are advised");
        let found = findings.at(skill, Span::empty(skill.body_at()), message);
        findings.add(found.help("move what is not always needed into files below `references/`"));
    }
}
