//! The form of the file, by number.
//!
//! Every change of the form is a file below `migrations/`, applied in order, each in a transaction of its own. Files that were
//! released are never changed. No copy of the old file is kept: a migration that fails leaves it as it was, and a copy would
//! keep what the user has since forgotten.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StoreError;

/// The migrations, in order. The version of a file is how many of them it has seen.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_events.sql"),
    include_str!("migrations/0002_memory.sql"),
    include_str!("migrations/0003_words.sql"),
    include_str!("migrations/0004_over_time.sql"),
];

/// The newest form that this program knows.
pub const SCHEMA_VERSION: u32 = {
    assert!(MIGRATIONS.len() < 1_000, "the length of a list of files");
    #[expect(clippy::cast_possible_truncation, reason = "held by the line above")]
    {
        MIGRATIONS.len() as u32
    }
};

/// The letters `mtst`, by which a file says whose it is.
const APPLICATION: u32 = 0x6d74_7374;

/// Brings a file to the newest form.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    loop {
        // Taken before the version is looked at: two processes may open a new file at once.
        let transaction = Transaction::new(connection, TransactionBehavior::Immediate)
            .map_err(|error| StoreError::from_sqlite(path, &error))?;
        let version = checked_version(&transaction, path)?;
        let Some(migration) = MIGRATIONS.get(version as usize) else {
            return Ok(());
        };
        let apply = || {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", version + 1)?;
            transaction.commit()
        };
        apply().map_err(|error| StoreError::from_sqlite(path, &error))?;
    }
}

/// The version of a file that is ours and not newer than we are.
pub(crate) fn checked_version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    let number = |name: &str| {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).map_err(failed)
    };
    let version = number("user_version")?;
    let application = number("application_id")?;
    if version == 0 && application == 0 {
        // A new file, or one of somebody who sets neither number.
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        return if tables == 0 { Ok(0) } else { Err(StoreError::NotAStore(path.to_owned())) };
    }
    if application != i64::from(APPLICATION) {
        return Err(StoreError::NotAStore(path.to_owned()));
    }
    let found = u32::try_from(version).unwrap_or(u32::MAX);
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    Ok(found)
}
