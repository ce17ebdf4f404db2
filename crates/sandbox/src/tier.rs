//! By which means a process is contained.

use std::fmt;

use serde::{Deserialize, Serialize};

/// By which means a process is contained, strongest first: the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// Namespaces of our own, then Landlock and the system call filter.
    Namespaces,
    /// Namespaces made by bubblewrap, where the system lets only that program make them; then Landlock and the filter.
    Bubblewrap,
    /// Landlock and the filter alone. Nothing can be masked, so the project and `/proc` are not shown at all.
    Landlock,
}

impl Tier {
    /// The tiers that a system may have, in the order in which they are tried.
    pub const ALL: &[Self] = &[Self::Namespaces, Self::Bubblewrap, Self::Landlock];

    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
