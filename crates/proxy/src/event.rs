//! What happened, for whoever keeps the log.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use metier_diagnostic::visible;
use metier_policy::{Host, HostPattern};

use crate::address::Special;
use crate::fault::Fault;
use crate::warden::Contact;

/// Something that happened at a proxy. Every contact has one of the ends [`Event::Refused`], [`Event::Failed`] or
/// [`Event::Ended`], in this order of its life: asking and answered (where nobody had asked before), passed, ended.
#[derive(Clone, Debug)]
pub enum Event {
    /// The warden is asked. Until [`Event::Answered`] the program waits for somebody else, and its clock should not run.
    Asking(Contact),
    /// The warden has said something. From here on the time is the program's again, which also waits for slow hosts.
    Answered(Contact),
    /// The contact is made, with this address.
    Passed {
        /// Whose.
        contact: Contact,
        /// With whom.
        address: SocketAddr,
    },
    /// It was not made, or was cut.
    Refused {
        /// Whose.
        contact: Contact,
        /// Why.
        refusal: Refusal,
    },
    /// It was allowed and could not be made.
    Failed {
        /// Whose.
        contact: Contact,
        /// Why.
        trouble: Trouble,
    },
    /// It was made and is over.
    Ended {
        /// Whose.
        contact: Contact,
        /// What went over it.
        carried: Carried,
    },
    /// Somebody said something that is no request, so there is no contact.
    Malformed {
        /// The number of the connection.
        number: u64,
        /// What was wrong.
        fault: Fault,
    },
}

/// Why a contact is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The warden said no.
    #[error("{reason}")]
    NotAllowed {
        /// Why.
        reason: String,
        /// What would allow it.
        remedy: Option<String>,
    },
    /// The host leads to an address that is not the open internet.
    #[error("it leads to {address}, {special}")]
    SpecialAddress {
        /// What kind.
        special: Special,
        /// Which.
        address: IpAddr,
    },
    /// The first message of TLS is for another host than the tunnel.
    #[error("its first TLS message is for `{}`; connect to that host by its name", visible(.0))]
    OtherName(String),
    /// The first message of TLS cannot be read.
    #[error("its first TLS message cannot be read")]
    UnreadableHello,
    /// The body of the request is not written as one.
    #[error("{0}")]
    Body(Fault),
}

/// Why an allowed contact could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The name leads nowhere.
    #[error("the name leads nowhere ({})", visible(.0))]
    NoAddress(String),
    /// Nobody could be reached; the last address tried, and what the system said.
    #[error("nobody could be reached ({})", visible(.1))]
    NoConnection(io::ErrorKind, String),
    /// The proxy ended first.
    #[error("the call has ended")]
    Stopped,
}

metier_diagnostic::words! {
    /// How a contact ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Ending {
        /// Both sides were done.
        Closed = "closed",
        /// One side broke off.
        Broken = "broken off",
        /// Nothing went over it for too long.
        Idle = "idle",
        /// The proxy ended.
        Stopped = "stopped",
    }
}

/// What went over a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Bytes from the program to the host.
    pub up: u64,
    /// Bytes from the host to the program.
    pub down: u64,
    /// From the connection to its end.
    pub took: Duration,
    /// How it ended.
    pub ending: Ending,
}

impl Event {
    /// Whose event it is.
    pub const fn contact(&self) -> Option<&Contact> {
        match self {
            Self::Asking(contact)
            | Self::Answered(contact)
            | Self::Passed { contact, .. }
            | Self::Refused { contact, .. }
            | Self::Failed { contact, .. }
            | Self::Ended { contact, .. } => Some(contact),
            Self::Malformed { .. } => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asking(contact) => write!(f, "`{contact}`: asking"),
            Self::Answered(contact) => write!(f, "`{contact}`: answered"),
            Self::Passed { contact, address } => write!(f, "`{contact}`: passed to {address}"),
            Self::Refused { contact, refusal } => write!(f, "`{contact}`: refused: {refusal}"),
            Self::Failed { contact, trouble } => write!(f, "`{contact}`: failed: {trouble}"),
            Self::Ended { contact, carried } => write!(
                f,
                "`{contact}`: {} after {} ms, {} bytes up, {} bytes down",
                carried.ending.word(),
                carried.took.as_millis(),
                carried.up,
                carried.down
            ),
            Self::Malformed { fault, .. } => write!(f, "no request: {fault}"),
        }
    }
}

impl Refusal {
    /// A word for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAllowed { .. } => "not-allowed",
            Self::SpecialAddress { .. } => "special-address",
            Self::OtherName(_) => "other-name",
            Self::UnreadableHello => "unreadable-hello",
            Self::Body(_) => "body",
        }
    }

    /// What to do next, where there is something.
    pub fn remedy(&self, contact: &Contact) -> Option<String> {
        match self {
            Self::NotAllowed { remedy, .. } => remedy.clone(),
            Self::SpecialAddress { address, .. } => {
                // A name is no help: it can lead elsewhere tomorrow. `localhost` is the exception, being one by law.
                let host =
                    if contact.host.is_localhost() { contact.host.clone() } else { Host::from(*address) };
                let rule = HostPattern::exact(&host, contact.port);
                Some(format!("if that is meant, allow the address itself with the rule `host:{rule}`"))
            }
            _ => None,
        }
    }
}

impl Trouble {
    /// A word for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoAddress(_) => "no-address",
            Self::NoConnection(..) => "no-connection",
            Self::Stopped => "stopped",
        }
    }
}
