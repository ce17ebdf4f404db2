use std::fmt;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use rusqlite::{Connection, OptionalExtension};

use crate::export::{Export, Exported};
use crate::follow::Follow;
use crate::forget::{Forget, Forgotten};
use crate::import::{Imported, Parcel};
use crate::lease::{Lease, Leases};
use crate::memory::{self, Recall, Record};
use crate::place::{Bounds, Place};
use crate::prepared::Prepared;
use crate::query::EventQuery;
use crate::readers::Readers;
use crate::session_id::as_written;
use crate::stats::{Routed, SkillStats, StatsQuery};
use crate::summary::{SessionFilter, Summary};
use crate::writer::{Append, Appended, Open, Writer};
use crate::{Event, EventKind, SessionId, Started, StoreError, Timestamp, schema};

/// How many sessions an ambiguous name lists.
const LISTED: usize = 8;

/// From how many letters the end of an id is taken for it: fewer would often be somebody else's.
const MIN_END: usize = 4;

/// What happened, in one file. Handles are cheap to copy and share one writer; the last one that goes writes what was handed
/// in and closes the file.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    // In this order: the writer ends last, since it keeps a store in memory alive.
    readers: Readers,
    writer: Writer,
    leases: Leases,
}

impl Store {
    /// The store in the file at `path`. Where nothing is, a new one is made, which only the user may read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_bounded(path, Bounds::default())
    }

    /// The same, with other bounds.
    pub fn open_bounded(path: &Path, bounds: Bounds) -> Result<Self, StoreError> {
        Self::start(Place::file(path)?, bounds)
    }

    /// A store that is gone with its last handle.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(Place::Memory(format!("metier-{}", SessionId::new()?)), Bounds::default())
    }

    fn start(place: Place, bounds: Bounds) -> Result<Self, StoreError> {
        let path = place.path().to_owned();
        let failed = |error: rusqlite::Error| StoreError::from_sqlite(&path, &error);
        let mut connection = place.writer(bounds).map_err(failed)?;
        schema::migrate(&mut connection, &path)?;
        bound(&connection, bounds.bytes).map_err(failed)?;
        let writer = Writer::start(&place, connection)?;
        let leases = match &place {
            Place::File(file) => Leases::beside(file),
            Place::Memory(_) => Leases::in_memory(),
        };
        let shared = Shared { readers: Readers::new(place, bounds), writer, leases };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Begins a session, and is back when that is written.
    pub fn begin(&self, started: Started) -> Result<SessionId, StoreError> {
        let id = SessionId::new()?;
        self.begin_as(id, started)?;
        Ok(id)
    }

    /// The same, with an id that was made before: a child's parent may have to name it first.
    pub fn begin_as(&self, id: SessionId, started: Started) -> Result<Appended, StoreError> {
        self.hand_in(id, Open::New, EventKind::Started(started))?.wait()
    }

    /// Appends an event, and is back when no kill can take it away; where it announces something that cannot be undone
    /// ([`EventKind::outlives_power_cuts`]), when no power cut can take it or anything before it away.
    pub fn append(&self, session: SessionId, kind: EventKind) -> Result<Appended, StoreError> {
        self.submit(session, kind)?.wait()
    }

    /// Hands an event in without waiting. Events of one thread are written in the order in which they were handed in. It waits
    /// only when very many are on their way already.
    pub fn submit(&self, session: SessionId, kind: EventKind) -> Result<Ticket, StoreError> {
        self.hand_in(session, Open::Existing, kind)
    }

    fn hand_in(&self, session: SessionId, open: Open, kind: EventKind) -> Result<Ticket, StoreError> {
        let event = Box::new(Prepared::new(Timestamp::now(), kind)?);
        let (acknowledge, told) = sync_channel(1);
        self.shared.writer.append(Append { session, open, event, acknowledge })?;
        Ok(Ticket { told })
    }

    /// Is back when everything that was handed in before is written.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.shared.writer.alone(|_| Ok(()))
    }

    /// Reads events.
    pub fn events(&self, query: &EventQuery) -> Result<Vec<Event>, StoreError> {
        self.shared.readers.read(|connection| query.read(connection))
    }

    /// Events as they come: those that are there, then those that are written, by this process or another.
    pub fn follow(&self, query: EventQuery) -> Result<Follow, StoreError> {
        let connection = self.shared.readers.connection()?;
        Ok(Follow::new(connection, self.shared.readers.path().to_owned(), query))
    }

    /// Lists sessions, the latest change first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Summary>, StoreError> {
        self.shared.readers.read(|connection| filter.read(connection))
    }

    /// The summary of one session.
    pub fn session(&self, id: SessionId) -> Result<Summary, StoreError> {
        self.shared.readers.read(|connection| Summary::of(connection, id))?.ok_or(StoreError::NoSession(id))
    }

    /// Takes the right to go on with a session, or says that somebody has it: [`StoreError::AtWork`].
    pub fn lease(&self, id: SessionId) -> Result<Lease, StoreError> {
        self.shared.leases.take(id)
    }

    /// Whether somebody works on a session right now.
    pub fn is_at_work(&self, id: SessionId) -> bool {
        self.shared.leases.is_at_work(id)
    }

    /// Whether a session was imported from another store: what was allowed there is nobody's word here.
    pub fn is_imported(&self, id: SessionId) -> Result<bool, StoreError> {
        let imported = self.shared.readers.read(|connection| {
            let sql = "SELECT imported FROM session WHERE id = ?1";
            connection.prepare_cached(sql)?.query_row([id.to_string()], |row| row.get(0)).optional()
        })?;
        imported.ok_or(StoreError::NoSession(id))
    }

    /// Every skill that was offered or used, counted, by name.
    pub fn stats(&self, query: &StatsQuery) -> Result<Vec<SkillStats>, StoreError> {
        self.shared.readers.read(|connection| query.skills(connection))
    }

    /// Every request for which skills were looked for, with what was then used, oldest first.
    pub fn routed(&self, query: &StatsQuery) -> Result<Vec<Routed>, StoreError> {
        self.shared.readers.read(|connection| query.routed(connection))
    }

    /// The session that somebody means by a whole id, the beginning of one, or at least four letters of its end.
    pub fn find(&self, typed: &str) -> Result<SessionId, StoreError> {
        let not_found = || StoreError::NotFound(typed.chars().take(64).collect());
        let text = as_written(typed).ok_or_else(not_found)?;
        let mut found = self.shared.readers.read(|connection| {
            // `~` comes after every letter of an id.
            let begins = "SELECT id FROM session WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id DESC LIMIT ?2";
            let found = ids(connection, begins, &text)?;
            if !found.is_empty() || text.len() < MIN_END {
                return Ok(found);
            }
            ids(
                connection,
                "SELECT id FROM session WHERE substr(id, -length(?1)) = ?1 ORDER BY id DESC LIMIT ?2",
                &text,
            )
        })?;
        match found.len() {
            0 => Err(not_found()),
            1 => found.pop().ok_or_else(not_found),
            _ => Err(StoreError::Ambiguous { text, found }),
        }
    }

    /// Keeps something for later.
    pub fn remember(&self, record: Record) -> Result<(), StoreError> {
        memory::check(&record)?;
        let path = self.shared.readers.path().to_owned();
        self.shared.writer.alone(move |connection| {
            let save = |connection: &mut Connection| {
                let transaction =
                    connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
                memory::insert(&transaction, &record)?;
                transaction.commit()
            };
            save(connection).map_err(|error| StoreError::from_sqlite(&path, &error))
        })
    }

    /// What was kept about something, the best first.
    pub fn recall(&self, recall: &Recall) -> Result<Vec<Record>, StoreError> {
        self.shared.readers.read(|connection| recall.read(connection))
    }

    /// The size of the store in bytes, without its `-wal` file.
    pub fn size(&self) -> Result<u64, StoreError> {
        self.shared.readers.read(size)
    }

    /// Deletes, so that nothing is left of it in the files. It rewrites the whole store, which takes about a second for 200 MB; others
    /// cannot write meanwhile.
    pub fn forget(&self, what: Forget) -> Result<Forgotten, StoreError> {
        self.forget_all(vec![what])
    }

    /// Deletes all of these or none, and rewrites the store once.
    pub fn forget_all(&self, orders: Vec<Forget>) -> Result<Forgotten, StoreError> {
        let path = self.shared.readers.path().to_owned();
        self.shared.writer.alone(move |connection| Forget::run(&orders, connection, &path))
    }

    /// Writes everything, or some of it, as lines of JSON.
    pub fn export(&self, what: &Export, out: &mut dyn Write) -> Result<Exported, StoreError> {
        let connection = self.shared.readers.connection()?;
        let exported = what.run(&connection, self.shared.readers.path(), out);
        self.shared.readers.keep(connection);
        exported
    }

    /// Takes what another store has exported: all of it, or nothing with the line that is wrong.
    pub fn import(&self, from: &mut dyn BufRead) -> Result<Imported, StoreError> {
        let parcel = Parcel::read(from)?;
        let path = self.shared.readers.path().to_owned();
        self.shared.writer.alone(move |connection| parcel.write(connection, &path))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.shared.readers.path()).finish()
    }
}

/// An event that was handed in. Thrown away, the event is written all the same.
pub struct Ticket {
    told: Receiver<Result<Appended, StoreError>>,
}

impl Ticket {
    /// Waits until the event is written, as [`Store::append`] does.
    pub fn wait(self) -> Result<Appended, StoreError> {
        self.told.recv().unwrap_or(Err(StoreError::Closed))
    }
}

fn bound(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let page: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    // SQLite counts pages in 32 bits.
    let pages = (bytes / page.max(1)).clamp(1, 0xffff_fffe);
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

pub(crate) fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u64>(0));
    Ok(number("page_count")?.saturating_mul(number("page_size")?))
}

fn ids(connection: &Connection, sql: &str, text: &str) -> rusqlite::Result<Vec<SessionId>> {
    connection
        .prepare_cached(sql)?
        .query_map(rusqlite::params![text, LISTED], |row| crate::query::id(row, 0))?
        .collect()
}
