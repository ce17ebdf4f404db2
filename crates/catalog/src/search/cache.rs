//! What the index knows, as a file: segments, and how each document looked when it was read.
//!
//! The file is only ever a saving. Whatever is wrong with it (another version, a torn write, a stranger's bytes), it is
//! made anew, and nothing else comes of it.

use super::gather::Look;
use metier_files::{read_bounded, write_cache};
use metier_search::{Key, Segment};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// Marks the file; the number changes with its form.
const MAGIC: &[u8; 8] = b"metfind\x01";

/// The largest file that is read. A library of 50,000 skills takes 80 MB; what is larger was not written by us.
const MAX_FILE: u64 = 512 << 20;

/// What the file holds.
#[derive(Debug, Default)]
pub(super) struct Cached {
    pub(super) segments: Vec<Segment>,
    pub(super) looks: Vec<(Look, Key)>,
}

/// The file for these roots. Each set of roots has its own: rarity is counted among the skills that are there.
pub(super) fn file_for<'a>(cache: &Path, roots: impl Iterator<Item = &'a Path>) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    for root in roots {
        root.hash(&mut hasher);
    }
    cache.join("search").join(format!("{:016x}.index", hasher.finish()))
}

/// Reads the file; `None` where there is none that can be used.
pub(super) fn read(path: &Path) -> Option<Cached> {
    let bytes = read_bounded(path, MAX_FILE).ok().flatten()?;
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, mut rest) = rest.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*sum) != self::sum(rest) {
        return None;
    }
    let number = |rest: &mut &[u8]| {
        let (number, behind) = rest.split_first_chunk::<4>()?;
        *rest = behind;
        Some(u32::from_le_bytes(*number) as usize)
    };
    let mut cached = Cached::default();
    for _ in 0..number(&mut rest)? {
        let length = number(&mut rest)?;
        let (segment, behind) = rest.split_at_checked(length)?;
        cached.segments.push(Segment::from_bytes(segment).ok()?);
        rest = behind;
    }
    let count = number(&mut rest)?;
    for look in rest.get(..count.checked_mul(24)?)?.as_chunks::<24>().0 {
        let (number, key) = look.split_first_chunk::<8>()?;
        cached.looks.push((Look(u64::from_le_bytes(*number)), Key(key.try_into().ok()?)));
    }
    Some(cached)
}

/// Writes the file.
pub(super) fn write<'a>(
    path: &Path,
    segments: impl ExactSizeIterator<Item = &'a Segment>,
    looks: &[(Look, Key)],
) -> io::Result<()> {
    let mut body = Vec::new();
    let number = |bytes: &mut Vec<u8>, number: usize| {
        bytes.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    };
    number(&mut body, segments.len());
    for segment in segments {
        let bytes = segment.to_bytes();
        number(&mut body, bytes.len());
        body.extend_from_slice(&bytes);
    }
    number(&mut body, looks.len());
    for (look, key) in looks {
        body.extend_from_slice(&look.0.to_le_bytes());
        body.extend_from_slice(&key.0);
    }
    let mut bytes = Vec::with_capacity(body.len() + 16);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&sum(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    write_cache(path, &bytes)
}

/// Tells a torn file from a whole one. It is no proof against somebody who means harm: who can write into the user's cache
/// can write the sum, too, and all they could change is a rank.
fn sum(bytes: &[u8]) -> u64 {
    /// An odd number with its bits spread evenly: the golden ratio.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    // Four sums at once keep the processor from waiting for each product.
    let mut sums = [1_u64, 2, 3, 4];
    for (at, word) in words.iter().enumerate() {
        let sum = &mut sums[at & 3];
        *sum = (*sum ^ u64::from_le_bytes(*word)).wrapping_mul(SPREAD).rotate_left(29);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let end = u64::from_le_bytes(last) ^ bytes.len() as u64;
    sums.iter().fold(end, |sum, other| (sum ^ other).wrapping_mul(SPREAD).rotate_left(31))
}

#[cfg(test)]
mod tests {
    use super::{read, sum, write};
    use crate::search::gather::Look;
    use metier_search::{Key, Leaf, Segment, SkillText};

    #[test]
    fn what_was_written_is_read_and_what_was_torn_is_not() {
        let workspace = metier_testkit::Workspace::new();
        let path = workspace.join("cache/search/x.index");
        let leaf = Leaf::new(Key([7; 16]), &SkillText { name: "greet", ..SkillText::default() });
        let segment = Segment::new(vec![leaf]);
        write(&path, [&segment].into_iter(), &[(Look(3), Key([7; 16]))]).unwrap();
        let cached = read(&path).unwrap();
        assert_eq!(
            (&cached.segments[..], &cached.looks[..]),
            (&[segment][..], &[(Look(3), Key([7; 16]))][..])
        );

        let whole = metier_files::read_bounded(&path, u64::MAX).unwrap().unwrap();
        for at in 0..whole.len() {
            let mut torn = whole.clone();
            torn[at] ^= 1;
            metier_files::write_cache(&path, &torn).unwrap();
            assert!(read(&path).is_none(), "byte {at}");
        }
        metier_files::write_cache(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(read(&path).is_none());
    }

    #[test]
    fn a_sum_depends_on_every_place() {
        assert_ne!(sum(&[0; 8]), sum(&[0; 16]));
        assert_ne!(sum(b"abcdefgh12345678"), sum(b"12345678abcdefgh"));
        assert_ne!(sum(b"a"), sum(b"a\0"));
    }
}
