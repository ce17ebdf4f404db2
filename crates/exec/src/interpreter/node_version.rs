//! Versions of node, and which of them run TypeScript.

use std::fmt;

/// A version of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeVersion {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
}

/// Whether node runs TypeScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeScriptSupport {
    /// It does not.
    None,
    /// With `--experimental-strip-types`.
    Flag,
    /// As it is.
    Plain,
}

impl NodeVersion {
    /// Reads what `node --version` prints, such as `v22.6.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().strip_prefix('v')?.split('.');
        Some(Self { major: numbers.next()?.parse().ok()?, minor: numbers.next()?.parse().ok()? })
    }

    /// Whether this version runs TypeScript: with a flag since 22.6, without one since 22.18 and 23.6.
    pub(crate) fn types(self) -> TypeScriptSupport {
        match (self.major, self.minor) {
            (24.., _) | (23, 6..) | (22, 18..) => TypeScriptSupport::Plain,
            (23, _) | (22, 6..) => TypeScriptSupport::Flag,
            _ => TypeScriptSupport::None,
        }
    }
}

impl fmt::Display for NodeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
