//! YAML as far as frontmatter needs it: a small tree with byte spans, two ways to build it, fixed limits.
//!
//! [`parse`] tries the strict fast path for plain frontmatter (`plain`), which declines whatever it is not sure of,
//! and then the full parser (`events`). Both give the same tree for the same text; a fuzz target and a property test
//! hold them to that. Text is never re-typed here: a scalar is its text and its style, and what it means is decided
//! by the key it stands under.

mod events;
mod feature;
mod plain;
mod schema;
#[cfg(test)]
mod tests;
mod tree;

pub use events::{YamlError, YamlErrorKind};
pub(crate) use feature::{Feature, first_feature};
pub use tree::{Entry, Kind, Node, Style, Value};

/// The largest frontmatter that is parsed, in bytes. Real ones have 400 bytes at the median and 2,339 at the most in
/// the corpus; 64 KiB leaves room for everything honest.
pub const MAX_BYTES: usize = 64 * 1024;
/// How deep collections may nest. Deeper ones are an attack on whoever walks the tree.
pub const MAX_DEPTH: usize = 16;
/// How many nodes a tree may have, aliases expanded.
pub const MAX_NODES: usize = 2_000;
/// How many aliases may be used. Each copies a subtree, which is what an alias bomb lives on.
pub const MAX_ALIASES: usize = 16;

/// Parses one document. `base` is where `text` begins in its file: all spans are of the file.
pub fn parse(text: &str, base: usize) -> Result<Option<Node<'_>>, YamlError> {
    match plain::parse(text, base) {
        Some(tree) => Ok(Some(tree)),
        None => parse_fully(text, base),
    }
}

/// Parses one document with the full parser only. An empty document is `None`.
pub fn parse_fully(text: &str, base: usize) -> Result<Option<Node<'_>>, YamlError> {
    events::parse(text, base).0
}

/// Parses with the full parser and says how many nodes were met, for those who have to bound their attempts.
pub(crate) fn parse_counting(text: &str, base: usize) -> (Result<Option<Node<'_>>, YamlError>, usize) {
    events::parse(text, base)
}

/// The fast path alone: `None` when it declines. Public so that tests and fuzzing can compare it with [`parse_fully`].
#[doc(hidden)]
pub fn parse_plainly(text: &str, base: usize) -> Option<Node<'_>> {
    plain::parse(text, base)
}
