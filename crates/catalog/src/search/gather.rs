//! Reading skills for the index: only those that it does not know, on as many threads as there are.

use crate::entry::{Entry, EntryId};
use crate::identity::AsItIs;
use crate::snapshot::Snapshot;
use metier_files::{FileDigest, ListBounds, RelativePath, SkillDir, Stamp};
use metier_search::{Counter, Key, Segment, SkillText};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

/// Script names that are taken from one skill. Real skills have a dozen.
const MAX_SCRIPTS: usize = 200;

/// What a document looked like when its content was read: its path and its stamp as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Look(pub(super) u64);

impl Look {
    fn of(parts: [&Path; 3], stamp: &Stamp) -> Self {
        let mut hasher = DefaultHasher::new();
        // Bytes, since a path hashes itself part by part.
        for part in parts {
            part.as_os_str().as_encoded_bytes().hash(&mut hasher);
        }
        stamp.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// From how a document looked to its content.
pub(super) type Looks = HashMap<Look, Key, AsItIs>;

/// One skill of a snapshot as the index knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) entry: EntryId,
    pub(super) key: Key,
    /// How its document looked; `None` when it is so young that another look would not tell a change.
    pub(super) look: Option<Look>,
}

/// What was gathered.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) known: Vec<Known>,
    /// What was not known before, one segment for each thread.
    pub(super) segments: Vec<Segment>,
    /// How many documents had to be read.
    pub(super) read: usize,
}

/// Looks at every skill that may be offered. `known` leads from a look to a content, `has` says which contents are indexed.
pub(super) fn gather(snapshot: &Snapshot, known: &Looks, has: &(impl Fn(Key) -> bool + Sync)) -> Gathered {
    let offered: Vec<(EntryId, &Entry)> =
        snapshot.entries().filter(|(_, entry)| entry.is_offered()).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let work = |entries: &[(EntryId, &Entry)]| some(snapshot, entries, known, has);
    let parts: Vec<Gathered> = thread::scope(|scope| {
        let mut shares = shares(&offered, threads).into_iter();
        let first = shares.next().unwrap_or_default();
        let others: Vec<_> = shares.map(|entries| scope.spawn(move || work(entries))).collect();
        let mut parts = vec![work(first)];
        // A worker that panicked would have to be a fault of ours; what it had is read again the next time.
        parts.extend(others.into_iter().filter_map(|other| other.join().ok()));
        parts
    });
    let mut gathered = Gathered::default();
    for part in parts {
        gathered.known.extend(part.known);
        gathered.segments.extend(part.segments);
        gathered.read += part.read;
    }
    gathered
}

/// Parts the skills among threads, in order and so that each has as many bytes to read: one long document is worth many short ones.
fn shares<'o, 'e>(offered: &'o [(EntryId, &'e Entry)], threads: usize) -> Vec<&'o [(EntryId, &'e Entry)]> {
    /// What a document costs before its first byte: opening it, and asking for the scripts beside it.
    const EACH: u64 = 4_096;
    /// A thread costs as much as looking at some dozens of documents.
    const MIN_DOCUMENTS: usize = 64;
    let cost = |entry: &Entry| EACH + entry.stamp.map_or(0, |stamp| stamp.size());
    let threads = threads.min(offered.len().div_ceil(MIN_DOCUMENTS)).max(1) as u64;
    let total: u64 = offered.iter().map(|(_, entry)| cost(entry)).sum();
    let (mut shares, mut start, mut sum) = (Vec::new(), 0, 0);
    for (at, (_, entry)) in offered.iter().enumerate() {
        sum += cost(entry);
        if sum >= total.div_ceil(threads) * (shares.len() as u64 + 1) {
            shares.push(&offered[start..=at]);
            start = at + 1;
        }
    }
    if start < offered.len() {
        shares.push(&offered[start..]);
    }
    shares
}

fn some(
    snapshot: &Snapshot,
    entries: &[(EntryId, &Entry)],
    known: &Looks,
    has: &impl Fn(Key) -> bool,
) -> Gathered {
    let mut gathered = Gathered::default();
    let mut leaves = Vec::new();
    let mut counter = None;
    for &(id, entry) in entries {
        // The stamp is the sweep's, or of now, and older than the bytes that are read here: a change in between leaves an old stamp
        // with new bytes, and is read again.
        let parts = snapshot.document_parts(entry);
        let stamp = entry.stamp.or_else(|| Stamp::of(&parts.iter().collect::<PathBuf>()));
        let look = stamp.as_ref().map(|stamp| Look::of(parts, stamp));
        if let Some(key) = look.and_then(|look| known.get(&look)) {
            gathered.known.push(Known { entry: id, key: *key, look });
            continue;
        }
        let content = Content::read(snapshot, entry);
        gathered.read += 1;
        let key = content.key();
        if !has(key) {
            leaves.push(counter.get_or_insert_with(Counter::default).count(key, &content.text()));
        }
        let is_settled = stamp.is_some_and(|stamp| stamp.is_settled(SystemTime::now()));
        gathered.known.push(Known { entry: id, key, look: look.filter(|_| is_settled) });
    }
    if !leaves.is_empty() {
        gathered.segments.push(Segment::new(leaves));
    }
    gathered
}

/// The text of a skill, for the index and for reasons.
#[derive(Debug)]
pub(super) struct Content<'a> {
    entry: &'a Entry,
    source: String,
    body: usize,
    tags: String,
    scripts: String,
}

impl<'a> Content<'a> {
    /// Reads it. A file that cannot be read, or is broken now, has what its listing says.
    pub(super) fn read(snapshot: &Snapshot, entry: &'a Entry) -> Self {
        let mut content =
            Self { entry, source: String::new(), body: 0, tags: String::new(), scripts: String::new() };
        if let Ok(file) = snapshot.read(entry)
            && let Some(document) = &file.document
        {
            content.body = document.body as usize;
            content.tags = document.manifest.more.tags.join(" ");
            content.source = file.source;
        }
        if let Ok(folder) = snapshot.open(entry) {
            content.scripts = scripts(&folder);
        }
        content
    }

    pub(super) fn key(&self) -> Key {
        // The name may be the folder's and the scripts are files of their own; a byte that is in neither parts them.
        let name = self.entry.name().as_str();
        let whole = [name.as_bytes(), self.scripts.as_bytes(), self.source.as_bytes()].join(&0);
        let mut key = [0; 16];
        key.copy_from_slice(&FileDigest::of(&whole).bytes()[..16]);
        Key(key)
    }

    pub(super) fn text(&self) -> SkillText<'_> {
        SkillText {
            name: self.entry.name().as_str(),
            title: self.entry.title().unwrap_or_default(),
            description: self.entry.description(),
            when_to_use: self.entry.when_to_use().unwrap_or_default(),
            tags: &self.tags,
            body: self.source.get(self.body..).unwrap_or_default(),
            scripts: &self.scripts,
        }
    }
}

fn scripts(folder: &SkillDir) -> String {
    let bounds = ListBounds { entries: MAX_SCRIPTS, depth: 2 };
    let listed = RelativePath::parse("scripts").ok().and_then(|path| folder.folder(&path).ok());
    let Some(listing) = listed.and_then(|scripts| scripts.list(bounds).ok()) else { return String::new() };
    let names: Vec<String> = listing.files.iter().map(|file| file.path.to_string()).collect();
    names.join(" ")
}
