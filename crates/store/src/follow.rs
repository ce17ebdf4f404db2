//! Events as they come.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::StoreError;
use crate::event::Event;
use crate::query::EventQuery;

/// How often writes are looked for, and an order to stop. A look costs microseconds; a tenth of a second is what people call at once.
const LOOK: Duration = Duration::from_millis(100);

/// How many events are read at a time, so that following an old store does not read all of it into memory.
const PAGE: usize = 256;

/// Events as they come, of this process and of others: first those that are there, then it waits.
///
/// It ends when a [`Stop`] says so, or with an error.
pub struct Follow {
    connection: Connection,
    path: PathBuf,
    query: EventQuery,
    stop: Stop,
    ready: VecDeque<Event>,
    /// The state of the file when it was last found to hold nothing new.
    seen: Option<i64>,
}

/// Ends a [`Follow`] from another thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends it. Whoever waits learns of it within a tenth of a second.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_told(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Follow {
    pub(crate) fn new(connection: Connection, path: PathBuf, query: EventQuery) -> Self {
        let query = EventQuery { limit: Some(PAGE), ..query };
        Self { connection, path, query, stop: Stop::default(), ready: VecDeque::new(), seen: None }
    }

    /// What ends it.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// The next event, if it comes within this time.
    pub fn next_within(&mut self, longest: Duration) -> Option<Result<Event, StoreError>> {
        let end = Instant::now().checked_add(longest);
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.stop.is_told() {
                return None;
            }
            if let Err(error) = self.look() {
                self.stop.stop();
                return Some(Err(StoreError::from_sqlite(&self.path, &error)));
            }
            if !self.ready.is_empty() {
                continue;
            }
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return None;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    fn look(&mut self) -> rusqlite::Result<()> {
        let version = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        if self.seen == Some(version) {
            return Ok(());
        }
        // One state of the file for both questions.
        let transaction = self.connection.unchecked_transaction()?;
        let last: Option<u64> =
            transaction.query_row("SELECT max(position) FROM event", [], |row| row.get(0))?;
        let events = self.query.read(&transaction)?;
        transaction.finish()?;
        if events.len() == PAGE {
            // There may be more, and what was read is all up to its last.
            self.query.after_position = events.last().map_or(0, |event| event.position);
        } else {
            // What a filter left out is not looked at again.
            self.query.after_position = self.query.after_position.max(last.unwrap_or_default());
            self.seen = Some(version);
        }
        self.ready.extend(events);
        Ok(())
    }
}

impl Iterator for Follow {
    type Item = Result<Event, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let event = self.next_within(Duration::from_hours(1));
            if event.is_some() || self.stop.is_told() {
                return event;
            }
        }
    }
}
