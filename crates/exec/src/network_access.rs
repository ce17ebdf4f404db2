//! The network of a call: a proxy of its own, at which the policy decides about every host.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use metier_policy::{
    Action, Actor, Answers, Asking, Decision, Gate, Host, HostPattern, Need, Reason, Rules, Scope,
};
use metier_proxy::{
    Contact, Event, Limits, Outside, Proxy, Reach, System, Trouble, Verdict, Warden, proxy_variables,
};
use metier_sandbox::{Clock, GATEWAY, Network, Profile};
use metier_secret::Redactor;

/// How many events of one call are kept. A script that makes more contacts is counted on, not listed.
const MAX_EVENTS: usize = 1000;

/// Asks a person about a host, or about changes, while a process waits.
pub trait HostApprover: Send + Sync {
    /// Asks about a decision that needs an approval; `true` approves.
    fn ask(&self, action: &Action, decision: &Decision) -> bool;

    /// Withdraws the open question.
    fn withdraw(&self) {}
}

/// How calls reach the network, and who approves a host that no rule names.
#[derive(Clone)]
pub struct NetworkAccess {
    /// The network.
    pub outside: Arc<dyn Outside>,
    /// Who is asked; `None` refuses such hosts.
    pub approver: Option<Arc<dyn HostApprover>>,
}

impl Default for NetworkAccess {
    /// The machine's own network, and no approver.
    fn default() -> Self {
        Self { outside: Arc::new(System), approver: None }
    }
}

impl fmt::Debug for NetworkAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkAccess").field("asker", &self.approver.is_some()).finish_non_exhaustive()
    }
}

/// The network contacts of a call.
#[derive(Debug, Default)]
pub struct NetworkContacts {
    /// How each contact ended, in order: refused, failed or over.
    pub events: Vec<Event>,
    /// How many more there were.
    pub more: usize,
}

impl NetworkContacts {
    fn hear(&mut self, event: &Event) {
        let is_end = matches!(
            event,
            Event::Refused { .. } | Event::Failed { .. } | Event::Ended { .. } | Event::Malformed { .. }
        );
        if is_end && self.events.len() < MAX_EVENTS {
            self.events.push(event.clone());
        } else if is_end {
            self.more += 1;
        }
    }

    /// What was refused or failed, a sentence each, and each once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for event in &self.events {
            let note = match event {
                Event::Refused { contact, refusal } => match refusal.remedy(contact) {
                    Some(remedy) => format!("`{contact}` was refused: {refusal}; {remedy}"),
                    None => format!("`{contact}` was refused: {refusal}"),
                },
                // Whoever still waited when the program ended has not failed to reach anybody.
                Event::Failed { trouble: Trouble::Stopped, .. } => continue,
                Event::Failed { contact, trouble } => format!("`{contact}` could not be reached: {trouble}"),
                _ => continue,
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}

/// The proxy of one call, from the moment the call has a gateway.
pub(crate) struct CallProxy {
    warden: Arc<dyn Warden>,
    outside: Arc<dyn Outside>,
    heard: Arc<Mutex<NetworkContacts>>,
    proxy: Option<io::Result<Proxy>>,
}

impl CallProxy {
    /// A proxy at which the policy decides, for an actor whose grants are approved.
    pub(crate) fn of_gate(
        gate: &Gate<'_>,
        actor: &Actor,
        hosts: &[HostPattern],
        network: &NetworkAccess,
        clock: &Clock,
        redactor: &Redactor,
    ) -> Self {
        let warden = GateAccessPolicy {
            rules: gate.rules.clone(),
            answers: gate.answers.clone(),
            scopes: gate.scopes.to_vec(),
            asking: gate.asking,
            actor: actor.clone(),
            hosts: hosts.to_vec(),
            approver: network.approver.clone(),
            clock: clock.clone(),
            redactor: redactor.clone(),
        };
        Self::new(Arc::new(warden), &network.outside)
    }

    /// A proxy with its own decisions.
    pub(crate) fn new(warden: Arc<dyn Warden>, outside: &Arc<dyn Outside>) -> Self {
        Self { warden, outside: Arc::clone(outside), heard: Arc::default(), proxy: None }
    }

