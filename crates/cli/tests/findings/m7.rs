//! M7: The limit of a data folder cannot be evaded.
