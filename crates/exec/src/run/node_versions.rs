//! The versions of node on this machine.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metier_sandbox::{Command, Limits, Profile, Sandbox};

use super::show;
use crate::interpreter::NodeVersion;
use crate::search_path::Program;

/// How long node may take to say its version. One that takes longer cannot be used.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Which versions the node programs of this machine are. Asking costs a process, so each is asked once.
#[derive(Debug, Default)]
pub struct NodeVersions(Mutex<Vec<(Program, Option<NodeVersion>)>>);

impl NodeVersions {
    /// The version of a node. If it is not known, node is asked in the containment in which it will run.
    pub(super) fn of(&self, sandbox: &Sandbox, profile: &Profile, node: &Program) -> Option<NodeVersion> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, version)) = known.iter().find(|(known, _)| known == node) {
            return *version;
        }
        let version = ask(sandbox, profile.clone(), node);
        known.push((node.clone(), version));
        version
    }
}

fn ask(sandbox: &Sandbox, mut profile: Profile, node: &Program) -> Option<NodeVersion> {
    show(&mut profile, node);
    profile.limits = Limits { time: VERSION_TIMEOUT, ..Limits::default() };
    let report = sandbox.run(&profile, &Command::new(node.file.clone()).argument("--version")).ok()?;
    report.succeeded().then(|| report.stdout.text()).and_then(|text| NodeVersion::parse(&text))
}
