//! What the index knows, as a file: segments, and how each document looked when it was read.
//!
//! The file is only ever a saving. Whatever is wrong with it (another version, a torn write, a stranger's bytes), it is
//! made anew, and nothing else comes of it.

use super::gather::Look;
use metier_files::{HeldFile, Mode, private_folder, write_atomic};
use metier_search::{Key, Lists, Segment, Shelf};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Marks the file; the number changes with its form.
const MAGIC: &[u8; 8] = b"metfind\x02";

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

/// Reads the file, but for the lists of its segments, which stay there; `None` where there is none that can be used.
pub(super) fn read(path: &Path) -> Option<Cached> {
    let file = Arc::new(HeldFile::open(path).ok().flatten()?);
    let start = file.read_at(0, HEADER).ok()?;
    let mut rest = start.strip_prefix(MAGIC)?;
    let sum = take::<8>(&mut rest).map(u64::from_le_bytes)?;
    let length = number(&mut rest)?;
    let head = file.read_at(HEADER as u64, length).ok()?;
    if self::sum(&head) != sum {
        return None;
    }
    let mut rest = head.as_slice();
    let mut lists_at = (HEADER + length) as u64;
    let mut cached = Cached::default();
    for _ in 0..number(&mut rest)? {
        let (head, lists) = (number(&mut rest)?, number(&mut rest)?);
        let (segment, behind) = rest.split_at_checked(head)?;
        let shelf = Arc::new(InFile { file: Arc::clone(&file), at: lists_at });
        let segment = Segment::from_bytes(segment, Lists::Shelved { shelf, length: lists }).ok()?;
        cached.segments.push(segment);
        rest = behind;
        lists_at += lists as u64;
    }
    if lists_at != file.size() {
        return None;
    }
    let count = number(&mut rest)?;
    for look in rest.get(..count.checked_mul(24)?)?.as_chunks::<24>().0 {
        let (number, key) = look.split_first_chunk::<8>()?;
        cached.looks.push((Look(u64::from_le_bytes(*number)), Key(key.try_into().ok()?)));
    }
    Some(cached)
}

/// The mark, the sum and the length of what follows.
const HEADER: usize = 8 + 8 + 4;

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (part, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*part)
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    take::<4>(rest).map(|number| u32::from_le_bytes(number) as usize)
}

/// The lists of a segment in the file.
#[derive(Debug)]
struct InFile {
    file: Arc<HeldFile>,
    at: u64,
}

impl Shelf for InFile {
    fn fetch(&self, from: usize, to: usize) -> Vec<u8> {
        self.file.read_at(self.at + from as u64, to.saturating_sub(from)).unwrap_or_default()
    }
}

/// Writes the file. It is written through to the disk: the sum covers everything but the lists, which are not read when it is opened.
pub(super) fn write<'a>(
    path: &Path,
    segments: impl ExactSizeIterator<Item = &'a Segment>,
    looks: &[(Look, Key)],
) -> io::Result<()> {
    let (mut head, mut all_lists) = (Vec::new(), Vec::new());
    let number = |bytes: &mut Vec<u8>, number: usize| {
        bytes.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    };
    number(&mut head, segments.len());
    for segment in segments {
        let (bytes, lists) = segment.to_bytes();
        number(&mut head, bytes.len());
        number(&mut head, lists.len());
        head.extend_from_slice(&bytes);
        all_lists.extend_from_slice(&lists);
    }
    number(&mut head, looks.len());
    for (look, key) in looks {
        head.extend_from_slice(&look.0.to_le_bytes());
        head.extend_from_slice(&key.0);
    }
    let mut bytes = Vec::with_capacity(HEADER + head.len() + all_lists.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&sum(&head).to_le_bytes());
    number(&mut bytes, head.len());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(&all_lists);
    path.parent().map_or(Ok(()), private_folder)?;
    write_atomic(path, &bytes, Mode::Private)
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
    use metier_files::{Mode, write_atomic};
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
        let lists = cached.segments[0].to_bytes().1.len();
        drop(cached);
        for at in 0..whole.len() - lists {
            let mut torn = whole.clone();
            torn[at] ^= 1;
            write_atomic(&path, &torn, Mode::Private).unwrap();
            assert!(read(&path).is_none(), "byte {at}");
        }
        write_atomic(&path, &whole[..whole.len() - 1], Mode::Private).unwrap();
        assert!(read(&path).is_none());
    }

    #[test]
    fn a_sum_depends_on_every_place() {
        assert_ne!(sum(&[0; 8]), sum(&[0; 16]));
        assert_ne!(sum(b"abcdefgh12345678"), sum(b"12345678abcdefgh"));
        assert_ne!(sum(b"a"), sum(b"a\0"));
    }
}
