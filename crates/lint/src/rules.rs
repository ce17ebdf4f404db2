//! The rules, one per file, in the order of the reference page.

mod bidi_character;
mod body_empty;
mod body_too_long;
mod concealment;
mod dangling_link;
mod fence_open;
mod file_unreferenced;
mod folder_too_large;
mod hidden_character;
mod interpreter_path;
mod link_outside;
mod override_instructions;
mod personal_path;
mod placeholder_in_code;
mod reference_too_deep;
mod script_crlf;
mod script_missing;
mod script_not_executable;
mod script_without_interpreter;
mod tag_character;
mod template_leftover;
mod windows_separator;

use crate::rule::Rule;

/// All rules.
pub static ALL: &[&Rule] = &[
    &bidi_character::RULE,
    &body_empty::RULE,
    &body_too_long::RULE,
    &concealment::RULE,
    &dangling_link::RULE,
    &fence_open::RULE,
    &file_unreferenced::RULE,
    &folder_too_large::RULE,
    &hidden_character::RULE,
    &interpreter_path::RULE,
    &link_outside::RULE,
    &override_instructions::RULE,
    &personal_path::RULE,
    &placeholder_in_code::RULE,
    &reference_too_deep::RULE,
    &script_crlf::RULE,
    &script_missing::RULE,
    &script_not_executable::RULE,
    &script_without_interpreter::RULE,
    &tag_character::RULE,
    &template_leftover::RULE,
    &windows_separator::RULE,
];

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
