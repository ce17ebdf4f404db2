//! What runs in the process that wants something contained: it asks the helper, and reads what comes back.

mod call;
mod launcher;
mod sandbox;

pub use self::call::{Sink, Stream};
pub use self::sandbox::{Choice, Helper, Sandbox, Setup};
