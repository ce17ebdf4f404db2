//! Secrets of skills: kept for one skill each, given by name, never shown.
//!
//! - [`SecretName`] is an environment variable, [`Secret`] its value, [`Owner`] the one skill that gets it.
//! - [`Vault`] keeps them: the system's keyring where there is one, else a file that only the user can read.
//! - [`Redactor`] takes them out of everything that is shown, kept or sent, in every encoding in which values turn up
//!   by accident, also when they come in several writes.
//!
//! What this crate is not: it gives nothing to a process and decides nothing. Whoever runs a skill asks the gate, then the
//! vault, puts the values into the environment of that one process, and sends every byte that comes back through a
//! redactor. A redactor is a net for accidents: whoever wants to can encrypt a value before printing it.
//!
//! ```
//! # use metier_testkit::Workspace;
//! use metier_secret::{Owner, Redactor, Secret, Vault};
//!
//! # let workspace = Workspace::new();
//! # let folder = workspace.join("secrets");
//! let vault = Vault::file(&folder);
//! let owner = Owner::new("user", "jira-triage");
//! let name = "JIRA_TOKEN".parse()?;
//! vault.set(&owner, &name, &Secret::new("ATATT3xFfGF0".to_owned())?, "2026-01-31T12:00:00Z")?;
//!
//! let given = vault.of(&owner)?;
//! let redactor = Redactor::new(given.iter().map(|(name, secret)| (name, secret)))?;
//! assert_eq!(redactor.text("token=ATATT3xFfGF0"), "token=[secret JIRA_TOKEN]");
//! assert!(vault.of(&Owner::new("user", "another"))?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod encoding;
mod keyring;
mod owner;
mod redactor;
mod secret;
mod secret_name;
mod vault;

pub use keyring::KeyringError;
pub use owner::Owner;
pub use redactor::{RedactedStream, Redactor, RedactorError};
pub use secret::{COMFORTABLE, MAX_SECRET, MIN_SECRET, Secret, SecretError};
pub use secret_name::{RESERVED, SecretName, SecretNameError};
pub use vault::{KeptSecret, Place, Removed, Vault, VaultError, Was};
