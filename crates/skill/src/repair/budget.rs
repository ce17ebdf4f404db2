//! What the repair of one file may cost. Every attempt to parse goes through here.

use crate::yaml::{self, Node, YamlError};

/// For finding out which rewrite of which line helps. A step is a byte, which takes the parser 5 to 25 nanoseconds, so
/// the worst file costs some ten milliseconds. An honest one has a kilobyte and needs a few attempts for each line that
/// is broken; this pays for two hundred.
const VALUES: usize = 512 * 1024;
/// For reading the keys one by one afterwards, whatever the values have cost.
const SALVAGE: usize = 128 * 1024;
/// What an attempt costs whatever its size: lines are copied, a parser is made.
const PER_ATTEMPT: usize = 1024;
/// What the rewrite of a line costs: it is taken apart, quoted and kept.
const PER_LINE: usize = 64;
/// What a value costs beside its bytes: it is allocated, named and dropped again.
const PER_NODE: usize = 32;

/// Steps that are left.
pub(super) struct Budget {
    left: usize,
    /// How often something was parsed.
    #[cfg(test)]
    pub(super) attempts: usize,
    /// How many bytes were parsed.
    #[cfg(test)]
    pub(super) bytes: usize,
}

impl Budget {
    pub(super) fn for_values() -> Self {
        Self::of(VALUES)
    }

    pub(super) fn for_salvage() -> Self {
        Self::of(SALVAGE)
    }

    fn of(left: usize) -> Self {
        Self {
            left,
            #[cfg(test)]
            attempts: 0,
            #[cfg(test)]
            bytes: 0,
        }
    }

    /// Pays for the copy of some lines.
    pub(super) fn pay_for_lines(&mut self, lines: usize) {
        self.left = self.left.saturating_sub(PER_LINE * lines);
    }

    /// Parses, or answers `None` when nothing is left to pay for it.
    pub(super) fn parse<'t>(&mut self, text: &'t str) -> Option<Result<Option<Node<'t>>, YamlError>> {
        self.left = self.left.checked_sub(text.len() + PER_ATTEMPT)?;
        #[cfg(test)]
        {
            self.attempts += 1;
            self.bytes += text.len();
        }
        let (result, nodes) = yaml::parse_counting(text, 0);
        self.left = self.left.saturating_sub(PER_NODE * nodes);
        Some(result)
    }
}
