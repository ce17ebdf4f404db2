//! Digests: of one file, and of a skill's whole folder.

mod sum;
mod tree;

use std::fmt;
use std::str::FromStr;

use cap_std::fs::Dir;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::sum::DigestParseError;
use self::sum::Sum;
pub(crate) use self::tree::LinksOut;
use crate::{Error, SkillDir};

/// The SHA-256 of one file's bytes, written `sha256:` and 64 hexadecimal digits.
///
/// ```
/// use metier_files::FileDigest;
///
/// let digest = FileDigest::of(b"abc");
/// assert_eq!(
///     digest.to_string(),
///     "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
/// );
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileDigest(Sum);

impl FileDigest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sum::of(bytes))
    }

    /// The digest of everything that a reader gives.
    pub fn of_reader(mut reader: impl std::io::Read) -> std::io::Result<Self> {
        Sum::of_reader(&mut reader).map(Self)
    }

    /// The digest's own bytes.
    pub const fn bytes(&self) -> [u8; 32] {
        self.0.bytes()
    }
}

/// The SHA-256 of everything a skill's folder holds; it binds trust and the lock to what was looked at.
///
/// Covered are every file and link below the folder except a `.source.json` directly in it (an installer's note about
/// the skill, not a part of it) and anything called `.git`. Empty folders are not covered: git does not carry them.
/// The folder's own name and place are not covered, so the same skill has the same digest everywhere.
///
/// # The bytes that are hashed
///
/// First the 22 bytes `metier tree digest v1\n`. Then, for each file and link in the order of their paths (relative to the
/// folder, `/` between the parts, compared byte by byte):
///
/// | bytes | what |
/// |---|---|
/// | 1 | `F` a file, `X` a file with any execute bit, `L` a link |
/// | 8 | length of the path, little endian |
/// | that many | the path |
/// | 8 | length of the content, little endian |
/// | that many | the content: a file's bytes, a link's text |
///
/// Every part that may vary in length says how long it is, so no byte can move between a name and a content, or from one
/// file to the next, and leave the same digest.
///
/// A link is hashed as a link, not followed: what it leads to inside the folder is covered where it is. A link that
/// leads out of the folder, or to something that is left out above, is an error, since its content could change under
/// an unchanged digest. So is anything that is neither file, folder nor link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeDigest(Sum);

impl TreeDigest {
    /// Files and folders that one digest covers. Skills have a dozen; 10,000 is beyond any seen, and reading them still
    /// takes under a second.
    pub const MAX_ENTRIES: usize = 10_000;

    /// Bytes that one digest covers: what is hashed in a fraction of a second, and more than any public skill has.
    pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

    /// Folders inside folders that one digest covers.
    pub const MAX_DEPTH: usize = 64;

    /// Reads every file of the skill and gives the digest of them all.
    pub fn of(skill: &SkillDir) -> Result<Self, Error> {
        Self::with_size(skill, LinksOut::Refused).map(|(digest, _)| digest)
    }

    /// The same with the number of bytes that it covers.
    pub(crate) fn with_size(skill: &SkillDir, links: LinksOut) -> Result<(Self, u64), Error> {
        tree::digest(skill, links, None).map(|(sum, bytes)| (Self(sum), bytes))
    }

    /// The same, and what it covers is copied into an empty folder while it is read: the digest is that of the copy.
    pub(crate) fn copying(skill: &SkillDir, links: LinksOut, into: &Dir) -> Result<(Self, u64), Error> {
        tree::digest(skill, links, Some(into)).map(|(sum, bytes)| (Self(sum), bytes))
    }
}

/// The text of a digest: `sha256:` and its digits.
macro_rules! as_text {
    ($($name:ident)+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = DigestParseError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

as_text! { FileDigest TreeDigest }

impl Serialize for FileDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FileDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
