//! What holds where no rule and no answer says anything.

use std::fmt;
use std::str::FromStr;

/// How much is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Nothing runs; reads do.
    Plan,
    /// Every run asks.
    Strict,
    /// Only what a rule or a grant names happens, without a question.
    Allow,
    /// What is inside the default containment passes; the rest asks.
    #[default]
    Ask,
    /// Nothing asks. Deny rules, fences and the containment of what runs stay.
    Yolo,
}

impl Mode {
    /// Every mode, from the narrowest.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Strict, Self::Allow, Self::Ask, Self::Yolo];

    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Strict => "strict",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Yolo => "yolo",
        }
    }

    /// Whether this mode lets nothing pass that the other would not. `strict` and `allow` differ in both directions (the
    /// one asks about what a rule allows, the other refuses what no rule names), and `plan` lets pass reads that no rule
    /// names.
    pub const fn narrows(self, other: Self) -> bool {
        match other {
            Self::Yolo => true,
            Self::Ask => !matches!(self, Self::Yolo),
            Self::Strict => matches!(self, Self::Strict | Self::Plan),
            Self::Allow => matches!(self, Self::Allow),
            Self::Plan => matches!(self, Self::Plan),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A text that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no mode; write `ask`, `strict`, `allow`, `plan` or `yolo`", metier_diagnostic::visible(.0))]
pub struct NoMode(pub String);

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        Self::ALL.into_iter().find(|mode| mode.word() == text).ok_or_else(|| NoMode(text.to_owned()))
    }
}

/// Who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Somebody sits at a terminal or another place that shows questions.
    Terminal,
    /// Nobody: what would ask is refused.
    Nobody,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for mode in Mode::ALL {
            assert_eq!(mode.word().parse(), Ok(mode));
        }
        assert_eq!("YOLO".parse::<Mode>(), Err(NoMode("YOLO".to_owned())));
        assert_eq!(Mode::default(), Mode::Ask);
    }

    #[test]
    fn a_mode_narrows_another_when_it_lets_nothing_more_pass() {
        let table = [
            (Mode::Plan, "plan strict ask yolo"),
            (Mode::Strict, "strict ask yolo"),
            (Mode::Allow, "allow ask yolo"),
            (Mode::Ask, "ask yolo"),
            (Mode::Yolo, "yolo"),
        ];
        for (mode, expect) in table {
            let narrowed: Vec<_> =
                Mode::ALL.into_iter().filter(|other| mode.narrows(*other)).map(Mode::word).collect();
            assert_eq!(narrowed.join(" "), expect, "{mode}");
        }
    }
}
