//! The file itself: where it is, who may read it, and how `SQLite` opens it.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use metier_files::Mode;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{FileType, Mode as Bits};
use rustix::io::Errno;

use crate::StoreError;

/// Pages that one connection keeps in memory, in KiB. The system keeps the file's pages anyway.
const CACHE_KIB: i64 = 1024;

/// Where the `-wal` file is cut to after it has been large, in bytes.
const WAL_BYTES: i64 = 16 << 20;

/// Closing a file releases every lock that this process has on it, whoever took them (POSIX). So nobody of this process may be
/// making the file while another one has `SQLite` open it.
static MAKING: Mutex<()> = Mutex::new(());

/// How large a store may grow, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The size of the file. A run that has gone wild must not fill the user's disk.
    pub bytes: u64,
    /// How long is waited for another process. A commit takes milliseconds and an import seconds; whoever holds the file
    /// longer than the default is stuck.
    pub patience: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 16 << 30, patience: Duration::from_secs(30) }
    }
}

/// What an acknowledged event outlives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Assurance {
    /// The end of this process, however it comes. The system has the bytes and writes them when it likes.
    Kill,
    /// The end of the machine. The disk has the bytes, these and all that were written before.
    PowerCut,
}

/// What the next commits of this connection wait for.
pub(crate) fn set_assurance(connection: &Connection, assurance: Assurance) -> rusqlite::Result<()> {
    connection.execute_batch(match assurance {
        Assurance::Kill => "PRAGMA synchronous = NORMAL",
        Assurance::PowerCut => "PRAGMA synchronous = FULL",
    })
}

/// Where a store is kept.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In this file.
    File(PathBuf),
    /// In memory, under this name. Connections of this process that say the same name share it.
    Memory(String),
}

impl Place {
    /// The file at `path`, made where there is none.
    pub(crate) fn file(path: &Path) -> Result<Self, StoreError> {
        let _making = MAKING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let refused = |error: std::io::Error| sorted(path, &error);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if metier_files::kind(folder) != metier_files::Kind::Folder {
            metier_files::private_folder(folder).map_err(refused)?;
        }
        let name = path.file_name().ok_or_else(|| StoreError::NotAStore(path.to_owned()))?;
        // SQLite is told to follow no link, which it takes for the whole path; the folder's own way may have some.
        let path = metier_files::real_path(folder).map_err(refused)?.join(name);
        match metier_files::write_new(&path, b"", Mode::Private) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => closed_to_others(&path)?,
            Err(error) => return Err(sorted(&path, &error)),
        }
        Ok(Self::File(path))
    }

    /// What to call it in messages.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Memory(name) => Path::new(name),
        }
    }

    /// A connection that writes.
    pub(crate) fn writer(&self, bounds: Bounds) -> rusqlite::Result<Connection> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE, bounds)?;
        // Deleted rows are overwritten with zeros: what is forgotten must not be found in the file.
        connection.execute_batch("PRAGMA secure_delete = ON")?;
        if matches!(self, Self::File(_)) {
            write_ahead(&connection, bounds.patience)?;
            connection.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
        }
        // What each commit waits for is set by the writer, batch by batch.
        set_assurance(&connection, Assurance::Kill)?;
        Ok(connection)
    }

    /// A connection that reads.
    pub(crate) fn reader(&self, bounds: Bounds) -> rusqlite::Result<Connection> {
        // Opened for writing, since a reader of a WAL file may have to make its index; then held to reading.
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE, bounds)?;
        connection.execute_batch("PRAGMA query_only = ON")?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags, bounds: Bounds) -> rusqlite::Result<Connection> {
        // Each connection stays with one thread at a time, so SQLite needs no locks of its own.
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = match self {
            Self::File(path) => Connection::open_with_flags(path, flags)?,
            Self::Memory(name) => {
                let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_CREATE;
                Connection::open_with_flags(format!("file:/{name}?vfs=memdb"), flags)?
            }
        };
        connection.busy_timeout(bounds.patience)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // A file of a stranger's must not bring its own code: no functions from its schema, and no damaged one by hand.
        connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
        // What does not fit while something is sorted stays in memory: a file for it would lie in a folder that others use, and
        // keep what was forgotten.
        connection.execute_batch("PRAGMA temp_store = MEMORY")?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }
}

/// Has writers append to a file beside, so that readers go on meanwhile. Where several processes open a new file at once, all but
/// one are told at once that it is busy, without the usual patience.
fn write_ahead(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(5);
    let begin = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begin.elapsed() < patience =>
            {
                std::thread::sleep(PAUSE);
            }
            answer => return answer.map(drop),
        }
    }
}

/// A file that others may read is closed to them, with what `SQLite` keeps beside it: a copy of a store often is open. Asked of the path
/// and not of an opened file, for the reason at [`MAKING`].
fn closed_to_others(path: &Path) -> Result<(), StoreError> {
    for beside in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        let one = PathBuf::from(name);
        let stat = match rustix::fs::lstat(&one) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(sorted(&one, &error.into())),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(StoreError::NotAStore(one));
        }
        let mode = Bits::from_raw_mode(stat.st_mode);
        if mode.intersects(Bits::RWXG | Bits::RWXO) {
            rustix::fs::chmod(&one, mode & Bits::RWXU).map_err(|error| sorted(&one, &error.into()))?;
        }
    }
    Ok(())
}

fn sorted(path: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind;

    let (path, detail) = (path.to_owned(), error.to_string());
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path, detail },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full(path),
        _ => StoreError::Io { path, detail },
    }
}
