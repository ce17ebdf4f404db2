//! What became of the skills, in the order in which it happened, for all sessions of a program.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use metier_catalog::{Change, News};

/// How many changes are remembered. A session that has not looked for longer than that is told that there were more; a
/// program with thousands of sessions must not grow with each edit of a day. Not thousands of them: each stays for long between
/// much that goes at once, so that each keeps a whole page of memory from being given back.
const MAX_CHANGES: usize = 512;

/// The changes since the skills were opened. One subscription for all sessions: one for each would stay with the watcher until
/// it has something to tell, and a program that begins a session for each request would never be rid of them.
#[derive(Debug)]
pub(super) struct Ledger {
    news: Receiver<News>,
    changes: VecDeque<Change>,
    /// How many were forgotten.
    gone: u64,
}

/// How far somebody has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangeCursor(u64);

/// What somebody has not read yet.
#[derive(Debug, Default)]
pub(super) struct UnreadChanges {
    pub(super) changes: Vec<Change>,
    /// How many more there were, which nobody remembers.
    pub(super) missed: u64,
}

impl Ledger {
    pub(super) fn new(news: Receiver<News>) -> Self {
        Self { news, changes: VecDeque::new(), gone: 0 }
    }

    /// What came after a mark, and the mark from here on.
    pub(super) fn since(&mut self, mark: ChangeCursor) -> (UnreadChanges, ChangeCursor) {
        for news in self.news.try_iter() {
            self.changes.extend(news.changes.iter().cloned());
        }
        let over = self.changes.len().saturating_sub(MAX_CHANGES);
        self.changes.drain(..over);
        self.gone += over as u64;
        let known = usize::try_from(mark.0.saturating_sub(self.gone)).unwrap_or(usize::MAX);
        let unread = UnreadChanges {
            changes: self.changes.iter().skip(known).cloned().collect(),
            missed: self.gone.saturating_sub(mark.0),
        };
        (unread, ChangeCursor(self.gone + self.changes.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use metier_catalog::{ChangeKind, Watching};

    use super::*;

    #[test]
    fn everybody_reads_what_is_new_to_them_and_is_told_what_was_forgotten() {
        let (sender, receiver) = channel();
        let mut ledger = Ledger::new(receiver);
        let tell = |count: usize| {
            let change = |at| Change {
                kind: ChangeKind::Changed,
                name: format!("skill-{at}"),
                path: "/s/SKILL.md".into(),
                state: None,
                reason: None,
            };
            let changes = (0..count).map(change).collect();
            sender.send(News { changes, watching: Watching::Events { folders: 1 } }).unwrap();
        };
        let (unread, early) = ledger.since(ChangeCursor::default());
        assert_eq!((unread.changes.len(), unread.missed), (0, 0));
        tell(3);
        let (unread, late) = ledger.since(early);
        assert_eq!((unread.changes.len(), unread.missed), (3, 0));
        tell(2);
        assert_eq!(ledger.since(late).0.changes.len(), 2);
        assert_eq!(ledger.since(early).0.changes.len(), 5);
        tell(MAX_CHANGES);
        let (unread, end) = ledger.since(early);
        assert_eq!((unread.changes.len(), unread.missed), (MAX_CHANGES, 5));
        assert_eq!(ledger.since(late).0.missed, 2);
        assert_eq!(ledger.since(end).0.changes.len(), 0);
    }
}
