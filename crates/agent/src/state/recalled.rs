use metier_store::{EventKind, RecordId};

use crate::compaction::cuts;

/// Which records of the memory were put into the conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recalled {
    /// With the user's message before this one.
    before: Vec<RecordId>,
    /// With this one.
    now: Vec<RecordId>,
    /// All whose texts are still in the conversation.
    present: Vec<RecordId>,
}

impl Recalled {
    pub(super) fn apply(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Said { .. } => self.before = std::mem::take(&mut self.now),
            EventKind::Recalled { records, .. } => {
                self.now.extend(records);
                self.present.extend(records);
            }
            EventKind::Compacted { messages, .. } if cuts(messages) => self.present.clear(),
            _ => {}
        }
    }

    /// Records that are not recalled again: they are present, or came with this message or the last one.
    pub(crate) fn excluded(&self) -> Vec<RecordId> {
        let mut all: Vec<RecordId> =
            self.before.iter().chain(&self.now).chain(&self.present).copied().collect();
        all.sort();
        all.dedup();
        all
    }

    /// How many came with this message.
    pub(crate) fn count(&self) -> usize {
        self.now.len()
    }
}
