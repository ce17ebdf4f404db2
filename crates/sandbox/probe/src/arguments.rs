//! What the test tells a probe.

use std::path::PathBuf;

use crate::answer::{Stop, held};

/// The text that every canary file, variable and message holds. Split, so that the program's own file does not.
pub(crate) fn canary() -> String {
    ["metier", "canary", "5f2c"].join("-")
}

/// Pairs of `--key value`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self { words }
    }

    /// All of them, to hand on to another process.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.words.iter().any(|word| word.strip_prefix("--") == Some(key))
    }

    pub(crate) fn text(&self, key: &str) -> Result<&str, Stop> {
        self.words
            .windows(2)
            .find(|pair| pair[0].strip_prefix("--") == Some(key))
            .map(|pair| pair[1].as_str())
            .ok_or_else(|| Stop::CannotSay(format!("`--{key}` was not given")))
    }

    pub(crate) fn path(&self, key: &str) -> Result<PathBuf, Stop> {
        self.text(key).map(PathBuf::from)
    }

    pub(crate) fn number(&self, key: &str) -> Result<u64, Stop> {
        self.text(key)?.parse().map_err(|_| Stop::CannotSay(format!("`--{key}` is no number")))
    }

    /// A process outside, as the call takes it.
    pub(crate) fn victim(&self) -> Result<usize, Stop> {
        self.number("victim").map(|pid| pid as usize)
    }

    /// A port on the loopback device.
    pub(crate) fn port(&self, key: &str) -> Result<u16, Stop> {
        self.number(key).map(|port| port as u16)
    }

    /// The folder for temporary files.
    pub(crate) fn scratch() -> PathBuf {
        std::env::temp_dir()
    }
}

/// Whether these bytes hold the canary.
pub(crate) fn sings(bytes: &[u8]) -> bool {
    let canary = canary();
    bytes.windows(canary.len()).any(|window| window == canary.as_bytes())
}

/// Reads a canary: only its text counts, so that an empty file laid over it does not.
pub(crate) fn read_canary(path: impl Into<PathBuf>) -> crate::answer::Answer {
    let path = path.into();
    let bytes = std::fs::read(&path).map_err(|error| Stop::Held(format!("{}: {error}", path.display())))?;
    if sings(&bytes) {
        Ok(format!("read {}", path.display()))
    } else {
        held(format!("{} has {} bytes and no canary", path.display(), bytes.len()))
    }
}
