//! Is it a good skill? Rules about a SKILL.md, the files beside it and the skills next to it.
//!
//! [`lint`] judges one [`Skill`], [`lint_root`] what several have to do with each other. Each [`Rule`] is a file below
//! `rules` with the function that looks, and a page beside it with its reasons and an example of each side; the reference page
//! and the tests are made from that. What is wrong with the frontmatter itself is said by `metier_skill` when it parses.
//!
//! What this crate is not: it reads no files and finds no skills (whoever calls it passes in what lies in the folder),
//! it changes nothing ([`mend()`] gives the text that the offered edits make), and it knows no client (those are `metier_skill`'s profiles).
//!
//! ```
//! use metier_lint::{Files, Skill, lint};
//!
//! let file = "---\nname: pdf\ndescription: Reads PDFs. Use when a PDF comes up.\n---\nSee [the forms](FORMS.md).\n";
//! let document = metier_skill::parse(file.as_bytes(), Some("pdf")).document.expect("it loads");
//! let skill = Skill::new(std::path::Path::new("pdf/SKILL.md").into(), Some("pdf"), file, &document, Files::Known(&[]));
//!
//! let found = lint(&skill);
//! assert_eq!(found[0].code.name(), "dangling-link");
//! assert_eq!((found[0].line(), found[0].column()), (Some(5), Some(5)));
//! ```

mod address;
mod claim;
mod command;
mod file;
mod findings;
mod hidden;
mod levels;
mod markdown;
mod mend;
mod needs;
mod phrase;
pub mod reference;
mod resemblance;
mod root;
mod rule;
pub mod rules;
mod script;
mod skill;
mod spelling;
mod tool;
mod usage;
mod word;

pub use file::{File, Files, RunBit};
pub use findings::Findings;
pub use hidden::{Hidden, HiddenKind};
pub use levels::{BadGlob, Level, Levels};
pub use markdown::{CodeBlock, Link, Markdown};
pub use mend::{Mended, mend};
pub use root::Root;
pub use rule::{Check, Rule};
pub use skill::Skill;

use metier_diagnostic::Diagnostic;

/// What the rules say about one skill, in the order of the file.
pub fn lint(skill: &Skill<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for rule in rules::ALL {
        if let Check::Skill(check) | Check::Fixing(check) = rule.check {
            check(skill, &mut Findings::new(rule, &mut found));
        }
    }
    // By place; what has none is about the skill as a whole and comes first. Rules of one place stay in their order.
    found.sort_by_key(|one| one.place.map(|place| place.span.start));
    found
}

/// What the rules say about the skills of a root together.
pub fn lint_root(skills: &[Skill<'_>]) -> Vec<Diagnostic> {
    let root = Root::new(skills);
    rules::ALL.iter().flat_map(|rule| rule.judge_root(&root)).collect()
}
