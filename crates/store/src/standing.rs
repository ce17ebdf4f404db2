//! How a session stands: worked on, broken off, or over; and what of it was begun and never finished.

use rusqlite::Connection;

use crate::query::EventQuery;
use crate::summary::Summary;
use crate::{Called, Effect, EventKind, Outcome, SessionId, Timestamp};

/// How a session stands, for whoever wants to go on with it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionStanding {
    /// The session in a few words and numbers.
    pub summary: Summary,
    /// Whether it is worked on, broken off, or over.
    pub state: SessionState,
    /// The calls that were begun and not finished, in their order.
    pub begun: Vec<BegunCall>,
    /// Whether it was imported from another store: what was allowed there is nobody's word here.
    pub is_imported: bool,
}

/// Whether a session is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// A process works on it now.
    AtWork,
    /// Its process ended before it did.
    BrokenOff,
    /// It ended. Whoever speaks to it opens it again.
    Ended(Outcome),
}

/// A call that was begun and not finished.
#[derive(Clone, Debug, PartialEq)]
pub struct BegunCall {
    /// The place of its event in the session.
    pub seq: u64,
    /// When it was begun.
    pub at: Timestamp,
    /// What was called.
    pub called: Called,
    /// The child that it began, where it did.
    pub child: Option<SessionId>,
}

impl BegunCall {
    /// Whether doing it again takes a yes: it may have happened.
    pub fn is_doubtful(&self) -> bool {
        self.called.effect != Effect::ReadOnly
    }
}

/// What is read of it from the file.
pub(crate) fn read(
    connection: &Connection,
    id: SessionId,
) -> rusqlite::Result<Option<(Summary, Vec<BegunCall>, bool)>> {
    let Some(summary) = Summary::of(connection, id)? else { return Ok(None) };
    let (last, is_imported): (u64, bool) = connection.query_row(
        "SELECT coalesce(max(e.seq), 0), s.imported FROM session s
         LEFT JOIN event e ON e.session = s.number AND e.type = 'answered' WHERE s.id = ?1",
        [id.to_string()],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    // Every call of an answer has its result before the next answer, so only the last one can have begun calls.
    let query = EventQuery::of(id).after_seq(last).kind("called").kind("finished").kind("child_began");
    let mut begun: Vec<BegunCall> = Vec::new();
    for event in query.read(connection)? {
        match event.kind {
            EventKind::Called(called) => {
                begun.retain(|one| one.called.id != called.id);
                begun.push(BegunCall { seq: event.seq, at: event.at, called, child: None });
            }
            EventKind::Finished(finished) => begun.retain(|one| one.called.id != finished.id),
            EventKind::ChildBegan { child, call: Some(call), .. } => {
                if let Some(one) = begun.iter_mut().find(|one| one.called.id == call) {
                    one.child = Some(child);
                }
            }
            _ => {}
        }
    }
    Ok(Some((summary, begun, is_imported)))
}
