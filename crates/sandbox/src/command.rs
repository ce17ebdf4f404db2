//! What is to be started.

use std::ffi::OsString;
use std::path::PathBuf;

/// A program with its arguments: an argv, never a text for a shell to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program's file, absolute: looking it up in a search path is the caller's decision.
    pub program: PathBuf,
    /// What it is told, without the program's own name.
    pub arguments: Vec<OsString>,
    /// What it can read from its standard input.
    pub stdin: Input,
}

/// What a process reads from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing: the end of the file at once.
    #[default]
    Nothing,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

impl Command {
    /// A program without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), stdin: Input::Nothing }
    }

    /// The same with one argument more.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The same with more arguments.
    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The same with something to read.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Input::Bytes(bytes.into());
        self
    }
}
