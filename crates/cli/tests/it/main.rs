//! Runs of the real binary: few, and each shows what a user would see.

#![expect(clippy::disallowed_methods, reason = "tests look at what the program wrote")]

mod binary;
mod catalog;
mod conformance;
mod doctor;
mod explain;
mod hostile;
mod list;
mod new;
mod reference;
mod show;
mod toggle;
mod trust;
mod usage;
