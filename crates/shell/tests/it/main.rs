//! The tests of metier-shell that need only its public face.

mod invariant;
mod tokens;
