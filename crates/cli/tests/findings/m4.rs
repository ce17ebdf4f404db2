//! M4: Anything that can be loaded as code counts as code.
