use std::mem;
use std::sync::Arc;

use super::folder::Folder;

/// Folders that are worth handing to another worker. Waking it costs as much as opening about this many documents.
const WORTH_SHARING: usize = if cfg!(test) { 1 } else { 16 };

/// What a name in a listing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    Link,
}

/// Why a folder is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enter {
    /// It has no `SKILL.md`, so it holds skills, or its document is spelled otherwise.
    Group,
    /// It is a skill that was found, and skills are looked for inside.
    Skill,
}

/// The folders and links in a folder: all names in one piece of memory, since there are many.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    start: u32,
    length: u32,
    kind: EntryKind,
}

impl Names {
    pub(super) fn push(&mut self, name: &[u8], kind: EntryKind) {
        // Lists are handed on long before they reach four gigabytes.
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let length = u32::try_from(name.len()).unwrap_or_default();
        self.bytes.extend_from_slice(name);
        self.items.push(Item { start, length, kind });
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<(&[u8], EntryKind)> {
        let item = self.items.get(index)?;
        Some((text(&self.bytes, *item), item.kind))
    }

    pub(super) fn sort(&mut self) {
        let Self { bytes, items } = self;
        items.sort_unstable_by(|a, b| text(bytes, *a).cmp(text(bytes, *b)));
    }
}

fn text(bytes: &[u8], item: Item) -> &[u8] {
    bytes.get(item.start as usize..).and_then(|rest| rest.get(..item.length as usize)).unwrap_or_default()
}

/// Some of the folders in one folder, and how far a worker is with them.
///
/// All of them are asked for their document first; then those that turned out to hold skills are entered one after the
/// other. So the number of open folders is that of the depth, and skills are found before the groups beside them, which
/// matters where the bound on entries cuts the walk short.
pub(super) struct Frame<'a> {
    pub(super) folder: Arc<Folder<'a>>,
    pub(super) names: Arc<Names>,
    next: usize,
    end: usize,
    groups: Vec<(usize, Enter)>,
    entered: usize,
}

impl<'a> Frame<'a> {
    pub(super) fn new(folder: Arc<Folder<'a>>, names: Names) -> Self {
        let end = names.len();
        Self { folder, names: Arc::new(names), next: 0, end, groups: Vec::new(), entered: 0 }
    }

    /// The next folder to ask for its document.
    pub(super) fn next_entry(&mut self) -> Option<usize> {
        let next = self.next;
        (next < self.end).then(|| {
            self.next += 1;
            next
        })
    }

    /// Notes a folder to enter.
    pub(super) fn note(&mut self, index: usize, enter: Enter) {
        self.groups.push((index, enter));
    }

    /// The next folder to enter.
    pub(super) fn next_group(&mut self) -> Option<(usize, Enter)> {
        let group = self.groups.get(self.entered).copied()?;
        self.entered += 1;
        Some(group)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next == self.end && self.entered == self.groups.len()
    }

    /// Splits off half of what is left, if that is enough to be worth it. A folder to enter is always worth it, since
    /// anything may be in it.
    pub(super) fn split(&mut self) -> Option<Self> {
        let entries = self.end - self.next;
        let groups = self.groups.len() - self.entered;
        let (next, end, theirs) = if entries >= 2 * WORTH_SHARING {
            let middle = self.next + entries / 2;
            let end = mem::replace(&mut self.end, middle);
            (middle, end, Vec::new())
        } else if groups >= 2 {
            (self.end, self.end, self.groups.split_off(self.entered + groups.div_ceil(2)))
        } else {
            return None;
        };
        let (folder, names) = (Arc::clone(&self.folder), Arc::clone(&self.names));
        Some(Self { folder, names, next, end, groups: theirs, entered: 0 })
    }
}
