//! Who attends a call while it runs.

use std::net::TcpListener;

use super::call::Stream;
use crate::cancel::Cancel;
use crate::clock::Clock;

/// Gets what a process writes, while it writes.
pub type Sink<'a> = &'a mut dyn FnMut(Stream, &[u8]);

/// Takes what listens at the gateway of a call, before the program starts. Whoever takes it answers in another thread:
/// the call begins when this returns. When the call is over, `accept` fails, and every connection has ended.
pub type Porter<'a> = &'a mut dyn FnMut(TcpListener);

/// Who attends a call while it runs. Nobody, unless the caller says otherwise.
#[derive(Default)]
pub struct Attendance<'a> {
    /// Takes it back.
    pub cancel: Option<&'a Cancel>,
    /// Its clock, for whoever may have to stop it.
    pub clock: Option<&'a Clock>,
    /// Who stands at its gateway. A profile with a gateway needs somebody there.
    pub porter: Option<Porter<'a>>,
    /// Who gets what it writes at once.
    pub sink: Option<Sink<'a>>,
}

impl std::fmt::Debug for Attendance<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attendance")
            .field("cancel", &self.cancel)
            .field("clock", &self.clock)
            .field("porter", &self.porter.is_some())
            .field("sink", &self.sink.is_some())
            .finish()
    }
}
