//! The rules, one per file, in the order of the reference page.

mod agent_without_fork;
mod argument_hint_missing;
mod arguments_unused;
mod body_empty;
mod body_too_long;
mod boolean_in_quotes;
mod catalogue_over_budget;
mod dangerous_auto_invocation;
mod dangling_link;
mod description_has_tags;
mod description_near_duplicate;
mod description_person;
mod description_too_short;
mod description_without_trigger;
mod forbidden_tool_instructed;
mod hook_event_unknown;
mod injected_command;
mod key_spelling;
mod metadata_not_text;
mod model_not_a_name;
mod name_confusable;
mod name_homoglyph;
mod name_reserved;
mod name_taken;
mod name_vague;
mod tool_misspelled;
mod tools_separators;
mod tools_unrestricted_shell;

use crate::rule::Rule;

/// All rules.
pub static ALL: &[&Rule] = &[
    &agent_without_fork::RULE,
    &argument_hint_missing::RULE,
    &arguments_unused::RULE,
    &body_empty::RULE,
    &body_too_long::RULE,
    &boolean_in_quotes::RULE,
    &catalogue_over_budget::RULE,
    &dangerous_auto_invocation::RULE,
    &dangling_link::RULE,
    &description_has_tags::RULE,
    &description_near_duplicate::RULE,
    &description_person::RULE,
    &description_too_short::RULE,
    &description_without_trigger::RULE,
    &forbidden_tool_instructed::RULE,
    &hook_event_unknown::RULE,
    &injected_command::RULE,
    &key_spelling::RULE,
    &metadata_not_text::RULE,
    &model_not_a_name::RULE,
    &name_confusable::RULE,
    &name_homoglyph::RULE,
    &name_reserved::RULE,
    &name_taken::RULE,
    &name_vague::RULE,
    &tool_misspelled::RULE,
    &tools_separators::RULE,
    &tools_unrestricted_shell::RULE,
];
