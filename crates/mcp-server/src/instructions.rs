//! The server's instructions: the catalogue, for hosts that hide tools until they are needed.

use metier_catalog::Tokens;
use metier_diagnostic::counted;

use super::served_catalog::CatalogView;

/// The most tokens of catalogue in the instructions. A host puts the instructions of all its servers into every conversation and
/// cannot ask for less.
const MAX_CATALOGUE_TOKENS: Tokens = Tokens(2_000);

/// The instructions for a snapshot.
pub(crate) fn instructions(view: &CatalogView, only: Option<&str>) -> String {
    let mut text = String::from(
        "This server provides skills: instructions, files and scripts for specific kinds of work. `skill_use` returns the instructions \
         of a skill, `skill_read_file` one of its files, `skill_run_script` runs one of its scripts in a sandbox, `skill_search` finds \
         a skill by what it does.\n",
    );
    let mut options = view.snapshot.catalogue_options(None);
    options.budget = options.budget.min(MAX_CATALOGUE_TOKENS);
    let is_served = |id| view.offered.iter().any(|(_, known)| *known == id);
    let catalogue = match only {
        Some(_) => view.snapshot.catalogue_among(&options, is_served),
        None => view.snapshot.catalogue(&options),
    };
    if !catalogue.text.is_empty() {
        text.push('\n');
        text.push_str(&catalogue.text);
    }
    if view.untrusted > 0 {
        text.push_str(&format!(
            "\n{} not offered because the user has not trusted this project. The user can review and trust it with `metier trust`.\n",
            counted(view.untrusted, "skill is", "skills are")
        ));
    }
    text
}
