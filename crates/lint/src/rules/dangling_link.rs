use crate::reference::links;
use crate::{Check, Example, Files, Findings, Mends, Rule, RunBit, Skill};
use metier_diagnostic::{Code, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code::new("dangling-link", Severity::Warning, "A link leads to a file that the skill does not have."),
    why: "A model that follows the instructions asks for the file, gets an error, and goes on without what it says.",
    remedy: "Add the file, correct the path, or take the link out. Paths are relative to the SKILL.md.",
    mends: Mends::Never,
    ok: Example::new(
        "pdf",
        "---\nname: pdf\ndescription: Reads PDFs. Use when a PDF comes up.\n---\nFor forms see [forms](references/forms.md#fields).\n",
    )
    .with(&[("references/forms.md", "# Forms\n", RunBit::Clear)]),
    bad: Example::new(
        "pdf",
        "---\nname: pdf\ndescription: Reads PDFs. Use when a PDF comes up.\n---\nFor forms see [forms](references/forms.md).\n",
    ),
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    if skill.files == Files::Unknown {
        return;
    }
    for link in links(skill) {
        let Some(path) = link.inside().filter(|path| !skill.files.has(path)) else { continue };
        let found = findings.at(skill, link.span, format!("there is no `{path}` in the skill's folder"));
        findings.add(found.help("add the file, correct the path, or take the link out"));
    }
}
