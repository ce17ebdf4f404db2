//! Where packages come from, and who watches that nobody else is reached.

use std::net::IpAddr;

use metier_policy::{Action, Actor, Answers, Asking, Gate, Host, Need, NoHost, Rules, Skill};
use metier_proxy::{Contact, Reach, Verdict, Warden};

/// The index of Python packages.
const PYTHON: &str = "https://pypi.org/simple";

/// The registry of Node packages.
pub(crate) const NODE: &str = "https://registry.npmjs.org/";

/// A registry: its address, and the hosts that are reached for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// Where it is asked.
    pub url: String,
    /// Whom it takes, with the port. A package may lie on another host than the list of packages.
    pub hosts: Vec<(Host, u16)>,
}

/// The registries that packages come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registries {
    /// For Python.
    pub python: Registry,
    /// For Node.
    pub node: Registry,
}

impl Registry {
    /// A registry at this address, for which these hosts are reached.
    pub fn new(url: &str, hosts: &[(&str, u16)]) -> Result<Self, NoHost> {
        let hosts =
            hosts.iter().map(|(host, port)| Ok((Host::new(host)?, *port))).collect::<Result<_, _>>()?;
        Ok(Self { url: url.to_owned(), hosts })
    }
}

impl Registries {
    /// The public ones.
    pub fn public() -> Result<Self, NoHost> {
        Ok(Self {
            python: Registry::new(PYTHON, &[("pypi.org", 443), ("files.pythonhosted.org", 443)])?,
            node: Registry::new(NODE, &[("registry.npmjs.org", 443)])?,
        })
    }
}

/// Passes the hosts that were agreed to and nobody else.
pub(crate) struct ApprovedRegistries {
    pub(crate) hosts: Vec<(Host, u16)>,
    pub(crate) skill: Skill,
    pub(crate) rules: Rules,
}

impl Warden for ApprovedRegistries {
    fn may(&self, contact: &Contact) -> Verdict {
        if self.hosts.iter().any(|(host, port)| *host == contact.host && *port == contact.port) {
            return Verdict::Pass(Reach::Public);
        }
        let reason = "packages come from their registry and from nowhere else".to_owned();
        Verdict::Refuse { reason, remedy: None }
    }

    /// A registry may stand in the user's own network, which a rule has to name.
    fn names(&self, address: IpAddr, port: u16) -> bool {
        let need = Need::Host { host: Host::from(address), port };
        let answers = Answers::default();
        let gate = Gate { rules: &self.rules, answers: &answers, scopes: &[], asking: Asking::Nobody };
        gate.decide(&Action::more(Actor::Skill(self.skill.clone()), need)).is_allowed()
    }
}
