//! Why a line was not understood: the piece, its place, and what to write instead.

use super::shown::shown;
use std::fmt;
use std::ops::Range;

/// A line that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// What the piece is.
    pub kind: RefusalKind,
    /// The piece, byte for byte; it may be long or hold control characters. The message shows it cut and escaped.
    pub piece: String,
    /// Where it stands.
    pub span: Range<usize>,
    /// The line it begins on, from 1; more than 1 only after a new line in quotes or in a here-document.
    pub line: usize,
    /// The column it begins in, from 1, in characters.
    pub column: usize,
}

impl Refusal {
    /// The span has to be one of `source`; the piece is what stands there.
    pub(super) fn new(kind: RefusalKind, source: &str, span: Range<usize>) -> Self {
        let before = source.get(..span.start).unwrap_or_default();
        let piece = source.get(span.clone()).unwrap_or_default().to_owned();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { kind, piece, span, line, column }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, remedy) = self.kind.words();
        if !self.piece.is_empty() {
            write!(f, "`{}` ", shown(&self.piece))?;
        }
        match self.line {
            1 => write!(f, "at column {}", self.column)?,
            line => write!(f, "at line {line}, column {}", self.column)?,
        }
        write!(f, " {what}; {remedy}")
    }
}

/// What an offending piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RefusalKind {
    /// There is no command at all.
    Empty,
    /// The line has more than [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES).
    TooLong,
    /// The line has more than [`MAX_COMMANDS`](super::MAX_COMMANDS).
    TooManyCommands,
    /// A new line outside quotes.
    NewLine,
    /// A backslash before a new line.
    LineContinuation,
    /// A carriage return outside quotes.
    CarriageReturn,
    /// NUL anywhere, another control character outside a here-document.
    Control,
    /// A blank other than space and tab, outside quotes.
    Blank,
    /// A character that shows nothing, outside quotes.
    Invisible,
    /// `$name`, `${…}`, `$1`, `$?`, or a `$` alone.
    Variable,
    /// `$(…)` or backticks.
    CommandSubstitution,
    /// `$((…))` or `$[…]`.
    Arithmetic,
    /// `$'…'`.
    EscapeQuote,
    /// `$"…"`.
    LocaleQuote,
    /// `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// A redirection other than those to `/dev/null` and between output and errors.
    Redirection,
    /// `<<<`.
    HereString,
    /// A here-document whose delimiter is not quoted, so that its body is expanded.
    HereDocumentUnquoted,
    /// A here-document whose last line is missing.
    HereDocumentUnterminated,
    /// Something follows a here-document.
    HereDocumentTrailing,
    /// A here-document whose delimiter is not made of letters, digits and `_`.
    HereDocumentDelimiter,
    /// Another source of standard input for a line or a command that has one already.
    SecondInput,
    /// `&`.
    Background,
    /// `|&`.
    PipeBoth,
    /// A subshell, a function, `((`, or a stray parenthesis.
    Parenthesis,
    /// `?(…)`, `*(…)`, `+(…)`, `@(…)`, `!(…)`.
    ExtendedGlob,
    /// A word with which the shell's own grammar begins, such as `if`, `!` or `{`.
    ReservedWord,
    /// `name=value` before a command or alone.
    Assignment,
    /// `#` at the beginning of a word.
    Comment,
    /// `{a,b}`, `{1..3}`, or a brace that is not closed.
    Brace,
    /// A `~` that the shell replaces with a home directory.
    Tilde,
    /// A glob in place of a command's name.
    GlobCommand,
    /// A glob that a file's name could turn into an option.
    GlobOption,
    /// `%…` in place of a command's name.
    Job,
    /// A quote that is not closed.
    UnclosedQuote,
    /// A backslash with nothing behind it.
    UnfinishedEscape,
    /// `&&`, `||`, `;`, `|` or a redirection without a command.
    MissingCommand,
    /// A builtin that runs text or changes what the rest of the line means.
    Builtin,
    /// An argument of a harmless builtin that the shell would assign to or evaluate.
    EvaluatedArgument,
    /// Something other than literal words where only those have a meaning, as in a pattern.
    NotLiteral,
}

impl RefusalKind {
    /// Whether a piece is wrong wherever it stands, so that saying what it would have been part of helps nobody.
    pub(super) fn is_about_characters(self) -> bool {
        matches!(
            self,
            Self::UnclosedQuote
                | Self::UnfinishedEscape
                | Self::LineContinuation
                | Self::CarriageReturn
                | Self::Control
                | Self::Blank
                | Self::Invisible
        )
    }

