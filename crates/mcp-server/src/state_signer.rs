//! Signs the state that a client keeps for the server between two rounds of a call.

use std::io;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of the key: as many as the digest has.
const KEY_BYTES: usize = 32;

/// Signs strings with HMAC-SHA-256, so that changed and foreign ones are detected. The key lasts as long as the server: after a restart
/// a question is asked again.
pub(crate) struct StateSigner(Hmac<Sha256>);

impl StateSigner {
    /// A signer with a random key. Fails only if the system provides no random bytes.
    pub(crate) fn new() -> io::Result<Self> {
        let mut key = [0_u8; KEY_BYTES];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        Self::with_key(&key)
    }

    fn with_key(key: &[u8]) -> io::Result<Self> {
        Hmac::new_from_slice(key).map(Self).map_err(io::Error::other)
    }

    /// Appends the signature to a string.
    pub(crate) fn sign(&self, text: &str) -> String {
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(self.mac(text).finalize().into_bytes()))
    }

    /// The string without its signature; `None` if the signature is invalid. The comparison takes constant time.
    pub(crate) fn verify<'a>(&self, signed: &'a str) -> Option<&'a str> {
        let (text, signature) = signed.rsplit_once('.')?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(text).verify_slice(&signature).is_ok().then_some(text)
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        self.0.clone().chain_update(text)
    }
}

impl std::fmt::Debug for StateSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateSigner(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_string_is_verified_and_a_changed_one_is_rejected() {
        let (signer, other) = (StateSigner::new().unwrap(), StateSigner::new().unwrap());
        for text in ["", "a=once", "a=once,b=no", "with . a dot"] {
            let token = signer.sign(text);
            assert_eq!(signer.verify(&token), Some(text));
            assert_eq!(other.verify(&token), None, "another server has another key");
            for changed in
                [format!("{token}-TAMPERED"), format!("x{token}"), text.to_owned(), format!("{text}.")]
            {
                assert_eq!(signer.verify(&changed), None, "{changed}");
            }
        }
    }

    /// The first test case of RFC 4231: b0344c61 … 2e32cff7.
    #[test]
    fn the_signature_is_hmac_sha_256() {
        let token = StateSigner::with_key(&[0x0b; 20]).unwrap().sign("Hi There");
        assert_eq!(token, "Hi There.sDRMYdjbOFNcqK_OrwvxK4gdwgDJgz2nJuk3bC4yz_c");
    }
}
