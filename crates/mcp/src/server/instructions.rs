//! What a server says of itself: the catalogue, for hosts that hide tools until they are asked for.

use metier_catalog::Tokens;
use metier_diagnostic::counted;

use super::shelf::Row;

/// The most tokens that the catalogue takes here. A host puts the instructions of all its servers before every conversation, and
/// has no way to ask for less.
const BUDGET: Tokens = Tokens(2_000);

/// The instructions.
pub(super) fn instructions(row: &Row, only: Option<&str>) -> String {
    let mut text = String::from(
        "This server has skills: instructions, files and scripts for kinds of work. `skill_use` gives the instructions of one, \
         `skill_read_file` a file of it, `skill_run_script` runs one of its scripts, contained; `skill_search` finds a skill by what \
         it does.\n",
    );
    let mut options = row.snapshot.catalogue_options(None);
    options.budget = options.budget.min(BUDGET);
    let is_served = |id| row.offered.iter().any(|(_, known)| *known == id);
    let catalogue = match only {
        Some(_) => row.snapshot.catalogue_among(&options, is_served),
        None => row.snapshot.catalogue(&options),
    };
    if !catalogue.text.is_empty() {
        text.push('\n');
        text.push_str(&catalogue.text);
    }
    if row.untrusted > 0 {
        text.push_str(&format!(
            "\n{} not offered, since the user has not trusted this project. The user can look at it and run `metier trust`.\n",
            counted(row.untrusted, "skill is", "skills are")
        ));
    }
    text
}
