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

    /// Whether this mode lets nothing pass that the other would not. `strict` and `allow` differ in both directions: the
    /// one asks about what a rule allows, the other refuses what no rule names.
    pub const fn narrows(self, other: Self) -> bool {
        match (self, other) {
            (Self::Plan, _) | (Self::Strict | Self::Allow | Self::Ask, Self::Yolo) | (Self::Strict | Self::Allow, Self::Ask) => true,
            (own, other) => own as u8 == other as u8,
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
    fn plan_narrows_all_and_yolo_none_but_itself() {
        for mode in Mode::ALL {
            assert!(Mode::Plan.narrows(mode) && mode.narrows(mode));
            assert_eq!(Mode::Yolo.narrows(mode), mode == Mode::Yolo);
        }
        assert!(!Mode::Allow.narrows(Mode::Strict) && !Mode::Strict.narrows(Mode::Allow));
    }
}
