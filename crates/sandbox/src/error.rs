//! Why a process was not run.

use std::io;
use std::path::PathBuf;

use crate::tier::Tier;

/// Why a process was not run, or is not known to have run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program could not be started; the containment was fine.
    #[error("{program} could not be started: {reason}")]
    Program {
        /// The program's file.
        program: PathBuf,
        /// What the kernel said.
        reason: io::Error,
    },
    /// No way of containing a process works here, so nothing is run.
    #[error("nothing is run here, since no process can be contained: {}", list(.attempts))]
    Uncontained {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
    /// The profile has a gateway, and no means of containing that works here has a network of its own for it.
    #[error("there is no way to the network through metier here: that needs a network namespace, without which a script could go around it{}; run `metier doctor` to see what would help, or run it without hosts", why(.attempts))]
    NoGateway {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
    /// The profile shows a folder in the place of another, and no means of containing that works here can do that.
    #[error("a folder cannot be shown in the place of another here: that needs a mount namespace{}", why(.attempts))]
    NoStandIn {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
    /// An overlay cannot be had for this folder here. Nothing ran.
    #[error("{} cannot be given a private layer for changes: {reason}", .at.display())]
    NoLayer {
        /// The folder.
        at: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The process starts in the project, and no means of containing that works here can show one.
    #[error("the project cannot be shown here: without a mount namespace its secrets could not be hidden{}; run `metier doctor` to see what would help", why(.attempts))]
    NoProject {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
    /// The profile has a gateway, and the caller has nobody who takes its connections.
    #[error("the profile has a gateway and nobody was given who stands there")]
    NoPorter,
    /// The containment could not be made for this profile.
    #[error("the containment could not be made: {what}: {reason}")]
    Containment {
        /// What was tried.
        what: String,
        /// What the kernel said.
        reason: io::Error,
    },
    /// A path of the profile is not absolute or has a step back in it.
    #[error("{} is not an absolute path without `..`", .0.display())]
    Path(PathBuf),
    /// The helper could not be started, or is gone.
    #[error("the sandbox's helper process {0}")]
    Helper(String),
    /// A call of the kernel on our side.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn list(attempts: &[Attempt]) -> String {
    attempts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn why(attempts: &[Attempt]) -> String {
    if attempts.is_empty() { String::new() } else { format!(" ({})", list(attempts)) }
}

/// A tier that does not work here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{tier}: {reason}")]
pub struct Attempt {
    /// Which one.
    pub tier: Tier,
    /// Why it does not.
    pub reason: String,
}
