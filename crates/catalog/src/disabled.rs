//! `.disabled.json`: a JSON list of names beside the skills it disables.

use crate::code;
use metier_diagnostic::Diagnostic;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The file's name, directly in a root.
pub const DISABLED_FILE: &str = ".disabled.json";

/// The largest such file that is read: ten thousand names of the greatest length.
const MAX_DISABLED: u64 = 1024 * 1024;

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DisabledError {
    /// It is no list of names, and overwriting it would lose what somebody meant by it.
    #[error("`{}` is not a JSON list of names ({reason}); it is left as it is", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What to do with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Take it off the list.
    Enable,
    /// Put it on the list.
    Disable,
}

/// The names that a root's file disables.
pub(crate) fn disabled_in(root: &Path, diagnostics: &mut Vec<Diagnostic>) -> BTreeSet<String> {
    let path = root.join(DISABLED_FILE);
    read(&path).unwrap_or_else(|error| {
        let message = format!("no skill is disabled by this file: {error}");
        diagnostics.push(
            Diagnostic::new(&code::DISABLED_FILE_CORRUPT, message)
                .in_file(&path.into())
                .help("write a list of names, such as `[\"deploy\"]`"),
        );
        BTreeSet::new()
    })
}

/// Enables or disables a skill by each of the names it is known by, and says whether that changed anything. Other names
/// on the list stay; the list is written sorted and as a whole.
pub fn switch(root: &Path, names: &[&str], switch: Switch) -> Result<bool, DisabledError> {
    let path = root.join(DISABLED_FILE);
    let mut disabled = read(&path)?;
    let known = names.iter().any(|name| disabled.contains(*name));
    match switch {
        Switch::Enable if known => disabled.retain(|name| !names.contains(&name.as_str())),
        // The first is the name it is called by; one is enough.
        Switch::Disable if !known => disabled.extend(names.first().map(|name| (*name).to_owned())),
        Switch::Enable | Switch::Disable => return Ok(false),
    }
    let failed = |source| DisabledError::Unwritable { path: path.clone(), source };
    let mut bytes = serde_json::to_vec_pretty(&disabled).map_err(|error| failed(error.into()))?;
    bytes.push(b'\n');
    metier_files::write_atomic(&path, &bytes, metier_files::Mode::Shared).map_err(failed)?;
    Ok(true)
}

fn read(path: &Path) -> Result<BTreeSet<String>, DisabledError> {
    let bytes = metier_files::read_bounded(path, MAX_DISABLED)
        .map_err(|source| DisabledError::Unreadable { path: path.to_owned(), source })?;
    let Some(bytes) = bytes else { return Ok(BTreeSet::new()) };
    serde_json::from_slice(&bytes)
        .map_err(|error| DisabledError::Corrupt { path: path.to_owned(), reason: error.to_string() })
}
