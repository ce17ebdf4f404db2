use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// What both kinds of digest are made of. Not public, so that one kind is never taken for the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Sum([u8; 32]);

/// Why a text is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is `sha256:` and 64 lower-case hexadecimal digits")]
pub struct DigestParseError;

const PREFIX: &str = "sha256:";

impl Sum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(super) fn of_reader(reader: &mut impl Read) -> io::Result<Self> {
        // Large enough that the system calls cost nothing beside the sum.
        let mut buffer = vec![0; 128 << 10];
        let mut hasher = Sha256::new();
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(Self::finish(hasher)),
                Ok(read) => hasher.update(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) const fn bytes(&self) -> [u8; 32] {
        self.0
    }

    pub(super) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl FromStr for Sum {
    type Err = DigestParseError;

    /// Only the form that is written is read: a digest is compared as text in lock files, so it has one spelling.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(DigestParseError)?.as_bytes();
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(DigestParseError);
        }
        let mut sum = [0; 32];
        for (byte, [high, low]) in sum.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(sum))
    }
}

fn digit(byte: u8) -> Result<u8, DigestParseError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(DigestParseError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_written_form_is_read() {
        let good = Sum::of(b"");
        let text = good.to_string();
        assert_eq!(text, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert!(text.parse::<Sum>() == Ok(good));
        for bad in [
            "",
            "sha256:",
            &text[7..],
            &text[..70],
            &text.to_uppercase(),
            &text.replace("sha256", "sha512"),
            &text.replace('e', "E"),
            &text.replace('e', "g"),
            &format!("{text}00"),
            &format!("{text}0"),
            &format!(" {text}"),
        ] {
            assert!(bad.parse::<Sum>().is_err(), "{bad:?}");
        }
    }
}
