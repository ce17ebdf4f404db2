//! How this program contains what it runs.

use metier_files::{Kind, kind, real_path};
use metier_sandbox::Setup;
use std::path::{Path, PathBuf};

/// Where bubblewrap is looked for. Not on the search path: a program there may be anyone's.
const BUBBLEWRAP: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// The setup of a sandbox whose passing files lie below `scratch`.
pub(crate) fn setup(scratch: &Path) -> Setup {
    let mut setup = Setup::new(real_path(scratch).unwrap_or_else(|_| scratch.to_owned()));
    setup.bubblewrap = BUBBLEWRAP.iter().map(PathBuf::from).find(|path| kind(path) == Kind::File);
    setup
}