    /// What the piece is, and what to do instead.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Empty => ("there is no command", "write one"),
            Self::TooLong => (
                "is past the 131,071 bytes that a line may have",
                "put the text into a file and name the file",
            ),
            Self::TooManyCommands => ("is command 1,001 of the line; 1,000 are read", "use several lines"),
            Self::NewLine => ("is a new line outside quotes", "join commands with `&&` or `;`"),
            Self::LineContinuation => ("continues the line", "write the line without the break"),
            Self::CarriageReturn => {
                ("is a carriage return, which the shell takes as part of the word", "remove it")
            }
            Self::Control => ("is a control character", "remove it"),
            Self::Blank => (
                "is a blank that the shell takes as part of the word",
                "write a plain space, or quote it if it is meant",
            ),
            Self::Invisible => ("is a character that shows nothing", "remove it, or quote it if it is meant"),
            Self::Variable => (
                "is expanded by the shell, so its value is not known here",
                "write the value, or use single quotes if the `$` is meant as text",
            ),
            Self::CommandSubstitution => (
                "runs a command inside the line",
                "run that command by itself first, or use single quotes if it is meant as text",
            ),
            Self::Arithmetic => {
                ("is computed by the shell", "write the result, or use single quotes for text")
            }
            Self::EscapeQuote => {
                ("is a quote with escapes", "use '…' or \"…\" with the characters themselves")
            }
            Self::LocaleQuote => ("is a translated quote", "leave the `$` out"),
            Self::ProcessSubstitution => {
                ("runs a command behind a file name", "run that command by itself, or use a pipe")
            }
            Self::Redirection => (
                "is a redirection other than to `/dev/null`, `2>&1` and `>&2`",
                "leave it out and use the output, or pass the file's name to the program",
            ),
            Self::HereString => ("is a here-string", "use a pipe, or a here-document such as `<<'EOF'`"),
            Self::HereDocumentUnquoted => (
                "is a here-document whose delimiter is not quoted, so the shell expands its text",
                "quote the delimiter, as in `<<'EOF'`",
            ),
            Self::HereDocumentUnterminated => (
                "is a here-document without an end",
                "close it with a line that holds the delimiter and nothing else",
            ),
            Self::HereDocumentTrailing => (
                "follows a here-document",
                "end the line with the document, and put commands before it or into another line",
            ),
            Self::HereDocumentDelimiter => {
                ("is a here-document with an odd delimiter", "use letters, digits and `_`, as in `<<'EOF'`")
            }
            Self::SecondInput => ("gives standard input twice", "keep one of the two"),
            Self::Background => ("leaves a command running in the background", "use `;` or `&&`"),
            Self::PipeBoth => ("pipes errors along", "write `2>&1 |`"),
            Self::Parenthesis => (
                "is a subshell, a function or arithmetic",
                "join plain commands with `&&` or `;`, or quote it",
            ),
            Self::ExtendedGlob => {
                ("is an extended glob", "name the files, or quote it if it is meant as text")
            }
            Self::ReservedWord => (
                "begins a piece of the shell's own grammar",
                "write plain commands joined with `&&`, `||`, `;` or `|`, or quote it if it is a program",
            ),
            Self::Assignment => (
                "sets a variable",
                "leave it out, pass it as an option, or quote it if it is a program's name",
            ),
            Self::Comment => ("begins a comment", "leave it out, or quote it if it is meant as text"),
            Self::Brace => ("is a brace that the shell may expand", "write the words out, or quote it"),
            Self::Tilde => {
                ("is replaced with a home directory", "write the path, or quote it if it is meant as text")
            }
            Self::GlobCommand => ("is a glob in place of a command's name", "write the name"),
            Self::GlobOption => (
                "is a glob that a file's name could turn into an option",
                "begin it with a folder, as in `./*`, or quote it if it is meant as text",
            ),
            Self::Job => ("resumes a job instead of running a program", "write the program's path"),
            Self::UnclosedQuote => ("is a quote that is not closed", "close it"),
            Self::UnfinishedEscape => ("is a backslash with nothing behind it", "remove it"),
            Self::MissingCommand => ("lacks a command beside it", "write the command, or leave it out"),
            Self::Builtin => (
                "is a builtin that runs text or changes what the rest of the line means",
                "write the command that is meant, without it",
            ),
            Self::EvaluatedArgument => {
                ("could be evaluated or assigned to by the shell", "leave this argument out")
            }
            Self::NotLiteral => {
                ("is no literal word", "write literal words, with `:*` at the end for any others")
            }
        }
    }
}
