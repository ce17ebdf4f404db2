//! Shell lines, understood to the byte or refused.
//!
//! [`parse`] reads a closed subset of bash: simple commands of literal words, joined by `&&`, `||`, `;` and `|`, with
//! redirections that open nothing but `/dev/null`, and one quoted here-document. For a line of this subset the argv of
//! every command is known before anything runs, so a pattern can be held against it. Everything else is a [`Refusal`]
//! that names the piece and says what to write instead. `docs/command-lines.md` has the grammar.
//!
//! Why an own parser and no grammar of the whole shell: a general parser gives a tree for far more than can be judged,
//! and whoever walks that tree has to know every node that can hide a command. Here nothing can hide, since what is not
//! listed is not accepted. It is also pure and without C, as this crate has to be.
//!
//! What is promised holds for `bash -c LINE`, not interactive, in a locale of UTF-8 or C, and without `BASH_ENV`,
//! `BASHOPTS`, `SHELLOPTS`, `POSIXLY_CORRECT` and exported functions in the environment. Who starts the shell sees to it.

use std::ops::Range;

mod builtin;
mod character;
mod extent;
mod here_document;
mod list;
mod quote;
mod reader;
mod redirection;
mod refusal;
mod shown;
mod word;

pub use here_document::HereDocument;
pub use quote::quote;
pub(crate) use quote::quoted;
pub use redirection::{Redirection, RedirectionKind};
pub use refusal::{Refusal, RefusalKind};

/// A line of more bytes is refused. Linux takes no single argument of 128 KiB or more, its closing NUL included, so a
/// longer line could not be handed to `bash -c` anyway.
pub const MAX_LINE_BYTES: usize = 128 * 1024 - 1;

/// A line of more simple commands is refused. Nobody reads that many before saying yes, and judging a line is bounded
/// by commands times patterns.
pub const MAX_COMMANDS: usize = 1_000;

/// A line that was fully understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The simple commands, in the order in which they are written; at least one.
    pub commands: Vec<Command>,
    /// What stands between them: one fewer than there are commands.
    pub joints: Vec<Joint>,
    /// The line as it was given; all spans are byte ranges of it.
    pub source: String,
}

impl Line {
    /// The only command, where nothing is joined.
    pub fn only(&self) -> Option<&Command> {
        match self.commands.as_slice() {
            [command] => Some(command),
            _ => None,
        }
    }

    /// A command as it is written.
    pub fn text(&self, command: &Command) -> &str {
        self.source.get(command.span.clone()).unwrap_or_default()
    }
}

/// One simple command: what a program would be started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The words, the program's name first; at least one.
    pub words: Vec<Word>,
    /// From its first byte to the last one before what joins it, here-document bodies left out.
    pub span: Range<usize>,
    /// The here-document that feeds it.
    pub stdin: Option<HereDocument>,
    /// Its redirections in the order in which they are written. None of them opens a file other than `/dev/null`.
    pub redirections: Vec<Redirection>,
}

impl Command {
    /// The words after quote removal, as the program gets them where no word is a glob.
    pub fn argv(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is after quote removal.
    pub text: String,
    /// Where it stands, quotes included.
    pub span: Range<usize>,
    /// Whether the shell replaces it with the names of files that fit. It begins with a literal character other than
    /// `-`, so no file's name can become an option.
    pub glob: bool,
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Then,
    /// `|`
    Pipe,
}

impl Joint {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Then => ";",
            Self::Pipe => "|",
        }
    }
}

/// Reads a line, or says which piece of it is not understood.
///
/// ```
/// use metier_policy::shell::{RefusalKind, parse};
///
/// let line = parse("git log --oneline 2>/dev/null | head -n 3")?;
/// assert_eq!(line.commands[0].argv(), ["git", "log", "--oneline"]);
/// assert_eq!(line.commands[1].argv(), ["head", "-n", "3"]);
///
/// let refusal = parse("git log $(id)").unwrap_err();
/// assert_eq!((refusal.kind, refusal.piece.as_str()), (RefusalKind::CommandSubstitution, "$(id)"));
/// # Ok::<(), metier_policy::shell::Refusal>(())
/// ```
pub fn parse(line: &str) -> Result<Line, Refusal> {
    let line = list::read(line)?;
    for command in &line.commands {
        builtin::check(&line.source, command)?;
    }
    Ok(line)
}

/// Reads the words of one command that is nothing but literal words, whatever they would do when run.
pub(crate) fn literal_words(text: &str) -> Result<Vec<String>, Refusal> {
    let line = list::read(text)?;
    let extra = |span: Range<usize>| Refusal::new(RefusalKind::NotLiteral, text, span);
    if let Some(second) = line.commands.get(1) {
        return Err(extra(second.span.clone()));
    }
    let mut words = Vec::new();
    for command in line.commands {
        if let Some(redirection) = command.redirections.first() {
            return Err(extra(redirection.span.clone()));
        }
        if let Some(document) = command.stdin {
            return Err(extra(document.operator));
        }
        for word in command.words {
            if word.glob {
                return Err(extra(word.span));
            }
            words.push(word.text);
        }
    }
    Ok(words)
}
