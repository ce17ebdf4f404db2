//! The Secret Service of freedesktop.org, as gnome-keyring, `KWallet` and `KeePassXC` offer it: entries with attributes to
//! find them by, in collections that can be locked.
//!
//! The session is a plain one: values go through the bus's socket as they are. Whoever could read them there is the same
//! user, and could ask the keyring itself.

use std::collections::BTreeMap;
use std::time::Duration;

use zeroize::Zeroizing;

use super::KeyringError;
use super::address::Address;
use super::connection::Connection;
use super::message::{Call, Incoming};
use super::wire::{Writer, malformed};
use crate::Secret;

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// The path that stands for no object.
const NOTHING: &str = "/";

/// The most entries that one search may find. Each costs a question, and no user has as many secrets.
const MAX_ITEMS: usize = 2000;

/// Room for what stands around a value in a call.
const AROUND: usize = 1024;

/// A keyring that can be used now.
#[derive(Debug)]
pub(super) struct Service {
    connection: Connection,
    /// The service's own number on the bus. A name can change hands, a number never does.
    peer: String,
    session: String,
    collection: String,
}

/// An entry, without its value.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) path: String,
    pub(super) attributes: BTreeMap<String, String>,
}

impl Service {
    /// The keyring behind a bus, if it can be used without asking anybody, within this time.
    pub(super) fn open(addresses: &[Address], patience: Duration) -> Result<Self, KeyringError> {
        let mut connection = Connection::open(addresses, patience)?;
        let mut body = Writer::with_room(64);
        body.text("plain");
        body.signature("s");
        body.text("");
        let opening = Call {
            destination: NAME,
            path: ROOT,
            interface: SERVICE,
            member: "OpenSession",
            signature: "sv",
            body: &body.finish(),
        };
        let answer = connection.call(&opening, "open a session")?;
        let session = answer.body("vo", |reader| {
            reader.skip_variant()?;
            reader.text().map(str::to_owned)
        })?;
        let peer = answer.sender.ok_or(malformed("it has no sender"))?;
        let mut service = Self { connection, peer, session, collection: String::new() };
        service.collection = service.default_collection()?;
        if service.is_locked()? {
            let collection = service.collection.clone();
            service.unlock(&[collection])?;
        }
        Ok(service)
    }

    /// Gives everything that follows this long, together.
    pub(super) fn allow(&mut self, patience: Duration) {
        self.connection.allow(patience);
    }

    /// All entries, in any collection, that have these attributes, whatever else they have.
    pub(super) fn search(&mut self, attributes: &[(&str, &str)]) -> Result<Vec<Item>, KeyringError> {
        let answer =
            self.call(ROOT, SERVICE, "SearchItems", "a{ss}", "search", |body| body.pairs(attributes))?;
        let (mut found, locked) = answer.body("aoao", |reader| Ok((reader.paths()?, reader.paths()?)))?;
        if !locked.is_empty() {
            self.unlock(&locked)?;
            found.extend(locked);
        }
        if found.len() > MAX_ITEMS {
            return Err(KeyringError::TooMany { limit: MAX_ITEMS });
        }
        let mut items = Vec::with_capacity(found.len());
        for path in found {
            let item = Item { attributes: self.attributes(&path)?, path };
            // Some services search loosely. What is not ours to the letter is never read, shown or removed.
            let has =
                |(key, value): &(&str, &str)| item.attributes.get(*key).is_some_and(|found| found == value);
            if attributes.iter().all(has) {
                items.push(item);
            }
        }
        Ok(items)
    }

    /// Makes an entry in the default collection and gives its path. One with the very same attributes is replaced.
    pub(super) fn create(
        &mut self,
        label: &str,
        attributes: &[(&str, &str)],
        secret: &Secret,
    ) -> Result<String, KeyringError> {
        let (collection, session) = (self.collection.clone(), self.session.clone());
        let text = attributes.iter().map(|(key, value)| key.len() + value.len() + 32).sum::<usize>();
        let mut body = Writer::with_room(secret.expose().len() + label.len() + text + AROUND);
        body.array(8, |body| {
            body.text("org.freedesktop.Secret.Item.Label");
            body.signature("s");
            body.text(label);
            body.align(8);
            body.text("org.freedesktop.Secret.Item.Attributes");
            body.signature("a{ss}");
            body.pairs(attributes);
        });
        body.align(8);
        body.text(&session);
        body.bytes(&[]);
        body.bytes(secret.expose().as_bytes());
        body.text("text/plain; charset=utf8");
        body.flag(true);
        let call = Call {
            destination: &self.peer,
            path: &collection,
            interface: COLLECTION,
            member: "CreateItem",
            signature: "a{sv}(oayays)b",
            body: &body.finish(),
        };
        let answer = self.connection.call(&call, "keep the value")?;
        let (item, prompt) =
            answer.body("oo", |reader| Ok((reader.text()?.to_owned(), reader.text()?.to_owned())))?;
        unasked(&prompt, "keep a value in it")?;
        Ok(item)
    }

