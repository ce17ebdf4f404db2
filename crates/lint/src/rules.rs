//! The rules, one per file, in the order of the reference page.

mod body_empty;
mod body_too_long;
mod dangling_link;

use crate::rule::Rule;

/// All rules.
pub static ALL: &[&Rule] = &[&body_empty::RULE, &body_too_long::RULE, &dangling_link::RULE];
