/// Whether what was read or listed is all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Nothing is missing.
    Whole,
    /// A bound was reached; there is more, or there may be.
    Truncated,
}

impl Extent {
    /// True when nothing is missing.
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Whole)
    }
}
