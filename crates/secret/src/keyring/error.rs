//! Why a keyring cannot be used.

use super::ANSWER_TIMEOUT;

/// Why a keyring cannot be used, or not for this. None of them repeats a value or a text of the other side, except for an
/// error's name, which is letters, digits and dots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is none.
    #[error(
        "no keyring answers on the session's bus; start one, such as gnome-keyring, KWallet or KeePassXC"
    )]
    Absent,
    /// It would have to ask for a password.
    #[error("the keyring is locked; unlock it in its own program")]
    Locked,
    /// There is no keyring to put anything in.
    #[error("the keyring's service has no default keyring; make one in its own program")]
    NoCollection,
    /// It would have to ask whether it may.
    #[error("the keyring wants to ask you before metier may {attempt}; do it in the keyring's own program")]
    Prompt {
        /// What was tried.
        attempt: &'static str,
    },
    /// Nothing came back in time.
    #[error("the keyring did not answer within {} seconds; restart it, or log in anew", ANSWER_TIMEOUT.as_secs())]
    Silent,
    /// Somebody else listens there.
    #[error("the session's bus belongs to another user; correct `DBUS_SESSION_BUS_ADDRESS`")]
    AnotherUser,
    /// The bus does not let us in.
    #[error("the session's bus does not let metier in; correct `DBUS_SESSION_BUS_ADDRESS`")]
    NotLetIn,
    /// It said no.
    #[error("the keyring does not {attempt}: it answers `{error}`")]
    Refused {
        /// What was tried.
        attempt: &'static str,
        /// The name of its error.
        error: String,
    },
    /// Its answer breaks the protocol.
    #[error("the keyring's answer cannot be understood: {what}; restart it, or log in anew")]
    Malformed {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The connection ended.
    #[error("the connection to the session's bus broke off: {reason}; try again")]
    Lost {
        /// What the system said.
        reason: String,
    },
    /// Something is there under metier's name that metier did not write.
    #[error(
        "an entry of the keyring is marked as metier's and {what}; remove it in the keyring's own program: `{entry}`"
    )]
    Item {
        /// What is wrong with it.
        what: &'static str,
        /// Where the keyring has it.
        entry: String,
    },
    /// There is too much.
    #[error("the keyring has more than {limit} entries of metier; remove secrets that are not needed")]
    TooMany {
        /// The most that are read.
        limit: usize,
    },
    /// A keyring's attributes are text.
    #[error(
        "the folder's name is not UTF-8 text, so the keyring cannot keep secrets for it; rename the folder"
    )]
    NotText,
}
