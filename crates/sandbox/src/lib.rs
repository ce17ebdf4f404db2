//! Runs one process, contained: files, network, environment, time, memory, output. The only crate of metier that starts
//! processes.
//!
//! What it is: a [`Profile`] says what a process may see, change and use up; [`Sandbox::run`] runs a [`Command`] under
//! it and gives a [`Report`]. When there is a report, every process of the call is dead. Two layers hold it, each by
//! itself: namespaces with a file system made of the profile's places, and Landlock with a system call filter. Where one
//! cannot be had, the next [`Tier`] is tried, and where none can, nothing runs.
//!
//! What it is not: a decision. Whether something may run is asked of `metier-policy`; which interpreter runs a script,
//! and what a skill's profile is, is known to `metier-runtime`. It is no virtual machine either: the kernel is shared,
//! and a hole in the kernel is a hole in it.
//!
//! ## The way of a call
//!
//! ```text
//!  caller            helper (single thread)     room (one per profile)     init (one per call)      program
//!  Sandbox::run  ->  launcher              ->   builds the view       ->   own namespaces, gives  -> exec
//!    outside/          inside/helper              inside/room, root          up everything: init
//! ```
//!
//! The next init of a room is made when a call has ended, and while one of a row runs. It is the first process of its namespaces, so all others
//! end with it; it ends when its socket does, so nothing outlives the caller, however that one ends. `kernel/` has the
//! unsafe code, `wire/` the messages.
//!
//! Where the project is shown through a layer ([`ProjectAccess::Layered`]), the init waits for the call before it gives
//! anything up: each call brings a folder along that takes its writes ([`LayerMount`]), and the overlay is mounted then,
//! `inside/layer`. When there is a report, nothing is mounted any more.
//!
//! A process that expects one call ([`Expecting::One`]) and is alone makes the init itself, before it knows the call
//! ([`Sandbox::get_ready`]), and both work at once: `inside/ahead`.
//!
//! Where the kernel lets us divide the control group that the caller is in, each call is born in one of its own
//! ([`Meter::ControlGroup`]), which the caller makes and removes.
//!
//! ## The way out
//!
//! There is none, or one: with [`Network::Gateway`] the init opens a port of its own loopback device ([`GATEWAY`]) and hands
//! what listens there to the caller ([`Attendance::porter`]), who answers as a proxy would. Time that a person takes to
//! answer a question is not the script's: [`Clock::pause`].
//!
//! ```standalone_crate
//! use metier_sandbox::{Command, Profile, Sandbox, Setup, helper};
//!
//! // First thing: this program is its own helper.
//! helper(std::env::args_os());
//! let sandbox = Sandbox::new(Setup::new(std::env::temp_dir()));
//! let profile = Profile::new("/usr/share".into());
//! let command = Command::new("/bin/sh").arguments(["-c", "echo hello; ls ~/.ssh"]);
//! let report = sandbox.run(&profile, &command)?;
//! assert_eq!(report.stdout.text(), "hello\n");
//! assert!(!report.succeeded());
//! # Ok::<(), metier_sandbox::Error>(())
//! ```

mod cancel;
mod clock;
mod command;
mod error;
mod folder;
mod inside;
mod kernel;
mod lock;
mod outputs;
mod outside;
mod profile;
mod queue;
mod report;
mod stream;
mod tier;
mod wire;

pub use self::cancel::Cancel;
pub use self::clock::{Clock, Pause};
pub use self::command::{Command, LayerMount};
pub use self::error::{Attempt, Error};
pub use self::inside::{HELPER, SYSTEM, helper};
pub use self::outputs::{Copied, Existing, LeaveOut, Output, OutputKind, Outputs};
pub use self::outside::{
    Attendance, Choice, Examination, Expecting, Finding, Finished, Held, Helper, Metered, Metering, Porter,
    Running, Sandbox, Setup, Sieve, Sink, Stream, examine,
};
pub use self::profile::{
    DEFAULT_TIMEOUT, DataFolder, GATEWAY, Limits, Network, Profile, Project, ProjectAccess, StandIn,
};
pub use self::report::{Containment, Denied, Ended, Meter, Overrun, OverrunOf, Report, Stop, Usage};
pub use self::stream::Captured;
pub use self::tier::Tier;
