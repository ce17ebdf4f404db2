//! Sessions, as a list shows them.

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::query::{id, whole};
use crate::words::{Match, question};
use crate::{Outcome, SessionId, Timestamp, Usage};

/// One session in a list. The writer keeps it up to date; all of it is made from events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which.
    pub id: SessionId,
    /// The session above it.
    pub parent: Option<SessionId>,
    /// When it began.
    pub began: Timestamp,
    /// When its latest event was handed in.
    pub changed: Timestamp,
    /// How many events it has.
    pub last_seq: u64,
    /// The first line of what was asked for first.
    pub title: String,
    /// Who began it, as [`By`](crate::By) is written.
    pub by: String,
    /// The project's folder.
    pub project: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The agent definition.
    pub agent: Option<String>,
    /// How it ended; `None` while it is open: it is running, or was killed.
    pub outcome: Option<Outcome>,
    /// Turns of its own.
    pub turns: u64,
    /// Calls of its own.
    pub calls: u64,
    /// Tokens of its own, children not included.
    pub usage: Usage,
    /// Money of its own, children not included.
    pub cost_micros: u64,
    /// The skills that were activated in it, by name.
    pub skills: Vec<String>,
}

/// Which end a session must have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This one.
    With(Outcome),
    /// None yet.
    Open,
}

/// Where in a family a session must stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Not a child of another.
    TopLevel,
    /// A child of this one.
    ChildOf(SessionId),
}

/// Which sessions to list. They come with the latest change first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// In which this skill was activated.
    pub skill: Option<String>,
    /// That ended so.
    pub ending: Option<Ending>,
    /// Of this project.
    pub project: Option<String>,
    /// Changed at this moment or later.
    pub since: Option<Timestamp>,
    /// Changed before this moment: the next page of a list begins with the `changed` of the last one's last.
    pub until: Option<Timestamp>,
    /// With all these words in one request, message, answer or failure.
    pub text: Option<String>,
    /// Where they stand.
    pub family: Family,
    /// So many at most. Without it, all of them.
    pub limit: Option<usize>,
}

const COLUMNS: &str =
    "s.number, s.id, s.parent, s.began, s.changed, s.last_seq, s.title, s.started_by, s.project, s.model,
    s.agent, s.outcome, s.turns, s.calls, s.input, s.output, s.cached, s.cache_written, s.cost_micros";

impl SessionFilter {
    /// Reads them.
    pub(crate) fn read(&self, connection: &Connection) -> rusqlite::Result<Vec<Summary>> {
        let mut sql = format!("SELECT {COLUMNS} FROM session s WHERE 1");
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut add = |condition: &str, parameter: Parameter| {
            sql.push_str(condition);
            parameters.push(parameter);
        };
        if let Some(skill) = &self.skill {
            add(" AND s.number IN (SELECT session FROM session_skill WHERE skill = ?)", skill.clone().into());
        }
        if let Some(project) = &self.project {
            add(" AND s.project = ?", project.clone().into());
        }
        if let Some(since) = self.since {
            add(" AND s.changed >= ?", whole(since.millis()));
        }
        if let Some(until) = self.until {
            add(" AND s.changed < ?", whole(until.millis()));
        }
        if let Some(text) = &self.text {
            let Some(question) = question(text, Match::All) else { return Ok(Vec::new()) };
            add(
                " AND s.number IN (SELECT e.session FROM event_words w JOIN event e ON e.position = w.rowid
                  WHERE w.words MATCH ?)",
                question.into(),
            );
        }
        if let Family::ChildOf(parent) = self.family {
            add(" AND s.parent = ?", parent.to_string().into());
        }
        if let Some(Ending::With(outcome)) = self.ending {
            add(" AND s.outcome = ?", outcome.word().to_owned().into());
        }
        if self.ending == Some(Ending::Open) {
            sql.push_str(" AND s.outcome IS NULL");
        }
        if self.family == Family::TopLevel {
            sql.push_str(" AND s.parent IS NULL");
        }
        sql.push_str(" ORDER BY s.changed DESC, s.id DESC");
        if let Some(limit) = self.limit {
            sql.push_str(" LIMIT ?");
            parameters.push(whole(limit as u64));
        }
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        let mut summaries = Vec::new();
        while let Some(row) = rows.next()? {
            summaries.push(Summary::read(connection, row)?);
        }
        Ok(summaries)
    }
}

impl Summary {
    /// The summary of one session.
    pub(crate) fn of(connection: &Connection, session: SessionId) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session s WHERE s.id = ?1"))?
            .query_row([session.to_string()], |row| Self::read(connection, row))
            .optional()
    }

    fn read(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Self> {
        let number: i64 = row.get(0)?;
        let skills = connection
            .prepare_cached("SELECT skill FROM session_skill WHERE session = ?1 ORDER BY skill")?
            .query_map([number], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let parent: Option<String> = row.get(2)?;
        let outcome: Option<String> = row.get(11)?;
        Ok(Self {
            id: id(row, 1)?,
            parent: parent.and_then(|parent| parent.parse().ok()),
            began: Timestamp::from_millis(row.get(3)?),
            changed: Timestamp::from_millis(row.get(4)?),
            last_seq: row.get(5)?,
            title: row.get(6)?,
            by: row.get(7)?,
            project: row.get(8)?,
            model: row.get(9)?,
            agent: row.get(10)?,
            outcome: outcome.as_deref().and_then(Outcome::from_word),
            turns: row.get(12)?,
            calls: row.get(13)?,
            usage: Usage {
                input: row.get(14)?,
                output: row.get(15)?,
                cached: row.get(16)?,
                cache_written: row.get(17)?,
            },
            cost_micros: row.get(18)?,
            skills,
        })
    }
}
