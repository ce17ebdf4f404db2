//! Runs of the real binary: few, and each shows what a user would see.

mod binary;
mod conformance;