    /// The values of entries, by path.
    pub(super) fn secrets(
        &mut self,
        items: &[Item],
    ) -> Result<BTreeMap<String, Zeroizing<Vec<u8>>>, KeyringError> {
        let mut values = BTreeMap::new();
        if items.is_empty() {
            return Ok(values);
        }
        let session = self.session.clone();
        let answer = self.call(ROOT, SERVICE, "GetSecrets", "aoo", "give the values", |body| {
            body.array(4, |body| items.iter().for_each(|item| body.text(&item.path)));
            body.text(&session);
        })?;
        answer.body("a{o(oayays)}", |reader| {
            reader.array(8, |reader| {
                reader.align(8)?;
                let path = reader.text()?.to_owned();
                reader.align(8)?;
                reader.text()?;
                reader.bytes()?;
                values.insert(path, Zeroizing::new(reader.bytes()?.to_vec()));
                reader.text().map(drop)
            })
        })?;
        Ok(values)
    }

    /// Removes an entry.
    pub(super) fn delete(&mut self, item: &Item) -> Result<(), KeyringError> {
        let answer = self.call(&item.path, ITEM, "Delete", "", "remove the entry", |_| {})?;
        let prompt = answer.body("o", |reader| reader.text().map(str::to_owned))?;
        unasked(&prompt, "remove an entry from it")
    }

    /// Unlocks what can be unlocked without a password. A prompt that nobody calls is never shown.
    fn unlock(&mut self, objects: &[String]) -> Result<(), KeyringError> {
        let answer = self.call(ROOT, SERVICE, "Unlock", "ao", "unlock", |body| {
            body.array(4, |body| objects.iter().for_each(|object| body.text(object)));
        })?;
        let (unlocked, prompt) =
            answer.body("aoo", |reader| Ok((reader.paths()?, reader.text()?.to_owned())))?;
        let all = objects.iter().all(|object| unlocked.contains(object));
        if all && prompt == NOTHING { Ok(()) } else { Err(KeyringError::Locked) }
    }

    fn default_collection(&mut self) -> Result<String, KeyringError> {
        let attempt = "say which keyring is the default one";
        let answer = self.call(ROOT, SERVICE, "ReadAlias", "s", attempt, |body| body.text("default"))?;
        let collection = answer.body("o", |reader| reader.text().map(str::to_owned))?;
        if collection == NOTHING { Err(KeyringError::NoCollection) } else { Ok(collection) }
    }

    fn is_locked(&mut self) -> Result<bool, KeyringError> {
        let collection = self.collection.clone();
        self.property(&collection, COLLECTION, "Locked")?.body("v", |reader| {
            reader.variant_of("b")?;
            reader.flag()
        })
    }

    fn attributes(&mut self, item: &str) -> Result<BTreeMap<String, String>, KeyringError> {
        let mut attributes = BTreeMap::new();
        self.property(item, ITEM, "Attributes")?.body("v", |reader| {
            reader.variant_of("a{ss}")?;
            reader.array(8, |reader| {
                reader.align(8)?;
                attributes.insert(reader.text()?.to_owned(), reader.text()?.to_owned());
                Ok(())
            })
        })?;
        Ok(attributes)
    }

    fn property(&mut self, object: &str, interface: &str, name: &str) -> Result<Incoming, KeyringError> {
        self.call(object, PROPERTIES, "Get", "ss", "describe itself", |body| {
            body.text(interface);
            body.text(name);
        })
    }

    fn call(
        &mut self,
        path: &str,
        interface: &str,
        member: &str,
        signature: &str,
        attempt: &'static str,
        fill: impl FnOnce(&mut Writer),
    ) -> Result<Incoming, KeyringError> {
        let mut body = Writer::with_room(AROUND);
        fill(&mut body);
        let body = body.finish();
        let call = Call { destination: &self.peer, path, interface, member, signature, body: &body };
        self.connection.call(&call, attempt)
    }
}

/// That nobody has to be asked.
fn unasked(prompt: &str, attempt: &'static str) -> Result<(), KeyringError> {
    if prompt == NOTHING { Ok(()) } else { Err(KeyringError::Prompt { attempt }) }
}
