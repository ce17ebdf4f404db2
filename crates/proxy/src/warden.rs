//! Who decides.

use std::fmt;
use std::net::IpAddr;

use metier_policy::Host;

metier_diagnostic::words! {
    /// How a program asked to get out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Way {
        /// A request for `http://…`, passed on by the proxy.
        Http = "http",
        /// A tunnel, asked for with `CONNECT`.
        Tunnel = "connect",
        /// A tunnel, asked for over SOCKS5.
        Socks = "socks",
    }
}

/// One try of a program to reach somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The number of the connection, counted from 1 for each proxy.
    pub number: u64,
    /// How it was asked for.
    pub way: Way,
    /// Who should be reached, in the one spelling of rules.
    pub host: Host,
    /// At which port.
    pub port: u16,
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Which addresses a yes reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Those of the open internet.
    Public,
    /// Also the special ones (see [`crate::Special`]), because the rule names the address itself.
    ///
    /// It counts for a host that is an address, which is then the only one, and for `localhost`, which is then loopback.
    /// Any other name can be made to lead anywhere by whoever answers for it, so for those it means [`Reach::Public`].
    Named,
}

/// What the warden says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The contact may be made.
    Pass(Reach),
    /// It may not.
    Refuse {
        /// Why, as the end of "`host:443` is refused: …".
        reason: String,
        /// What would allow it, such as "allow it with the rule `skill:pdf/host:api.example.com`".
        remedy: Option<String>,
    },
}

/// Decides about contacts. One [`crate::Proxy`] asks about each host and port once and keeps the answer.
pub trait Warden: Send + Sync {
    /// Whether a contact may be made. It may take as long as a person takes; only contacts with the same host and port
    /// wait meanwhile.
    fn may(&self, contact: &Contact) -> Verdict;

    /// Whether a rule names this very address. It is asked after resolution, when a name that may be reached leads to a
    /// special address, and must not ask anybody.
    fn names(&self, _address: IpAddr, _port: u16) -> bool {
        false
    }

    /// Called when the proxy ends while [`Warden::may`] has not returned: what it says no longer matters, so a
    /// question to a person can be taken back.
    fn withdraw(&self) {}
}
