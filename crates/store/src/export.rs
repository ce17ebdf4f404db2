//! Everything as lines of JSON.

use std::io::Write;
use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;

use crate::forget::family;
use crate::line::{EXPORT_VERSION, EventLine, HeaderLine, RecordLine, SessionLine, WHAT};
use crate::query::EventQuery;
use crate::{SessionId, StoreError, memory};

/// What is exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Export {
    /// All sessions and all records.
    #[default]
    Everything,
    /// These sessions with their children, and no records.
    Sessions(Vec<SessionId>),
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many sessions.
    pub sessions: usize,
    /// How many events.
    pub events: u64,
    /// How many records.
    pub records: usize,
}

impl Export {
    pub(crate) fn run(
        &self,
        connection: &Connection,
        path: &Path,
        out: &mut dyn Write,
    ) -> Result<Exported, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        // One state of the file from the first line to the last: the counts must hold.
        let transaction = connection.unchecked_transaction().map_err(failed)?;
        let sessions = self.sessions(&transaction, path)?;
        let records = match self {
            Self::Everything => {
                transaction.query_row("SELECT count(*) FROM record", [], |row| row.get(0)).map_err(failed)?
            }
            Self::Sessions(_) => 0,
        };
        let mut exported = Exported { sessions: sessions.len(), records, events: 0 };
        let header = HeaderLine {
            metier: WHAT.to_owned(),
            version: EXPORT_VERSION,
            sessions: sessions.len(),
            records,
        };
        line(out, &header)?;
        for (session, events) in sessions {
            line(out, &SessionLine { session, events })?;
            exported.events += events;
            EventQuery::of(session)
                .each_raw(&transaction, |event| {
                    let (at, name, data) = (event.at.millis(), event.name, event.data);
                    line(out, &EventLine { seq: event.seq, at, name, data })
                })
                .map_err(failed)??;
        }
        if matches!(self, Self::Everything) {
            memory::each(&transaction, |record| line(out, &RecordLine { record })).map_err(failed)??;
        }
        out.flush().map_err(|error| StoreError::Export(error.to_string()))?;
        Ok(exported)
    }

    /// Which sessions, with how many events, in the order of their ids.
    fn sessions(&self, connection: &Connection, path: &Path) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        let all = || -> rusqlite::Result<Vec<(SessionId, u64)>> {
            let mut statement = connection.prepare("SELECT id, last_seq FROM session ORDER BY id")?;
            statement.query_map([], |row| Ok((crate::query::id(row, 0)?, row.get(1)?)))?.collect()
        };
        let all = all().map_err(failed)?;
        let Self::Sessions(wanted) = self else { return Ok(all) };
        let mut chosen = Vec::new();
        for id in wanted {
            let found = family(connection, *id).map_err(failed)?;
            if found.is_empty() {
                return Err(StoreError::NoSession(*id));
            }
            chosen.extend(found.into_iter().map(|(_, id)| id));
        }
        chosen.sort_unstable();
        Ok(all.into_iter().filter(|(id, _)| chosen.binary_search(&id.to_string()).is_ok()).collect())
    }
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> Result<(), StoreError> {
    let mut text = serde_json::to_vec(value).map_err(|error| StoreError::Json(error.to_string()))?;
    text.push(b'\n');
    out.write_all(&text).map_err(|error| StoreError::Export(error.to_string()))
}
