//! Injected commands: `` !`command` `` and blocks opened with ```` ```! ````, whose output stands in their place.
//!
//! A command's text is its author's. A value in it is whoever's who called, so it never becomes a part of that text: a
//! token in a command is rewritten into a shell variable that holds the value, quoted so that it stays the words it is.
//!
//! | where the token stands | `$ARGUMENTS` | any other token |
//! |---|---|---|
//! | outside quotes | the arguments as separate words, each literal | one word |
//! | outside quotes, in an assignment, behind `<` or `>`, behind `case` or in `[[ … ]]` | one word, the argument text | one word |
//! | in double quotes | a part of that word | a part of that word |
//! | in single quotes, in `$'…'` | stays, with a diagnostic | the same |
//! | in a comment, behind a backslash | stays | stays |
//!
//! A command that has a value is refused where the shell would read the value as a program: see [`UnsafeCommand`]. Such a
//! command, one of an untrusted skill, and one that the gate does not allow stay in the text as they are.
//!
//! The gate judges the line with the values in their places, each quoted; the shell runs the line with variables. Both
//! are the same words.

mod evaluate;
mod hazard;
mod shell;

pub(crate) use evaluate::{Evaluated, InjectionContext, evaluate, objections, questions};
pub use hazard::UnsafeCommand;
pub use shell::ShellLine;
pub(crate) use shell::read;

use std::time::Duration;

use metier_catalog::{CommandsStart, Root};
use metier_exec::StartDir;

/// How long one command may take. Somebody waits for the text.
pub(crate) const COMMAND_TIME: Duration = Duration::from_secs(10);

/// How much of a command's output is put into the text, in bytes: about 16,000 tokens, the size of a page of a file.
pub const COMMAND_OUTPUT: usize = 64 * 1024;

/// How many commands of one body are run. The largest public skill has a dozen; each may take `COMMAND_TIME`.
pub const MAX_COMMANDS: usize = 32;

/// Where the injected commands of a root's skills start. Without a project it is the skill's folder.
pub fn injection_start(root: &Root) -> StartDir<'static> {
    match root.commands {
        CommandsStart::Project => StartDir::Project,
        CommandsStart::Skill => StartDir::Skill,
    }
}
