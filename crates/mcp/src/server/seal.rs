//! A mark on what a client keeps for the server between two rounds.

use std::io;

use metier_files::FileDigest;

/// The block of SHA-256, which HMAC fills up to.
const BLOCK: usize = 64;

/// Bytes of the key: as many as the digest has.
const KEY: usize = 32;

/// Marks texts so that one that was changed, or is somebody else's, is known (HMAC with SHA-256). The key lives as long as the
/// server: a question that was asked before a restart is asked again.
pub(super) struct Seal {
    inner: [u8; BLOCK],
    outer: [u8; BLOCK],
}

impl Seal {
    /// A seal with a key of its own. It fails only where the system gives no random bytes.
    pub(super) fn new() -> io::Result<Self> {
        let mut key = [0_u8; KEY];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        Ok(Self::with(&key))
    }

    fn with(key: &[u8; KEY]) -> Self {
        let padded = |pad: u8| {
            let mut block = [pad; BLOCK];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            block
        };
        Self { inner: padded(0x36), outer: padded(0x5c) }
    }

    /// A text with its mark behind it.
    pub(super) fn close(&self, text: &str) -> String {
        format!("{text}.{}", self.mark(text))
    }

    /// The text, if its mark is ours.
    pub(super) fn open<'a>(&self, sealed: &'a str) -> Option<&'a str> {
        let (text, mark) = sealed.rsplit_once('.')?;
        let own = self.mark(text);
        // The same time whatever is given, so that nobody learns by the clock how much of a mark was right.
        let differing = own.bytes().zip(mark.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        (own.len() == mark.len() && differing == 0).then_some(text)
    }

    fn mark(&self, text: &str) -> String {
        let inner = FileDigest::of(&[self.inner.as_slice(), text.as_bytes()].concat());
        let outer = FileDigest::of(&[self.outer.as_slice(), inner.bytes().as_slice()].concat());
        outer.to_string().trim_start_matches("sha256:").to_owned()
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_and_a_changed_one_does_not() {
        let (seal, other) = (Seal::new().unwrap(), Seal::new().unwrap());
        for text in ["", "a=once", "a=once,b=no", "with . a dot"] {
            let sealed = seal.close(text);
            assert_eq!(seal.open(&sealed), Some(text));
            assert_eq!(other.open(&sealed), None, "another server's is none of ours");
            for changed in
                [format!("{sealed}-TAMPERED"), format!("x{sealed}"), text.to_owned(), format!("{text}.")]
            {
                assert_eq!(seal.open(&changed), None, "{changed}");
            }
        }
    }

    /// The first test case of RFC 4231, its key filled up with zeros, which are no difference to HMAC.
    #[test]
    fn the_mark_is_the_hmac_of_the_rfc() {
        let mut key = [0_u8; KEY];
        key[..20].fill(0x0b);
        let mark = Seal::with(&key).mark("Hi There");
        assert_eq!(mark, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }
}
