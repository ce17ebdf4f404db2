//! The rules, one per file, in the order of the reference page.

mod agent_without_fork;
mod argument_hint_missing;
mod arguments_unused;
mod attracts_everything;
mod bidi_character;
mod body_empty;
mod body_too_long;
mod boolean_in_quotes;
mod catalogue_over_budget;
mod concealment;
mod crowded_pair;
mod dangerous_auto_invocation;
mod dangling_link;
mod description_has_tags;
mod description_near_duplicate;
mod description_person;
mod description_too_short;
mod description_without_trigger;
mod fence_open;
mod file_unreferenced;
mod folder_too_large;
mod forbidden_tool_instructed;
mod hidden_character;
mod hook_event_unknown;
mod host_undeclared;
mod injected_command;
mod interpreter_path;
mod key_spelling;
mod link_outside;
mod metadata_not_text;
mod model_not_a_name;
mod name_confusable;
mod name_homoglyph;
mod name_reserved;
mod name_taken;
mod name_vague;
mod override_instructions;
mod personal_path;
mod placeholder_in_code;
mod reference_too_deep;
mod script_crlf;
mod script_missing;
mod script_not_executable;
mod script_without_interpreter;
mod secret_undeclared;
mod tag_character;
mod template_leftover;
mod tool_misspelled;
mod tools_separators;
mod tools_unrestricted_shell;
mod windows_separator;
mod write_undeclared;

use crate::rule::Rule;
use crate::word::Beginnings;

/// All rules.
pub static ALL: &[&Rule] = &[
    &agent_without_fork::RULE,
    &argument_hint_missing::RULE,
    &arguments_unused::RULE,
    &attracts_everything::RULE,
    &bidi_character::RULE,
    &body_empty::RULE,
    &body_too_long::RULE,
    &boolean_in_quotes::RULE,
    &catalogue_over_budget::RULE,
    &concealment::RULE,
    &crowded_pair::RULE,
    &dangerous_auto_invocation::RULE,
    &dangling_link::RULE,
    &description_has_tags::RULE,
    &description_near_duplicate::RULE,
    &description_person::RULE,
    &description_too_short::RULE,
    &description_without_trigger::RULE,
    &fence_open::RULE,
    &file_unreferenced::RULE,
    &folder_too_large::RULE,
    &forbidden_tool_instructed::RULE,
    &hidden_character::RULE,
    &hook_event_unknown::RULE,
    &host_undeclared::RULE,
    &injected_command::RULE,
    &interpreter_path::RULE,
    &key_spelling::RULE,
    &link_outside::RULE,
    &metadata_not_text::RULE,
    &model_not_a_name::RULE,
    &name_confusable::RULE,
    &name_homoglyph::RULE,
    &name_reserved::RULE,
    &name_taken::RULE,
    &name_vague::RULE,
    &override_instructions::RULE,
    &personal_path::RULE,
    &placeholder_in_code::RULE,
    &reference_too_deep::RULE,
    &script_crlf::RULE,
    &script_missing::RULE,
    &script_not_executable::RULE,
    &script_without_interpreter::RULE,
    &secret_undeclared::RULE,
    &tag_character::RULE,
    &template_leftover::RULE,
    &tool_misspelled::RULE,
    &tools_separators::RULE,
    &tools_unrestricted_shell::RULE,
    &windows_separator::RULE,
    &write_undeclared::RULE,
];

/// How the words begin at which rules about meanings begin to read.
pub(crate) static BEGINNINGS: Beginnings =
    concealment::WORDS.beginnings.or(override_instructions::WORDS.beginnings);

#[cfg(test)]
mod tests {
    use crate::{File, Files, Rule, RunBit, Skill, lint};
    use metier_diagnostic::Diagnostic;
    use std::path::Path;

    /// What one rule says about a body with files beside it, given by their paths.
    pub(super) fn found(body: &str, paths: &[&str], rule: &'static Rule) -> Vec<Diagnostic> {
        let files: Vec<_> = paths.iter().map(|path| file(path, None, RunBit::Clear)).collect();
        found_in(body, &files, rule)
    }

    /// The same with whole files.
    pub(super) fn found_in(body: &str, files: &[File], rule: &'static Rule) -> Vec<Diagnostic> {
        let source = format!("---\nname: x\ndescription: Does x. Use when x is needed.\n---\n{body}");
        let document = metier_skill::parse(source.as_bytes(), Some("x")).document.unwrap();
        let path = Path::new("x/SKILL.md").into();
        let skill = Skill::new(path, Some("x"), &source, &document, Files::Known(files));
        lint(&skill).into_iter().filter(|one| one.code == &rule.code).collect()
    }

    /// Holds the names that a rule finds in one script, in the first ticks of its messages, against what is expected.
    pub(super) fn check_names(rule: &'static Rule, path: &str, text: &str, expect: &[&str]) {
        let found = found_in("x\n", &[file(path, Some(text), RunBit::Set)], rule);
        let names: Vec<_> =
            found.iter().map(|one| one.message.split('`').nth(1).unwrap_or_default()).collect();
        assert_eq!(names, expect, "{text}");
    }

    /// A file of a skill.
    pub(super) fn file(path: &str, text: Option<&str>, run_bit: RunBit) -> File {
        let size = text.map_or(1, str::len) as u64;
        File { path: path.to_owned(), size, run_bit, text: text.map(str::to_owned) }
    }

    /// The messages of findings.
    pub(super) fn messages(found: &[Diagnostic]) -> Vec<&str> {
        found.iter().map(|one| one.message.as_str()).collect()
    }
}
