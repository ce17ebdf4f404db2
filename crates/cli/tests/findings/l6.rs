//! L6: Files that only a supplementary group may read stay hidden.
