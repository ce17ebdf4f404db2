//! Whether a rule means a command, and the reasons for a doubt.

/// What a rule that narrows has to do with a part of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Nothing.
    No,
    /// That cannot be said, and why.
    Unsure(String),
    /// It is about this.
    Yes,
}

impl Touch {
    /// This, or the other where this is `No`. `Yes` counts more than a doubt, and the first doubt is kept.
    pub(super) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No => other(),
            unsure @ Self::Unsure(_) => match other() {
                Self::Yes => Self::Yes,
                _ => unsure,
            },
        }
    }
}

/// What several looks come to.
pub(super) fn worst(touches: impl Iterator<Item = Touch>) -> Touch {
    let mut found = Touch::No;
    for touch in touches {
        found = found.or_else(|| touch);
        if found == Touch::Yes {
            break;
        }
    }
    found
}

/// Drops a doubt: for a reading that is only one of several.
pub(super) fn sure(touch: Touch) -> Touch {
    if touch == Touch::Yes { touch } else { Touch::No }
}

pub(super) fn unread() -> Touch {
    Touch::Unsure("it gives a shell a text that cannot be read".to_owned())
}

pub(super) fn elsewhere() -> Touch {
    Touch::Unsure("it runs what comes in from elsewhere".to_owned())
}

pub(super) fn glob() -> Touch {
    Touch::Unsure("a word of it is filled in later and may become a word of the rule".to_owned())
}

pub(super) fn too_deep() -> Touch {
    Touch::Unsure("too many commands are inside each other".to_owned())
}

pub(super) fn not_described(name: &str, option: &str) -> Touch {
    Touch::Unsure(format!("the option `{option}` of `{name}` is not known, so it may run anything"))
}
