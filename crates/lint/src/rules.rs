//! The rules, one per file, in the order of the reference page.

mod bidi_character;
mod body_empty;
mod body_too_long;
mod concealment;
mod dangling_link;
mod hidden_character;
mod override_instructions;
mod tag_character;

use crate::rule::Rule;

/// All rules.
pub static ALL: &[&Rule] = &[
    &bidi_character::RULE,
    &body_empty::RULE,
    &body_too_long::RULE,
    &concealment::RULE,
    &dangling_link::RULE,
    &hidden_character::RULE,
    &override_instructions::RULE,
    &tag_character::RULE,
];