    /// Begins to serve.
    pub(crate) fn serve(&mut self, listener: TcpListener) {
        let heard = Arc::clone(&self.heard);
        let observer = move |event: &Event| heard.lock().unwrap_or_else(PoisonError::into_inner).hear(event);
        let (warden, outside) = (Arc::clone(&self.warden), Arc::clone(&self.outside));
        self.proxy = Some(Proxy::start(listener, warden, outside, Limits::default(), observer));
    }

    /// Ends it, and gives what happened and what went wrong.
    pub(crate) fn finish(self) -> (NetworkContacts, Option<io::Error>) {
        // It ends first: what happens at the end is heard, too.
        let problem = self.proxy.and_then(Result::err);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut *heard), problem)
    }
}

/// The same profile with a gateway, and with the variables that tell programs of it.
pub(crate) fn with_gateway(profile: &Profile) -> Profile {
    let mut profile = Profile { network: Network::Gateway, ..profile.clone() };
    profile.environment.extend(proxy_variables(GATEWAY.port()));
    profile
}

/// Decides about hosts by the rules in force, for an actor whose grants are approved.
struct GateAccessPolicy {
    rules: Rules,
    answers: Answers,
    scopes: Vec<Scope>,
    asking: Asking,
    actor: Actor,
    /// What the yes to the call was for, too.
    hosts: Vec<HostPattern>,
    approver: Option<Arc<dyn HostApprover>>,
    clock: Clock,
    redactor: Redactor,
}

impl GateAccessPolicy {
    fn decide(&self, host: Host, port: u16) -> (Action, Decision) {
        let action = Action::more(self.actor.clone(), Need::Host { host, port });
        let gate = Gate {
            rules: &self.rules,
            answers: &self.answers,
            scopes: &self.scopes,
            asking: if self.approver.is_some() { self.asking } else { Asking::Nobody },
        };
        let decision = gate.decide(&action);
        (action, decision)
    }

    fn wanted(&self, host: &Host, port: u16) -> bool {
        self.hosts.iter().any(|hosts| hosts.matches(host, port))
    }
}

impl Warden for GateAccessPolicy {
    fn may(&self, contact: &Contact) -> Verdict {
        let (host, port) = (&contact.host, contact.port);
        let (action, decision) = self.decide(host.clone(), port);
        // A pattern means an address only by itself, so whoever said yes to it named the address.
        let reach = if host.is_address() { Reach::Named } else { Reach::Public };
        if decision.is_allowed() {
            // Where nothing asks, nobody has named anything.
            let is_named = !matches!(decision.by, Reason::Mode { .. }) || self.wanted(host, port);
            return Verdict::Pass(if is_named { reach } else { Reach::Public });
        }
        // A no stays a no. What only lacked a yes has one, if the call was allowed with this host.
        if decision.question.is_some() {
            if self.wanted(host, port) {
                return Verdict::Pass(reach);
            }
            // A question shows the host and goes to a screen or to another program, and so does what is refused.
            if matches!(self.redactor.text(host.as_str()), Cow::Owned(_)) {
                let reason = "the name of the host has the value of a secret in it".to_owned();
                return Verdict::Refuse { reason, remedy: None };
            }
            if let Some(approver) = self.approver.as_ref().filter(|_| self.asking == Asking::Terminal) {
                let pause = self.clock.pause();
                let is_yes = approver.ask(&action, &decision);
                drop(pause);
                if is_yes {
                    return Verdict::Pass(reach);
                }
            }
        }
        let rules: Vec<String> = decision.allow_with.iter().map(|rule| format!("`{rule}`")).collect();
        let remedy = (!rules.is_empty()).then(|| format!("allow it with the rule {}", rules.join(" and ")));
        Verdict::Refuse { reason: decision.by.to_string(), remedy }
    }

    fn names(&self, address: IpAddr, port: u16) -> bool {
        let host = Host::from(address);
        let (_, decision) = self.decide(host.clone(), port);
        let is_denied = !decision.is_allowed() && decision.question.is_none();
        !is_denied
            && (self.wanted(&host, port)
                || (decision.is_allowed() && !matches!(decision.by, Reason::Mode { .. })))
    }

    fn withdraw(&self) {
        if let Some(approver) = &self.approver {
            approver.withdraw();
        }
    }
}
