//! What the gate says, and why.

use crate::action::Skill;
use crate::answer::{Answer, Question};
use crate::file_glob::FileGlob;
use crate::mode::Mode;
use crate::rule::Rule;
use crate::rules::Cited;
use metier_diagnostic::visible;
use std::fmt;

/// What may happen, from nothing to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ruling {
    /// It does not happen.
    Refuse,
    /// It happens after a yes.
    Ask,
    /// It happens.
    Allow,
}

impl Ruling {
    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// What was decided, what decided it, and what would change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What may happen.
    pub ruling: Ruling,
    /// What decided it.
    pub by: Reason,
    /// What else was needed, where several rules and grants allow an action together.
    pub also: Vec<Reason>,
    /// The rules that would allow it, where rules can: to be added to `allow` in the user's configuration.
    pub allow_with: Vec<Rule>,
    /// The question, where one is to be asked or nobody was there to be asked.
    pub question: Option<Question>,
}

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A deny rule.
    Denied(Cited),
    /// The skill is not trusted.
    Untrusted(Skill),
    /// What would run has changed since the skill was trusted.
    Changed(Skill),
    /// A skill's `disallowed-tools`.
    Disallowed {
        /// The skill.
        skill: Skill,
        /// The entry.
        tool: String,
    },
    /// A skill's `allowed-tools` as a fence.
    Fence {
        /// The skill whose fence it is.
        skill: Skill,
        /// What the fence lets through.
        tools: String,
        /// What stands outside, where it is one command of several or a piece that cannot be read.
        piece: Option<String>,
    },
    /// An answer that was given before.
    Answered(Answer),
    /// A deny rule that may be about this.
    Doubt {
        /// The rule.
        rule: Cited,
        /// Why nobody can say.
        why: String,
    },
    /// An ask rule.
    AskRule(Cited),
    /// An allow rule.
    Allowed(Cited),
    /// A skill's `allowed-tools` as a grant.
    Granted {
        /// The skill.
        skill: Skill,
        /// The entry.
        tool: String,
    },
    /// What the call was allowed to write before it ran.
    Need(FileGlob),
    /// The mode.
    Mode {
        /// Which.
        mode: Mode,
        /// What it says about this, such as "every run asks".
        what: String,
    },
}

impl Decision {
    /// Whether it may happen now.
    pub fn is_allowed(&self) -> bool {
        self.ruling == Ruling::Allow
    }

    /// Whether it does not happen only for want of an approval: no one could be asked, the answer was no, or the mode refuses what
    /// no rule names. What a deny rule, a fence or the mode `plan` refuses is refused on purpose.
    pub fn lacks_approval(&self) -> bool {
        let is_wanted = match &self.by {
            Reason::Answered(Answer::No) => true,
            Reason::Mode { mode, .. } => *mode != Mode::Plan,
            _ => false,
        };
        !self.is_allowed() && (self.question.is_some() || is_wanted)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ruling, &self.question) {
            (Ruling::Allow, _) => write!(f, "allowed: {}", self.by)?,
            (Ruling::Ask, _) => write!(f, "needs a yes: {}", self.by)?,
            (Ruling::Refuse, None) => write!(f, "refused: {}", self.by)?,
            (Ruling::Refuse, Some(_)) => {
                write!(f, "refused: it needs a yes and nobody can be asked; {}", self.by)?;
            }
        }
        for reason in &self.also {
            write!(f, "; {reason}")?;
        }
        if self.ruling != Ruling::Allow && !self.allow_with.is_empty() {
            let rules: Vec<String> =
                self.allow_with.iter().map(|rule| format!("`{}`", visible(&rule.to_string()))).collect();
            write!(f, "; to allow it, add {} to `allow`", rules.join(" and "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(rule) => write!(f, "the deny rule {rule} says so"),
            Self::Untrusted(skill) => {
                write!(
                    f,
                    "the skill `{}` is not trusted; look at it and then run `metier trust`",
                    shown(skill)
                )
            }
            Self::Changed(skill) => write!(
                f,
                "what the skill `{}` runs has changed since it was trusted; look at it and then run `metier trust`",
                shown(skill)
            ),
            Self::Disallowed { skill, tool } => {
                write!(f, "`disallowed-tools` of {} names `{}`", whose(skill), visible(tool))
            }
            Self::Fence { skill, tools, piece } => {
                match &*visible(tools) {
                    "" => write!(f, "{} lets no tool be called", whose(skill))?,
                    tools => write!(f, "{} lets only {tools} be called", whose(skill))?,
                }
                match piece {
                    Some(piece) => write!(f, ", not {}", visible(piece)),
                    None => Ok(()),
                }
            }
            Self::Answered(answer) => write!(f, "the answer was \"{}\"", answer.words()),
            Self::Doubt { rule, why } => {
                write!(f, "the deny rule {rule} may be about this: {}", visible(why))
            }
            Self::AskRule(rule) => write!(f, "the ask rule {rule} says so"),
            Self::Allowed(rule) => write!(f, "the rule {rule} allows it"),
            Self::Granted { skill, tool } => {
                write!(f, "`allowed-tools` of the active skill `{}` names `{}`", shown(skill), visible(tool))
            }
            Self::Need(glob) => write!(f, "the call was allowed to write `{}`", visible(&glob.to_string())),
            Self::Mode { mode, what } => write!(f, "in the mode `{mode}` {}", visible(what)),
        }
    }
}

/// Whose list it is: an active skill's, or that of the agent itself.
fn whose(skill: &Skill) -> String {
    if skill.origin == Skill::AGENT {
        format!("the agent `{}`", visible(&skill.name))
    } else {
        format!("the active skill `{}`", shown(skill))
    }
}

fn shown(skill: &Skill) -> String {
    visible(&skill.to_string()).into_owned()
}
