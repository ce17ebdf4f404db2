//! Who attends a call while it runs.

use std::borrow::Cow;
use std::net::TcpListener;

use super::call::Stream;
use crate::cancel::Cancel;
use crate::clock::Clock;

/// Gets what a process writes, while it writes.
pub type Sink<'a> = &'a mut dyn FnMut(Stream, &[u8]);

/// Changes what a process writes before anybody gets it: whoever attends the call, and the report. It sees a stream in the
/// pieces in which it was written, and may hold some bytes back to see what comes behind them.
pub trait Sieve {
    /// What becomes of a piece.
    fn pass<'a>(&mut self, stream: Stream, piece: &'a [u8]) -> Cow<'a, [u8]>;
    /// What was held back of a stream that is at its end.
    fn rest(&mut self, stream: Stream) -> Vec<u8>;
}

/// Takes what listens at the gateway of a call, when somebody knocks there for the first time: connections wait until
/// somebody takes them. Whoever takes it answers in another thread. When the call is over, `accept` fails, and every connection has ended.
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
    /// What its words go through first.
    pub sieve: Option<&'a mut dyn Sieve>,
    /// Who gets what it writes at once.
    pub sink: Option<Sink<'a>>,
}
