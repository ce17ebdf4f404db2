//! What is to be started.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A program with its arguments: an argv, never a text for a shell to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program's file, absolute: looking it up in a search path is the caller's decision.
    pub program: PathBuf,
    /// What it is told, without the program's own name.
    pub arguments: Vec<OsString>,
    /// What it can read from its standard input, then the end; `None` is the end of the file at once.
    pub stdin: Option<Vec<u8>>,
    /// The private layers that the call writes to. One for the project's folder where the profile shows it layered
    /// ([`ProjectAccess::Layered`](crate::ProjectAccess::Layered)), and no other.
    pub layers: Vec<LayerMount>,
}

/// A private layer on a folder: what the call writes there goes to `upper`. Once there is a report, nothing is mounted
/// any more, and the layer can be looked through and removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerMount {
    /// The folder that is shown through the layer, at its own path.
    #[serde(with = "crate::wire::path")]
    pub at: PathBuf,
    /// Further read-only layers above the folder, the topmost first (a session's ignored files).
    #[serde(with = "crate::wire::paths")]
    pub above: Vec<PathBuf>,
    /// Where writes go; empty, on a file system that can be an upper layer.
    #[serde(with = "crate::wire::path")]
    pub upper: PathBuf,
    /// The overlay's working folder, beside `upper` in the same folder; empty, too.
    #[serde(with = "crate::wire::path")]
    pub work: PathBuf,
}

impl Command {
    /// A program without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), stdin: None, layers: Vec::new() }
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

    /// The same with a private layer.
    #[must_use]
    pub fn layer(mut self, layer: LayerMount) -> Self {
        self.layers.push(layer);
        self
    }

    /// The same with something to read.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }
}
