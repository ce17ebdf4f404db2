//! L10: Folders metier makes are private under any umask.
