//! Programs of the probe's own.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Makes a file with this mode from the beginning: changing its mode afterwards may be denied, and an attacker
/// would not need it.
pub(crate) fn make(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

/// Makes a copy of a program.
pub(crate) fn copy(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    make(to, &std::fs::read(from)?, mode)
}
