//! What a skill is: a SKILL.md split into frontmatter and body, parsed, repaired where it is broken, typed, and edited
//! without touching anything else.
//!
//! [`parse()`] takes the bytes of a file and gives a [`Parsed`]: a [`Document`] with its [`Manifest`], unless the file
//! was refused, and the diagnostics. [`summarize`] does the same for a listing with the first bytes of a file
//! and says when they are not enough, and [`parse_whole`] judges the body's bytes, too. [`set_text`] gives the edits
//! that change one key. [`yaml`] is the tree below all of this, [`profile`] says what other clients make of the same
//! file, and [`code`] has every code that can be reported.
//!
//! What this crate is not: it finds no skills, reads no file, knows no other skill, and decides nothing about trust,
//! tools or prompts. It says what one file says.
//!
//! What holds for every input:
//!
//! - **Parsing never fails.** A broken file gives what a person would read there, with a warning for each repair; a
//!   file that gives no skill says why, with an error from [`code::REFUSALS`]. No input panics.
//! - **Every diagnostic has a place**, and where a repair was made, the edits that make it in the file. They are in the
//!   order of the file, and there are only so many of them.
//! - **Spans are bytes of the text.** Where the bytes are not UTF-8, the text is what [`String::from_utf8_lossy`] makes
//!   of them; for every other file they are the same.
//! - **Text is never re-typed.** `version: 1.10` is `1.10`. What a scalar means is decided by the key it stands under,
//!   and keys that nobody knows are kept as they are.
//! - **Two parsers, one tree.** Plain frontmatter is read by a fast path that declines whatever it is not sure of; the
//!   full parser takes the rest. Where both answer, they answer the same.
//! - **The work is bounded** for every input: limits on size, depth, nodes and aliases, and a budget for repairs.
//! - **No files, no threads, no clock**: the same bytes give the same answer.
//!
//! ```
//! use metier_skill::parse;
//!
//! let file = "---\nname: pdf\ndescription: Use when: PDFs come up\nversion: 1.10\n---\n# PDF\n";
//! let parsed = parse(file.as_bytes(), Some("pdf"));
//!
//! let document = parsed.document.expect("a colon is no reason to refuse a skill");
//! assert_eq!(document.manifest.name.as_str(), "pdf");
//! assert_eq!(document.manifest.description.text(), "Use when: PDFs come up");
//! assert_eq!(document.manifest.version.map(|version| version.value).as_deref(), Some("1.10"));
//! assert_eq!(&file[document.body as usize..], "# PDF\n");
//!
//! // The unquoted colon was repaired, and the repair is offered as edits of the file.
//! let found = &parsed.diagnostics[0];
//! assert_eq!((found.code.name(), found.line(), found.column()), ("unquoted-colon", Some(3), Some(14)));
//! let fix = found.fix.as_ref().expect("a repair offers its fix");
//! let mended = metier_diagnostic::apply(file, &fix.edits);
//! assert!(mended.contains("description: 'Use when: PDFs come up'"));
//! ```

pub mod code;
mod document;
mod edit;
mod findings;
mod head;
mod injection;
mod line;
mod manifest;
mod name;
mod operation;
mod paragraph;
mod parse;
pub mod profile;
mod repair;
mod ruler;
mod split;
mod tool;
mod tools;
pub mod yaml;

pub use document::{Document, Parsed};
pub use edit::{EditError, scalar, set_text};
pub use head::{Head, head};
pub use injection::{InjectedCommand, injected_commands};
pub use manifest::{
    Argument, Context, Description, KeyType, KeyValue, MAX_COMPATIBILITY, MAX_DESCRIPTION, Manifest,
    ManifestKey, More, Needs, Requires, Spanned, UserOnly,
};
pub use name::{MAX_NAME, NameRefusal, Naming, SkillName, is_canonical, judge, slug};
pub use operation::{Operation, Phrase, Piece, Presence, Slot, SlotMark, Template, TemplateWord, operation};
pub use parse::{Portion, parse, parse_whole, summarize, without_controls};
#[doc(hidden)]
pub use split::split;
pub use tool::{CLAUDE_CODE_TOOLS, Tool};
pub use tools::{ToolPattern, Unbalanced, tokenize};
