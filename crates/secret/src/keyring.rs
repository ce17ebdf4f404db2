//! Secrets in the system's keyring.
//!
//! Spoken by hand, because what is needed of D-Bus is small and the libraries for it are not: `wire` has values, `message` calls
//! and answers, `connection` the way in and the deadline, `service` the methods of the Secret Service. What the other side
//! says is a stranger's: bounded, checked, and an error where it is not what was asked for.

mod address;
mod connection;
mod dial;
mod error;
mod message;
mod service;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use error::KeyringError;

use crate::vault::{Held, KeptSecret, Place, Removed, Was};
use crate::{Owner, Secret, SecretName};
use address::Address;
use service::{Item, Service};

/// How long a keyring may take for one thing, from the first byte to the last. It answers in milliseconds, or it needs to be
/// started first, or it hangs; nobody should wait longer than this to find out.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// What marks an entry as ours. Entries without it are other programs', and are never looked at.
const APPLICATION: (&str, &str) = ("application", "metier");

/// Whose it is, as the file has it.
const OWNER: &str = "owner";
const NAME: &str = "name";
/// When it was set.
const SET: &str = "set";

/// Secrets in the keyring, one entry each.
#[derive(Debug)]
pub(crate) struct Keyring {
    service: Mutex<Service>,
}

impl Keyring {
    /// The keyring behind the bus at `address`, if it can be used without asking anybody.
    pub(crate) fn open(address: &str) -> Result<Self, KeyringError> {
        let service = Service::open(&Address::all(address), ANSWER_TIMEOUT)?;
        Ok(Self { service: Mutex::new(service) })
    }

    pub(crate) fn set(
        &self,
        owner: &Owner,
        name: &SecretName,
        secret: &Secret,
        when: &str,
    ) -> Result<Was, KeyringError> {
        let text = text(owner).ok_or(KeyringError::NotText)?;
        let mut service = self.service();
        let ours = [APPLICATION, (OWNER, &text), (NAME, name.as_str())];
        let before = service.search(&ours)?;
        let [application, owner_is, name_is] = ours;
        let attributes = [application, owner_is, name_is, (SET, when)];
        let label = format!("metier: {name} for {}", owner.skill());
        let made = service.create(&label, &attributes, secret)?;
        // The time is one of the attributes, so an earlier value is another entry. It goes last: when something fails in
        // between there are two, and the later one counts.
        for item in before.iter().filter(|item| item.path != made) {
            service.delete(item)?;
        }
        Ok(if before.is_empty() { Was::New } else { Was::Replaced })
    }

    pub(crate) fn remove(&self, owner: &Owner, name: &SecretName) -> Result<Removed, KeyringError> {
        let Some(text) = text(owner) else { return Ok(Removed::NotThere) };
        let mut service = self.service();
        let items = service.search(&[APPLICATION, (OWNER, &text), (NAME, name.as_str())])?;
        for item in &items {
            service.delete(item)?;
        }
        Ok(if items.is_empty() { Removed::NotThere } else { Removed::Yes })
    }

    /// Everything of ours; of several with the same owner and name, all.
    pub(crate) fn list(&self) -> Result<Vec<KeptSecret>, KeyringError> {
        let items = self.service().search(&[APPLICATION])?;
        items.iter().map(kept).collect()
    }

    /// The secrets of one skill. Where there are several of a name, all of them.
    pub(crate) fn of(&self, owner: &Owner) -> Result<Vec<Held>, KeyringError> {
        let Some(text) = text(owner) else { return Ok(Vec::new()) };
        let mut service = self.service();
        let items = service.search(&[APPLICATION, (OWNER, &text)])?;
        let mut values = service.secrets(&items)?;
        let mut all = Vec::with_capacity(items.len());
        for item in &items {
            let KeptSecret { name, set, .. } = kept(item)?;
            let odd = |what| KeyringError::Item { what, entry: item.path.clone() };
            let value = values.get_mut(&item.path).ok_or_else(|| odd("comes without its value"))?;
            let secret = Secret::from_bytes(std::mem::take(&mut **value))
                .map_err(|_| odd("has a value that no secret can have"))?;
            all.push(Held { name, set, secret });
        }
        Ok(all)
    }

    /// The service, with all of its time. Whoever panicked while holding it left no half message that would be taken for a
    /// whole one: the connection knows.
    fn service(&self) -> MutexGuard<'_, Service> {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        service.allow(ANSWER_TIMEOUT);
        service
    }
}

/// An owner as the file has it: the same text for the same owner, and the owner again from the text.
fn text(owner: &Owner) -> Option<String> {
    serde_json::to_string(owner).ok()
}

fn kept(item: &Item) -> Result<KeptSecret, KeyringError> {
    let attribute = |name: &str| item.attributes.get(name).map(String::as_str).unwrap_or_default();
    let odd = |what| KeyringError::Item { what, entry: item.path.clone() };
    Ok(KeptSecret {
        owner: serde_json::from_str(attribute(OWNER)).map_err(|_| odd("does not say whose it is"))?,
        // Another program may have put a name there that no secret may have, such as `LD_PRELOAD`.
        name: attribute(NAME).parse().map_err(|_| odd("has a name that no secret may have"))?,
        set: attribute(SET).to_owned(),
        kept: Place::Keyring,
    })
}
