//! Tests of the crate as its users see it, in one binary.

mod case_file;
mod repair;
mod summary;
