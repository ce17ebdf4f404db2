//! A stranger's lines, taken whole or not at all.

use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use serde::de::DeserializeOwned;

use crate::line::{EXPORT_VERSION, EventLine, HeaderLine, RecordLine, SessionLine, WHAT};
use crate::memory;
use crate::prepared::{MAX_EVENT, MAX_NAME, Prepared};
use crate::writer::{Open, insert};
use crate::{Record, SessionId, StoreError, Timestamp};

/// The longest line. Written as JSON, one byte of an event can become six.
const MAX_LINE: usize = 6 * MAX_EVENT + 4096;

/// How much is read in one import. All of it is in memory until it is known to be right; larger histories are exported by
/// session.
pub const MAX_IMPORT: usize = 256 << 20;

/// What was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// How many sessions are new.
    pub sessions: usize,
    /// How many events they have.
    pub events: usize,
    /// How many records are new.
    pub records: usize,
    /// How many sessions and records were here already. They were left as they are.
    pub known: usize,
    /// Those of them that have more events in the import than here.
    pub behind: Vec<SessionId>,
}

/// What a file holds, read and judged.
#[derive(Default)]
pub(crate) struct Parcel {
    sessions: Vec<(SessionId, Vec<Prepared>)>,
    records: Vec<Record>,
}

impl Parcel {
    /// Reads a file to its end.
    pub(crate) fn read(from: &mut dyn BufRead) -> Result<Self, StoreError> {
        let mut lines = Lines { from, number: 0, total: 0 };
        let Some(first) = lines.next()? else {
            return Err(lines.wrong("the file is empty; an export begins with a line about itself"));
        };
        let header: HeaderLine = lines.parse(&first, "the first line of an export")?;
        if header.metier != WHAT {
            return Err(lines.wrong("this is no export of a store"));
        }
        if header.version > EXPORT_VERSION {
            let version = header.version;
            return Err(lines.wrong(&format!(
                "the export has version {version}, and this metier knows versions up to {EXPORT_VERSION}; use the newer metier that wrote it"
            )));
        }
        let mut parcel = Self::default();
        let mut seen = HashSet::new();
        for _ in 0..header.sessions {
            let text = lines.expect("a session")?;
            let line: SessionLine = lines.parse(&text, "a session")?;
            if !seen.insert(line.session) {
                return Err(lines.wrong(&format!("the session `{}` is there twice", line.session)));
            }
            parcel.sessions.push((line.session, lines.events(&line)?));
        }
        for _ in 0..header.records {
            let text = lines.expect("a record")?;
            let line: RecordLine = lines.parse(&text, "a record")?;
            let record = line.record;
            memory::check(&record).map_err(|error| lines.wrong(&error.to_string()))?;
            if record.at > Timestamp::LATEST {
                return Err(lines.wrong("`at` is later than the year 9999"));
            }
            parcel.records.push(record);
        }
        if lines.next()?.is_some() {
            return Err(lines.wrong("there is more than the first line says"));
        }
        Ok(parcel)
    }

    /// Writes all of it in one transaction.
    pub(crate) fn write(self, connection: &mut Connection, path: &Path) -> Result<Imported, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        let transaction = Transaction::new(connection, TransactionBehavior::Immediate).map_err(failed)?;
        let mut imported = Imported::default();
        for (session, events) in self.sessions {
            let here: Option<u64> = transaction
                .query_row("SELECT last_seq FROM session WHERE id = ?1", [session.to_string()], |row| {
                    row.get(0)
                })
                .optional()
                .map_err(failed)?;
            if let Some(last) = here {
                imported.known += 1;
                if events.len() as u64 > last {
                    imported.behind.push(session);
                }
                continue;
            }
            imported.sessions += 1;
            imported.events += events.len();
            let mut open = Open::New;
            for event in events {
                insert(&transaction, session, open, &event).map_err(failed)??;
                open = Open::Existing;
            }
            transaction
                .execute("UPDATE session SET imported = 1 WHERE id = ?1", [session.to_string()])
                .map_err(failed)?;
        }
        for record in &self.records {
            let is_new = memory::insert(&transaction, record).map_err(failed)?;
            *(if is_new { &mut imported.records } else { &mut imported.known }) += 1;
        }
        transaction.commit().map_err(failed)?;
        Ok(imported)
    }
}

struct Lines<'a> {
    from: &'a mut dyn BufRead,
    number: usize,
    total: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.number += 1;
        let mut text = Vec::new();
        let most = MAX_LINE.min(MAX_IMPORT - self.total);
        let read = (&mut *self.from)
            .take(most as u64 + 1)
            .read_until(b'\n', &mut text)
            .map_err(|error| self.wrong(&format!("cannot be read: {error}")))?;
        if read > most {
            let limit = if most == MAX_LINE { "a line" } else { "an import" };
            let bytes = if most == MAX_LINE { MAX_LINE } else { MAX_IMPORT };
            return Err(self.wrong(&format!("{limit} may have {bytes} bytes, and there are more")));
        }
        self.total += read;
        Ok((read > 0).then_some(text))
    }

    fn expect(&mut self, what: &str) -> Result<Vec<u8>, StoreError> {
        self.next()?.ok_or_else(|| self.wrong(&format!("the file ends where {what} should be; it was cut")))
    }

    fn parse<T: DeserializeOwned>(&self, text: &[u8], what: &str) -> Result<T, StoreError> {
        serde_json::from_slice(text).map_err(|error| self.wrong(&format!("this is not {what} ({error})")))
    }

    fn events(&mut self, line: &SessionLine) -> Result<Vec<Prepared>, StoreError> {
        if line.events == 0 {
            return Err(self.wrong("a session has at least the event with which it began"));
        }
        let mut events = Vec::new();
        for seq in 1..=line.events {
            let text = self.expect("an event")?;
            let event: EventLine = self.parse(&text, "an event")?;
            if event.seq != seq {
                return Err(self.wrong(&format!("`seq` is {}, and should be {seq}", event.seq)));
            }
            if (event.name == "started") != (seq == 1) {
                return Err(self.wrong("a session begins with `started`, and only begins with it"));
            }
            if event.at > Timestamp::LATEST.millis() {
                return Err(self.wrong("`at` is later than the year 9999"));
            }
            let letters = event.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if event.name.is_empty() || event.name.len() > MAX_NAME || !letters {
                return Err(self.wrong("`type` is a name of small letters and `_`"));
            }
            let at = Timestamp::from_millis(event.at);
            let prepared = Prepared::foreign(at, event.name, event.data);
            events.push(prepared.map_err(|error| self.wrong(&error.to_string()))?);
        }
        Ok(events)
    }

    fn wrong(&self, reason: &str) -> StoreError {
        StoreError::Import { line: self.number, reason: reason.to_owned() }
    }
}
