//! Secrets that are kept, and secrets that are taken out of texts.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests look at the files that were written, start a keyring, say when they cannot, and fail loudly"
)]

mod daemon;
mod encodings;
mod invariant;
mod keyring;
mod peer;
mod redactor;
mod stream;
mod vault;

use metier_secret::{Redactor, Secret, SecretName};

/// A redactor for these names and values.
fn redactor(secrets: &[(&str, &str)]) -> Redactor {
    let secrets: Vec<(SecretName, Secret)> = secrets
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), Secret::new((*value).to_owned()).unwrap()))
        .collect();
    Redactor::new(secrets.iter().map(|(name, secret)| (name, secret))).unwrap()
}

/// A text without these secrets.
fn redacted(secrets: &[(&str, &str)], text: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(&redactor(secrets).bytes(text.as_ref())).into_owned()
}
