//! The rules, one per file, in the order of the reference page.

mod bidi_character;
mod body_empty;
mod body_too_long;
mod concealment;
mod dangling_link;
mod fence_open;
mod hidden_character;
mod override_instructions;
mod personal_path;
mod placeholder_in_code;
mod tag_character;
mod template_leftover;

use crate::rule::Rule;

/// All rules.
pub static ALL: &[&Rule] = &[
    &bidi_character::RULE,
    &body_empty::RULE,
    &body_too_long::RULE,
    &concealment::RULE,
    &dangling_link::RULE,
    &fence_open::RULE,
    &hidden_character::RULE,
    &override_instructions::RULE,
    &personal_path::RULE,
    &placeholder_in_code::RULE,
    &tag_character::RULE,
    &template_leftover::RULE,
];
