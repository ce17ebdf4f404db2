//! H7: `exec --out` writes to no protected place and over nobody's file.
