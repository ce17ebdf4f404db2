//! The one thread that writes.
//!
//! Events come over a channel, as many as there are go into one transaction, and each sender is told when that one is
//! written. So a thousand sessions that append at once share the price of a few commits, and nobody who waits for an
//! acknowledgement is told too early.

mod append;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

pub(crate) use append::{Open, insert};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::place::{Assurance, Place, set_assurance};
use crate::prepared::Prepared;
use crate::schema::checked_version;
use crate::{SessionId, StoreError};

/// How many jobs may wait. Whoever comes then waits until there is room, so that a slow disk cannot fill the memory.
const QUEUE: usize = 1024;

/// How many events one commit takes. A later event would wait for all of them.
const BATCH: usize = 512;

/// How many bytes one commit takes: some of them are in memory until it is done.
const BATCH_BYTES: usize = 16 << 20;

/// What became of an event: it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its place in the session.
    pub seq: u64,
    /// Its place in the file.
    pub position: u64,
}

/// Who is told when an event is written, or cannot be.
pub(crate) type Acknowledge = SyncSender<Result<Appended, StoreError>>;

/// A job that has the connection for itself.
type Alone = Box<dyn FnOnce(Result<&mut Connection, StoreError>) + Send>;

/// An event for the writer.
pub(crate) struct Append {
    pub(crate) session: SessionId,
    pub(crate) open: Open,
    pub(crate) event: Box<Prepared>,
    pub(crate) acknowledge: Acknowledge,
}

enum Job {
    Append(Append),
    Alone(Alone),
}

/// The way to the thread that writes. When it is dropped, what was handed in is written first.
pub(crate) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(place: &Place, connection: Connection) -> Result<Self, StoreError> {
        let (jobs, inbox) = sync_channel(QUEUE);
        let path = place.path().to_owned();
        let work = Work { path: path.clone(), connection };
        let thread = thread::Builder::new()
            .name("metier-store".to_owned())
            .spawn(move || work.run(&inbox))
            .map_err(|error| StoreError::Io { path, detail: error.to_string() })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    pub(crate) fn append(&self, append: Append) -> Result<(), StoreError> {
        self.send(Job::Append(append))
    }

    /// Does something with the connection that writes, between two batches, and gives back what came of it.
    pub(crate) fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = sync_channel(1);
        self.send(Job::Alone(Box::new(move |connection| {
            // Nobody may wait any more; then there is nobody to tell.
            let _ = answer.send(connection.and_then(work));
        })))?;
        answered.recv().unwrap_or(Err(StoreError::Closed))
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or(StoreError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    path: PathBuf,
    connection: Connection,
}

impl Work {
    fn run(mut self, inbox: &Receiver<Job>) {
        let mut waiting = VecDeque::new();
        while let Some(job) = waiting.pop_front().or_else(|| inbox.recv().ok()) {
            match job {
                Job::Append(first) => {
                    let mut bytes = first.event.size();
                    let mut batch = vec![first];
                    while batch.len() < BATCH && bytes < BATCH_BYTES {
                        match inbox.try_recv() {
                            Ok(Job::Append(next)) => {
                                bytes += next.event.size();
                                batch.push(next);
                            }
                            Ok(alone) => {
                                waiting.push_back(alone);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.write(batch);
                }
                Job::Alone(work) => {
                    let known = checked_version(&self.connection, &self.path);
                    // Memory, imports and deletions are rare, and somebody was told that they are done.
                    let ready = known.and_then(|_| {
                        set_assurance(&self.connection, Assurance::PowerCut)
                            .map_err(|error| StoreError::from_sqlite(&self.path, &error))
                    });
                    work(ready.map(|()| &mut self.connection));
                }
            }
        }
    }

    /// One transaction for all of them. An event that cannot be taken fails alone; a commit that fails, fails for all.
    fn write(&mut self, batch: Vec<Append>) {
        let mut told = Vec::with_capacity(batch.len());
        let result = self.transaction(batch, &mut told);
        for (acknowledge, answer) in told {
            // A ticket that was thrown away is nobody who waits.
            let _ = acknowledge.send(result.clone().and(answer));
        }
    }

    fn transaction(
        &mut self,
        batch: Vec<Append>,
        told: &mut Vec<(Acknowledge, Result<Appended, StoreError>)>,
    ) -> Result<(), StoreError> {
        let path = &self.path;
        let failed = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        // One event that must outlive a power cut takes along all that came before it.
        let assurance = batch.iter().map(|append| append.event.assurance()).max().unwrap_or(Assurance::Kill);
        let mut begun = set_assurance(&self.connection, assurance)
            .and_then(|()| Transaction::new(&mut self.connection, TransactionBehavior::Immediate))
            .map_err(failed)
            // A newer program may have changed the file since it was opened.
            .and_then(|transaction| checked_version(&transaction, path).map(|_| transaction));
        let mut broken = None;
        for Append { session, open, event, acknowledge } in batch {
            let answer = match (&mut begun, &broken) {
                (Ok(transaction), None) => append::insert(transaction, session, open, &event),
                // The answer to all is that of the transaction.
                _ => Ok(Err(StoreError::Closed)),
            };
            match answer {
                Ok(answer) => told.push((acknowledge, answer)),
                Err(error) => {
                    broken = Some(failed(error));
                    told.push((acknowledge, Err(StoreError::Closed)));
                }
            }
        }
        let transaction = begun?;
        match broken {
            Some(error) => Err(error),
            None => transaction.commit().map_err(failed),
        }
    }
}
