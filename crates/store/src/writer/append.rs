//! One event into the file: its row, its large texts, its words, and what it means for the summary of its session.

use rusqlite::{Connection, OptionalExtension, params};

use super::Appended;
use crate::event::{EventKind, Started};
use crate::prepared::Prepared;
use crate::{SessionId, StoreError, Usage};

/// Whether an event opens its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// There must be none yet.
    New,
    /// There must be one.
    Existing,
}

/// How much of the first request is its title: a few lines on any terminal.
const TITLE: usize = 400;

/// Writes one event inside a transaction. The outer error is `SQLite`'s, and ends the transaction; the inner one is about this
/// event alone, and nothing was written for it.
pub(crate) fn insert(
    connection: &Connection,
    session: SessionId,
    open: Open,
    event: &Prepared,
) -> rusqlite::Result<Result<Appended, StoreError>> {
    let found: Option<(i64, u64)> = connection
        .prepare_cached("SELECT number, last_seq FROM session WHERE id = ?1")?
        .query_row([session.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (number, seq) = match (found, open) {
        (Some((number, last)), Open::Existing) => (number, last + 1),
        (None, Open::New) => (begin(connection, session, event)?, 1),
        (Some(_), Open::New) => return Ok(Err(StoreError::SessionExists(session))),
        (None, Open::Existing) => return Ok(Err(StoreError::NoSession(session))),
    };
    connection
        .prepare_cached(
            "INSERT INTO event (session, seq, at, type, skill, blobs, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            number,
            seq,
            event.at.millis(),
            event.name,
            event.kind.skill(),
            event.large.len(),
            event.data
        ])?;
    let position = connection.last_insert_rowid();
    keep_large(connection, position, event)?;
    if let Some(words) = &event.words {
        connection
            .prepare_cached("INSERT INTO event_words (rowid, words) VALUES (?1, ?2)")?
            .execute(params![position, words])?;
    }
    summarise(connection, number, seq, event)?;
    Ok(Ok(Appended { seq, position: u64::try_from(position).unwrap_or_default() }))
}

fn begin(connection: &Connection, session: SessionId, event: &Prepared) -> rusqlite::Result<i64> {
    let unknown = Started::default();
    let started = if let EventKind::Started(started) = &event.kind { started } else { &unknown };
    let by = serde_json::to_value(started.by).ok();
    connection
        .prepare_cached(
            "INSERT INTO session (id, parent, began, changed, last_seq, title, started_by, project, model, agent)
             VALUES (?1, ?2, ?3, ?3, 0, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            session.to_string(),
            started.parent.map(|parent| parent.to_string()),
            event.at.millis(),
            title(&started.request),
            by.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default(),
            started.project,
            started.model,
            started.agent
        ])?;
    Ok(connection.last_insert_rowid())
}

fn keep_large(connection: &Connection, position: i64, event: &Prepared) -> rusqlite::Result<()> {
    for large in &event.large {
        let digest = large.digest.bytes();
        let kept: Option<i64> = connection
            .prepare_cached("SELECT number FROM blob WHERE digest = ?1")?
            .query_row([&digest[..]], |row| row.get(0))
            .optional()?;
        let blob = if let Some(number) = kept {
            number
        } else {
            connection
                .prepare_cached("INSERT INTO blob (digest, text) VALUES (?1, ?2)")?
                .execute(params![&digest[..], large.text])?;
            connection.last_insert_rowid()
        };
        connection
            .prepare_cached("INSERT INTO event_blob (position, pointer, blob) VALUES (?1, ?2, ?3)")?
            .execute(params![position, large.pointer, blob])?;
    }
    Ok(())
}

fn summarise(connection: &Connection, number: i64, seq: u64, event: &Prepared) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE session SET last_seq = ?2, changed = max(changed, ?3) WHERE number = ?1")?
        .execute(params![number, seq, event.at.millis()])?;
    match &event.kind {
        EventKind::Said { text, .. } => {
            // Whoever speaks to a session opens it again.
            connection
                .prepare_cached(
                    "UPDATE session SET outcome = NULL, title = CASE title WHEN '' THEN ?2 ELSE title END WHERE number = ?1",
                )?
                .execute(params![number, title(text)])?;
        }
        EventKind::Resumed { .. } => {
            connection
                .prepare_cached("UPDATE session SET outcome = NULL WHERE number = ?1")?
                .execute([number])?;
        }
        EventKind::Answered(answered) => {
            use_up(connection, number, 1, answered.usage, answered.cost_micros.unwrap_or_default())?;
        }
        // What the summary took. An event with nothing in it changes nothing.
        EventKind::Compacted { usage, cost_micros, .. } => {
            use_up(connection, number, 0, *usage, *cost_micros)?;
        }
        EventKind::Called(_) => {
            connection
                .prepare_cached("UPDATE session SET calls = calls + 1 WHERE number = ?1")?
                .execute([number])?;
        }
        EventKind::Activated(activated) => {
            connection
                .prepare_cached("INSERT OR IGNORE INTO session_skill (session, skill) VALUES (?1, ?2)")?
                .execute(params![number, activated.skill])?;
        }
        EventKind::Ended(ended) => {
            connection
                .prepare_cached("UPDATE session SET outcome = ?2 WHERE number = ?1")?
                .execute(params![number, ended.outcome.word()])?;
        }
        _ => {}
    }
    Ok(())
}

/// Adds to what a session has used up.
fn use_up(
    connection: &Connection,
    number: i64,
    turns: u64,
    usage: Usage,
    cost_micros: u64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE session SET turns = turns + ?2, input = input + ?3, output = output + ?4,
             cached = cached + ?5, cache_written = cache_written + ?6, cost_micros = cost_micros + ?7
             WHERE number = ?1",
        )?
        .execute(params![
            number,
            turns,
            bounded(usage.input),
            bounded(usage.output),
            bounded(usage.cached),
            bounded(usage.cache_written),
            bounded(cost_micros)
        ])?;
    Ok(())
}

/// The first line of a request that has something in it, cut.
fn title(request: &str) -> String {
    let line = request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line[..line.floor_char_boundary(TITLE)].to_owned()
}

/// What one answer may claim to have used. A stranger's file could say anything, and `SQLite`'s sums must stay whole numbers.
fn bounded(count: u64) -> u64 {
    /// Tokens, or millionths of money, that one answer may claim.
    const MAX_USAGE: u64 = 1 << 40;
    count.min(MAX_USAGE)
}
