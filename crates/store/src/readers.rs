//! Connections that read, each used by one thread at a time.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use crate::StoreError;
use crate::place::{Bounds, Place};
use crate::schema::checked_version;

/// How many connections are kept for the next reader. Each holds a few hundred KiB; making one takes a fraction of a
/// millisecond.
const KEPT: usize = 4;

pub(crate) struct Readers {
    place: Place,
    bounds: Bounds,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(place: Place, bounds: Bounds) -> Self {
        Self { place, bounds, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// A connection that nobody else has.
    pub(crate) fn connection(&self) -> Result<Connection, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self
                .place
                .reader(self.bounds)
                .map_err(|error| StoreError::from_sqlite(self.path(), &error))?,
        };
        // A newer program may have changed the file since it was opened.
        checked_version(&connection, self.path())?;
        Ok(connection)
    }

    /// Reads something and keeps the connection for the next one.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = self.connection()?;
        let answer = read(&connection).map_err(|error| StoreError::from_sqlite(self.path(), &error));
        self.keep(connection);
        answer
    }

    pub(crate) fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(connection);
        }
    }
}
