//! The first line of a program that runs skills.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether [`begin`] was called.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Lets this program be its own helper: call it first thing in `main`, with the program's arguments.
///
/// What a skill runs is contained by a process that is started from this very program. When that is what it was started
/// for, this does not come back; else it does nothing. A program without this line reads and activates skills, and
/// nothing of them runs: started without it, the helper would be the whole program a second time.
pub fn begin(arguments: impl IntoIterator<Item = OsString>) {
    metier_sandbox::helper(arguments);
    BEGUN.store(true, Ordering::Relaxed);
}

/// Whether this program can be its own helper.
pub(super) fn has_begun() -> bool {
    BEGUN.load(Ordering::Relaxed)
}
