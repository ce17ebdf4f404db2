//! What is looked at on its way through.

use metier_policy::Host;

use crate::body::Body;
use crate::event::Refusal;
use crate::hello::{self, Hello};
use crate::response::Answer;

/// Decides which of the bytes of one direction go on.
pub(crate) enum Sieve {
    /// All of them.
    Open,
    /// All of them, once the first message of TLS, if it is one, turns out to be for this host.
    Hello {
        /// Whom the tunnel was allowed for.
        host: Host,
        /// What has arrived.
        held: Vec<u8>,
    },
    /// Those of one body, and none after it.
    Body(Body),
    /// An answer, whose head is made to say that the connection ends.
    Answer {
        answer: Answer,
        /// What is said when the server says nothing.
        silence: Vec<u8>,
    },
}

impl Sieve {
    /// Whether all bytes go on, so that they need not pass through here.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Open => true,
            Self::Answer { answer, .. } => answer.is_through(),
            Self::Hello { .. } | Self::Body(_) => false,
        }
    }

    /// Takes what has arrived and gives what may go on.
    pub(crate) fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        match self {
            Self::Open => out.extend_from_slice(bytes),
            Self::Body(body) => {
                body.take(bytes, out).map_err(Refusal::Body)?;
            }
            Self::Answer { answer, .. } => answer.take(bytes, out),
            Self::Hello { host, held } => {
                held.extend_from_slice(bytes);
                match hello::read(held).map_err(|_| Refusal::UnreadableHello)? {
                    Hello::More => return Ok(()),
                    Hello::Other | Hello::Nameless => {}
                    Hello::Named(name) => is_for(host, &name)?,
                }
                out.append(held);
                *self = Self::Open;
            }
        }
        Ok(())
    }

    /// Gives what was held back, since nothing follows any more.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Open | Self::Body(_) => {}
            // Half a hello has no name for a server either.
            Self::Hello { held, .. } => out.append(held),
            Self::Answer { answer, silence } => {
                if answer.is_silent() {
                    out.append(silence);
                }
                answer.finish(out);
            }
        }
    }
}

/// Whether the name in a hello is the host, in any spelling.
fn is_for(host: &Host, name: &[u8]) -> Result<(), Refusal> {
    let name = String::from_utf8_lossy(name).into_owned();
    if Host::new(&name).is_ok_and(|named| named == *host) { Ok(()) } else { Err(Refusal::OtherName(name)) }
}
