//! L1: Deny rules see through wrappers.
