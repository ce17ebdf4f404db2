//! What deleting leaves in the files, and how it is removed.
//!
//! `SQLite` overwrites deleted rows with zeros (`secure_delete`), and the full-text index drops their words. Copies stay all the same:
//!
//! - Balancing a tree moves cells to other pages and leaves the old bytes in the unallocated part of a page.
//! - The full-text index keeps beginnings of words as separators between its pages, also those of words that are gone.
//! - The `-wal` file has older states of pages.

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::store::size;

/// Up to this size the copy that `VACUUM` makes is kept in memory. A larger one would take the memory of the machine, so it goes into a
/// temporary file. `SQLite` makes that file for this user only and unlinks it at once; it holds what is kept, never what was deleted.
const MAX_COPY_IN_MEMORY: u64 = 128 << 20;

/// Whether deleted content can still be found in the files of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// No.
    #[default]
    None,
    /// It can, since another process uses the store. The next [`crate::Store::forget`] removes it.
    WhileOthersRead,
    /// It can, since the store cannot be rewritten: the disk is full, or the store is at its limit. Where there is room again, the next
    /// [`crate::Store::forget`] removes it.
    NoRoom,
}

impl Traces {
    /// Rewrites the store without what was deleted. The deletion itself is committed before.
    pub(crate) fn remove(connection: &Connection) -> rusqlite::Result<Self> {
        let rewritten = rewrite(connection);
        // Also where the rewriting failed: the deleted rows are in the `-wal` file, which is shortened here.
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        match rewritten.and(busy) {
            Ok(0) => Ok(Self::None),
            Ok(_) => Ok(Self::WhileOthersRead),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Ok(Self::WhileOthersRead),
                Some(ErrorCode::DiskFull) => Ok(Self::NoRoom),
                _ => Err(error),
            },
        }
    }
}

fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    let indexes = ["event_words", "record_words"].map(|index| rewrite_index(connection, index));
    // Also where an index could not be rewritten: it needs room, and this makes some.
    let file = rewrite_file(connection);
    indexes.into_iter().fold(file, rusqlite::Result::and)
}

/// Has the full-text index write all its pages again, with separators of words that are there. `optimize` does nothing where the index is
/// one segment, so a row makes a second one; it is deleted again. No event and no record has this number. (`rebuild` has the
/// same effect and takes ten times as long, since it reads every text.)
fn rewrite_index(connection: &Connection, index: &str) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    transaction.execute_batch(&format!(
        "INSERT INTO {index} (rowid, words) VALUES (-1, 'x');
         INSERT INTO {index} ({index}) VALUES ('optimize');
         DELETE FROM {index} WHERE rowid = -1;"
    ))?;
    transaction.commit()
}

fn rewrite_file(connection: &Connection) -> rusqlite::Result<()> {
    if size(connection)? <= MAX_COPY_IN_MEMORY {
        return connection.execute_batch("VACUUM");
    }
    connection.execute_batch("PRAGMA temp_store = FILE")?;
    let vacuumed = connection.execute_batch("VACUUM");
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    vacuumed
}
