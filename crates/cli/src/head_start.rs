//! What is begun before the command line is understood: making a process in namespaces of its own takes as long as
//! everything that has to be known before something can run in it, and a process is cheapest to copy while it has touched
//! next to nothing.

use crate::args::command_word;
use crate::environment;
use crate::sandbox_setup::setup;
use metier_sandbox::{Expecting, Sandbox};
use std::ffi::OsString;

/// The command that runs one thing for certain.
const RUNS_ONE: &str = "exec";

/// A sandbox that gets ready for one call, where one is to be expected.
#[derive(Debug, Default)]
pub(crate) struct HeadStart(Option<Sandbox>);

impl HeadStart {
    /// Begins, if these arguments (without the program's own name) are about running something. What was begun for nothing
    /// ends when this is dropped.
    pub(crate) fn take(arguments: impl Iterator<Item = OsString>) -> Self {
        let is_about_running = command_word(arguments).is_some_and(|word| word == RUNS_ONE);
        Self(is_about_running.then(ready))
    }

    /// The sandbox for one call.
    pub(crate) fn sandbox(self) -> Sandbox {
        self.0.unwrap_or_else(ready)
    }
}

fn ready() -> Sandbox {
    let mut setup = setup(&environment::temp());
    setup.expecting = Expecting::One;
    let sandbox = Sandbox::new(setup);
    // Before the first thread of ours.
    sandbox.get_ready();
    sandbox
}
