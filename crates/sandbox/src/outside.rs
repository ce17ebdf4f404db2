//! What runs in the process that wants something contained: it asks the helper, and reads what comes back.

mod attendance;
mod call;
mod control_group;
mod examine;
mod landmarks;
mod launcher;
mod layers;
mod mount_table;
mod running;
mod sandbox;
mod supervised;

pub use self::attendance::{Attendance, Porter, Sieve, Sink};
pub use self::call::Stream;
pub use self::examine::{Examination, Finding, Held, Metered, examine};
pub use self::running::{Finished, Running};
pub use self::sandbox::{Choice, Expecting, Helper, Metering, Sandbox, Setup};
