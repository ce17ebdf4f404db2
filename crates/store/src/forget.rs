//! Deleting, so that nothing is left.
//!
//! Rows are overwritten with zeros (`secure_delete`), and large texts that no event holds any more are deleted with them. After the
//! commit the files are rewritten: see [`Traces`].

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::{RecordId, SessionId, StoreError, Timestamp, Traces};

/// What is to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// A session, its children and theirs, and the records that were kept in them.
    Session(SessionId),
    /// All records of one skill: of one origin, or of all that have this name.
    SkillMemory {
        /// Its name.
        skill: String,
        /// Where it is from.
        origin: Option<String>,
    },
    /// One record.
    Record(RecordId),
    /// Sessions in which nothing has happened since, children included, and records that are older.
    Before(Timestamp),
    /// All of it.
    Everything,
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// How many sessions.
    pub sessions: usize,
    /// How many events.
    pub events: usize,
    /// How many records.
    pub records: usize,
    /// How many large texts that nothing else held.
    pub texts: usize,
    /// Whether it is gone from the files.
    pub traces: Traces,
}

impl Forget {
    /// Deletes all of these in one transaction. Then the files are rewritten, also where nothing was deleted: an earlier deletion may have
    /// left traces, since it was killed or another process was in its way.
    pub(crate) fn run(
        orders: &[Self],
        connection: &mut Connection,
        path: &Path,
    ) -> Result<Forgotten, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        let transaction = Transaction::new(connection, TransactionBehavior::Immediate).map_err(failed)?;
        // Before the first deletion: a session may be named together with its parent, which takes it along.
        for order in orders {
            if let Self::Session(id) = order
                && family(&transaction, *id).map_err(failed)?.is_empty()
            {
                return Err(StoreError::NoSession(*id));
            }
        }
        let mut forgotten = Forgotten::default();
        for order in orders {
            order.delete(&transaction, &mut forgotten).map_err(failed)?;
        }
        delete_texts(&transaction, &mut forgotten).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        forgotten.traces = Traces::remove(connection).map_err(failed)?;
        Ok(forgotten)
    }

    fn delete(&self, transaction: &Connection, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
        match self {
            Self::Session(id) => {
                for (number, id) in family(transaction, *id)? {
                    forgotten.records += delete_records(transaction, "session = ?1", &id)?;
                    delete_session(transaction, number, forgotten)?;
                }
            }
            Self::SkillMemory { skill, origin: None } => {
                forgotten.records += delete_records(transaction, "skill = ?1", skill)?;
            }
            Self::SkillMemory { skill, origin: Some(origin) } => {
                // One parameter: both values as a JSON list.
                let both = serde_json::json!([skill, origin]).to_string();
                let condition = "skill = json_extract(?1, '$[0]') AND origin = json_extract(?1, '$[1]')";
                forgotten.records += delete_records(transaction, condition, &both)?;
            }
            Self::Record(id) => {
                forgotten.records += delete_records(transaction, "id = ?1", &id.to_string())?;
            }
            Self::Before(moment) => {
                for tree in trees(transaction)?.into_iter().filter(|tree| tree.changed < moment.millis()) {
                    delete_tree(transaction, &tree, forgotten)?;
                }
                let before = moment.millis().to_string();
                forgotten.records += delete_records(transaction, "at < CAST(?1 AS INTEGER)", &before)?;
            }
            Self::Everything => {
                let sessions: Vec<i64> = transaction
                    .prepare("SELECT number FROM session")?
                    .query_map([], |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?;
                for number in sessions {
                    delete_session(transaction, number, forgotten)?;
                }
                forgotten.records += delete_records(transaction, "?1 = ''", "")?;
            }
        }
        Ok(())
    }
}

/// A session without a parent, and the latest change in it and below it.
struct Tree {
    id: SessionId,
    changed: u64,
}

/// All trees. A child whose parent is gone is a tree by itself. So is each session of a circle, which only an imported
/// file can make.
fn trees(connection: &Connection) -> rusqlite::Result<Vec<Tree>> {
    let mut statement = connection.prepare(
        "WITH RECURSIVE tree (root, id, changed) AS (
            SELECT s.id, s.id, s.changed FROM session s
            WHERE s.parent IS NULL OR NOT EXISTS (SELECT 1 FROM session p WHERE p.id = s.parent)
            UNION
            SELECT tree.root, c.id, c.changed FROM session c JOIN tree ON c.parent = tree.id
         )
         SELECT root, max(changed) AS latest FROM tree GROUP BY root
         UNION ALL
         SELECT id, changed FROM session WHERE id NOT IN (SELECT id FROM tree)",
    )?;
    let rows =
        statement.query_map([], |row| Ok(Tree { id: crate::query::id(row, 0)?, changed: row.get(1)? }))?;
    rows.collect()
}

/// A session and everything below it. The union ends where a stranger's file has made a circle.
pub(crate) fn family(connection: &Connection, id: SessionId) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare(
        "WITH RECURSIVE family (number, id) AS (
            SELECT number, id FROM session WHERE id = ?1
            UNION
            SELECT c.number, c.id FROM session c JOIN family ON c.parent = family.id
         )
         SELECT number, id FROM family ORDER BY id",
    )?;
    let rows = statement.query_map([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn delete_tree(connection: &Connection, tree: &Tree, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    for (number, _) in family(connection, tree.id)? {
        delete_session(connection, number, forgotten)?;
    }
    Ok(())
}

fn delete_session(connection: &Connection, number: i64, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM event_words WHERE rowid IN (SELECT position FROM event WHERE session = ?1)",
        "DELETE FROM event_blob WHERE position IN (SELECT position FROM event WHERE session = ?1)",
        "DELETE FROM session_skill WHERE session = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([number])?;
    }
    forgotten.events +=
        connection.prepare_cached("DELETE FROM event WHERE session = ?1")?.execute([number])?;
    forgotten.sessions +=
        connection.prepare_cached("DELETE FROM session WHERE number = ?1")?.execute([number])?;
    Ok(())
}

/// `condition` is a constant of this file. What a user typed is only ever the parameter.
fn delete_records(connection: &Connection, condition: &str, parameter: &str) -> rusqlite::Result<usize> {
    let numbers: Vec<i64> = connection
        .prepare(&format!("SELECT number FROM record WHERE {condition}"))?
        .query_map([parameter], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for number in &numbers {
        for sql in [
            "DELETE FROM record_words WHERE rowid = ?1",
            "DELETE FROM record_tag WHERE record = ?1",
            "DELETE FROM record WHERE number = ?1",
        ] {
            connection.prepare_cached(sql)?.execute(params![number])?;
        }
    }
    Ok(numbers.len())
}

fn delete_texts(connection: &Connection, forgotten: &mut Forgotten) -> rusqlite::Result<()> {
    let any: Option<i64> =
        connection.query_row("SELECT 1 FROM blob LIMIT 1", [], |row| row.get(0)).optional()?;
    if any.is_some() && forgotten.events > 0 {
        forgotten.texts += connection.execute(
            "DELETE FROM blob WHERE NOT EXISTS (SELECT 1 FROM event_blob r WHERE r.blob = blob.number)",
            [],
        )?;
    }
    Ok(())
}
