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
}

impl Budget {
    pub(super) fn for_values() -> Self {
        Self { left: VALUES }
    }

    pub(super) fn for_salvage() -> Self {
        Self { left: SALVAGE }
    }

    /// Pays for the copy of some lines.
    pub(super) fn pay_for_lines(&mut self, lines: usize) {
        self.left = self.left.saturating_sub(PER_LINE * lines);
    }

    /// Parses, or answers `None` when nothing is left to pay for it.
    pub(super) fn parse<'t>(&mut self, text: &'t str) -> Option<Result<Option<Node<'t>>, YamlError>> {
        self.left = self.left.checked_sub(text.len() + PER_ATTEMPT)?;
        let (result, nodes) = yaml::parse_counting(text, 0);
        self.left = self.left.saturating_sub(PER_NODE * nodes);
        Some(result)
    }
}
