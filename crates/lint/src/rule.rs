//! What a rule is: a code, a page with its reasons and examples, and the function that looks.

use crate::findings::Findings;
use crate::root::Root;
use crate::skill::Skill;
use metier_diagnostic::{Code, Diagnostic, Severity};

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name, how much it matters, and what it reports.
    pub code: Code,
    /// Why that is worth changing, what to do about it, and an example of each side, as Markdown.
    pub page: &'static str,
    /// The rule itself.
    pub check: Check,
}

impl Rule {
    /// A rule with its page, the first line of which is what it reports.
    pub(crate) const fn new(
        name: &'static str,
        severity: Severity,
        page: &'static str,
        check: Check,
    ) -> Self {
        let mut end = 0;
        while page.as_bytes()[end] != b'\n' {
            end += 1;
        }
        let (summary, page) = page.split_at(end);
        Self { code: Code::new(name, severity, summary), page, check }
    }

    /// Whether `--fix` does what the remedy says, where there is only one way.
    pub fn is_fixing(&self) -> bool {
        matches!(self.check, Check::Fixing(_))
    }

    /// What it says about the skills of a root together. Rules do not know each other, so several may be asked at once.
    pub fn judge_root(&'static self, root: &Root<'_, '_>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Check::Root(check) = self.check {
            check(root, &mut Findings::new(self, &mut found));
        }
        found
    }
}

/// How a rule looks.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// At one skill.
    Skill(fn(&Skill<'_>, &mut Findings<'_>)),
    /// At one skill, with fixes where there is only one way.
    Fixing(fn(&Skill<'_>, &mut Findings<'_>)),
    /// At all skills of a root together.
    Root(fn(&Root<'_, '_>, &mut Findings<'_>)),
}
