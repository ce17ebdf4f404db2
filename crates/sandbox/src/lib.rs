//! Runs one process, contained.

mod cancel;
mod command;
mod error;
mod inside;
mod kernel;
mod outputs;
mod outside;
mod profile;
mod queue;
mod report;
mod stream;
mod tier;
mod wire;

pub use self::cancel::Cancel;
pub use self::command::{Command, Input};
pub use self::error::{Attempt, Error};
pub use self::inside::{HELPER, helper};
pub use self::outputs::{Output, OutputKind, Outputs};
pub use self::outside::{Choice, Helper, Sandbox, Setup, Sink, Stream};
pub use self::profile::{Limits, Network, Profile, Project};
pub use self::report::{Containment, Denied, Ended, Meter, Report, Stop, Usage};
pub use self::stream::Captured;
pub use self::tier::Tier;
