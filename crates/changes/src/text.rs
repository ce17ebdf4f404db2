//! The text of a file before and after a change, for a diff.

use std::io::{self, Read};

use rustix::fs::OFlags;

use crate::beneath::Tree;
use crate::change::{Change, EntryKind};
use crate::error::LayerError;
use crate::layer::Layer;
use crate::lower::{Lower, LowerSide};
use crate::stamp::Stamp;

/// The largest file of which a text is given: a person reads no diff of more.
pub const MAX_DIFF_BYTES: u64 = 1 << 20;

/// A file before and after a change; empty where there was or is none. A renderer makes the diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// As it was.
    pub before: String,
    /// As it is in the layer.
    pub after: String,
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoTextError {
    /// It is a folder or a link.
    #[error("it is not a file")]
    NotAFile,
    /// It holds bytes that are not UTF-8, or NUL.
    #[error("it is a binary file")]
    Binary,
    /// It is too large.
    #[error("it has {0} bytes, and a diff is shown up to {MAX_DIFF_BYTES}")]
    TooLarge(u64),
    /// It was applied or changed since the scan.
    #[error("it has changed since the call")]
    Changed,
    /// The layer cannot be read.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

/// Reads both texts of a change, applied or not. What applying has deleted, or copied from another file system, has no text.
pub fn text_of(layer: &Layer, change: &Change) -> Result<TextChange, NoTextError> {
    let upper = Tree::open(&layer.upper())?;
    let record = layer.record();
    let session = record.session.as_deref().map(|path| (path, record.marks));
    let lower = Lower::open(layer.project(), session)?;
    let side = if change.in_session { LowerSide::Session } else { LowerSide::Project };
    // Applying exchanges the two, so each is looked for in both places; its identity tells.
    let text = |trees: [&Tree; 2], stamp: Option<Stamp>| match stamp {
        None => Ok(String::new()),
        Some(stamp) => match read(trees[0], change, &stamp) {
            Err(NoTextError::Changed) => read(trees[1], change, &stamp),
            read => read,
        },
    };
    let lower = lower.tree(side);
    Ok(TextChange {
        before: text([lower, &upper], change.before)?,
        after: text([&upper, lower], change.after)?,
    })
}

fn read(tree: &Tree, change: &Change, stamp: &Stamp) -> Result<String, NoTextError> {
    if stamp.kind != Some(EntryKind::File) {
        return Err(NoTextError::NotAFile);
    }
    if stamp.size > MAX_DIFF_BYTES {
        return Err(NoTextError::TooLarge(stamp.size));
    }
    let bytes = || -> io::Result<Option<Vec<u8>>> {
        let Some(found) = tree.stat(&change.path)? else { return Ok(None) };
        if !Stamp::of(&found).is_same_file(stamp) || Stamp::of(&found).size != stamp.size {
            return Ok(None);
        }
        let file = tree.open_entry(&change.path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let mut bytes = Vec::new();
        std::fs::File::from(file).take(MAX_DIFF_BYTES).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    };
    let bytes = bytes().map_err(LayerError::io("read", tree.path_of(Some(&change.path))))?;
    let text = String::from_utf8(bytes.ok_or(NoTextError::Changed)?).map_err(|_| NoTextError::Binary)?;
    if text.contains('\0') { Err(NoTextError::Binary) } else { Ok(text) }
}
