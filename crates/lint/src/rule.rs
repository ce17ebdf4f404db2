//! What a rule is: a code, the reasons, an example of each side, and the function that looks.

use crate::findings::Findings;
use crate::root::Root;
use crate::skill::Skill;
use metier_diagnostic::{Code, Diagnostic};

/// One rule. Everything that is said about it, on its page and in its tests, is said here.
#[derive(Debug)]
pub struct Rule {
    /// Its name, how much it matters, and what it reports.
    pub code: Code,
    /// Why that is worth changing, what to do about it, and an example of each side, as Markdown.
    pub page: &'static str,
    /// A skill the rule is content with.
    pub ok: Example,
    /// A skill the rule reports.
    pub bad: Example,
    /// The rule itself.
    pub check: Check,
}

impl Rule {
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

/// A skill in an example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The SKILL.md.
    pub text: &'static str,
    /// A line that follows so many times, for rules about size.
    pub repeated: Option<(&'static str, usize)>,
    /// What lies beside it.
    pub files: &'static [ExampleFile],
    /// A file of which only the size matters.
    pub large: Option<(&'static str, u64)>,
    /// Another skill of the same root, for rules that look at several.
    pub beside: Option<(&'static str, &'static str)>,
}

/// A file in an example: its path, its text, and whether it may be started.
pub type ExampleFile = (&'static str, &'static str, crate::RunBit);

impl Example {
    /// A SKILL.md with nothing beside it, in a folder that is called like the skill.
    pub const fn new(text: &'static str) -> Self {
        Self { text, repeated: None, files: &[], large: None, beside: None }
    }

    /// The folder's name.
    pub fn folder(&self) -> &'static str {
        self.text.lines().find_map(|line| line.strip_prefix("name: ")).unwrap_or_default()
    }

    /// The same with files beside it.
    #[must_use]
    pub const fn with(mut self, files: &'static [ExampleFile]) -> Self {
        self.files = files;
        self
    }

    /// The same with a file of this size, for rules about size.
    #[must_use]
    pub const fn with_large(mut self, path: &'static str, size: u64) -> Self {
        self.large = Some((path, size));
        self
    }

    /// The same with a line below it, many times.
    #[must_use]
    pub const fn repeating(mut self, line: &'static str, times: usize) -> Self {
        self.repeated = Some((line, times));
        self
    }

    /// The whole SKILL.md.
    pub fn source(&self) -> String {
        let (line, times) = self.repeated.unwrap_or_default();
        format!("{}{}", self.text, line.repeat(times))
    }

    /// The same with another skill in the same root: its folder and its SKILL.md.
    #[must_use]
    pub const fn beside(mut self, folder: &'static str, text: &'static str) -> Self {
        self.beside = Some((folder, text));
        self
    }
}
