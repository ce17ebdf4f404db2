//! Which events, and how they are read.

use std::convert::Infallible;

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, Row, params_from_iter};
use serde_json::Value;

use crate::event::{self, Event};
use crate::prepared::put_large;
use crate::{SessionId, Timestamp};

/// Which events to read. Those of one session come in the order of the session, all others in the order of the file.
///
/// ```
/// use metier_store::{EventQuery, SessionId};
///
/// let id = SessionId::new()?;
/// let calls = EventQuery::of(id).kind("called").kind("finished");
/// # Ok::<(), metier_store::StoreError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct EventQuery {
    pub(crate) session: Option<SessionId>,
    /// Only what comes after this one of the file.
    pub(crate) after_position: u64,
    pub(crate) kinds: Vec<String>,
    /// So many at most. Without it, all of them.
    pub(crate) limit: Option<usize>,
}

impl EventQuery {
    /// Events of every session.
    pub fn all() -> Self {
        Self::default()
    }

    /// Events of one session.
    pub fn of(session: SessionId) -> Self {
        Self { session: Some(session), ..Self::default() }
    }

    /// Only this kind, by the name that it has in JSON. Several add up.
    pub fn kind(mut self, name: impl Into<String>) -> Self {
        self.kinds.push(name.into());
        self
    }

    fn sql(&self) -> (String, Vec<Parameter>) {
        let mut sql = "SELECT e.position, s.id, e.seq, e.at, e.type, e.blobs, e.data
             FROM event e JOIN session s ON s.number = e.session WHERE 1"
            .to_owned();
        let mut parameters = Vec::new();
        let mut add = |condition: &str, parameter: Parameter| {
            sql.push_str(condition);
            parameters.push(parameter);
        };
        if let Some(session) = self.session {
            add(" AND e.session = (SELECT number FROM session WHERE id = ?)", session.to_string().into());
        }
        if self.after_position > 0 {
            add(" AND e.position > ?", whole(self.after_position));
        }
        for (place, kind) in self.kinds.iter().enumerate() {
            add(if place == 0 { " AND e.type IN (?" } else { ", ?" }, kind.clone().into());
        }
        if !self.kinds.is_empty() {
            sql.push(')');
        }
        sql.push_str(if self.session.is_some() { " ORDER BY e.seq" } else { " ORDER BY e.position" });
        if let Some(limit) = self.limit {
            sql.push_str(" LIMIT ?");
            parameters.push(whole(limit as u64));
        }
        (sql, parameters)
    }

    /// Reads them.
    pub(crate) fn read(&self, connection: &Connection) -> rusqlite::Result<Vec<Event>> {
        let mut events = Vec::new();
        let read = self.each_raw(connection, |raw| {
            let RawEvent { position, session, seq, at, name, data } = raw;
            events.push(Event { position, session, seq, at, kind: event::put_together(&name, data) });
            Ok::<(), Infallible>(())
        })?;
        let Ok(()) = read;
        Ok(events)
    }

    /// Hands each one on as it is kept, without making anything of it, until one is refused.
    pub(crate) fn each_raw<E>(
        &self,
        connection: &Connection,
        mut take: impl FnMut(RawEvent) -> Result<(), E>,
    ) -> rusqlite::Result<Result<(), E>> {
        let (sql, parameters) = self.sql();
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            if let Err(error) = take(RawEvent::read(connection, row)?) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}

/// An event as it is kept, with its large texts back in their places.
pub(crate) struct RawEvent {
    position: u64,
    session: SessionId,
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl RawEvent {
    fn read(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Self> {
        let position: u64 = row.get(0)?;
        let blobs: i64 = row.get(5)?;
        let text = row.get_ref(6)?.as_str()?;
        // What is not JSON is shown as the text that it is: one row must not hide the others.
        let mut data = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        if blobs > 0 {
            let mut statement = connection.prepare_cached(
                "SELECT r.pointer, b.text FROM event_blob r JOIN blob b ON b.number = r.blob WHERE r.position = ?1",
            )?;
            let mut rows = statement.query([position])?;
            while let Some(row) = rows.next()? {
                put_large(&mut data, row.get_ref(0)?.as_str()?, row.get(1)?);
            }
        }
        Ok(Self {
            position,
            session: id(row, 1)?,
            seq: row.get(2)?,
            at: Timestamp::from_millis(row.get(3)?),
            name: row.get(4)?,
            data,
        })
    }
}

/// An id in a row. One that is none was not written by us.
pub(crate) fn id<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// A count as `SQLite` has it. What is larger than it can count is larger than anything in the file.
pub(crate) fn whole(count: u64) -> Parameter {
    Parameter::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}
