//! What is kept for later.

use rusqlite::types::Value as Parameter;
use rusqlite::{Connection, Row, params, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::query::{id, whole};
use crate::words::{Match, question};
use crate::{RecordId, SessionId, StoreError, Timestamp};

/// What one record may hold. Five of them may go into one turn of a conversation, so each must leave room.
pub const MAX_RECORD: usize = 16 << 10;

/// How many tags a record may have, and how long each may be: tags are words by which somebody finds it again.
pub const MAX_TAGS: usize = 64;
const MAX_TAG: usize = 256;

/// How many records come back where nobody says otherwise: what a model is given per turn.
pub const RECALLED: usize = 5;

/// What a record is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RecordKind {
    /// Nothing of the below.
    #[default]
    Note,
    /// Who the user is, and what they like.
    User,
    /// What the user said about how the work was done: corrections and confirmations.
    Feedback,
    /// How things are in one project.
    Project,
    /// Where something can be found.
    Reference,
    /// What came of a run of a skill.
    Run,
}

impl RecordKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Note, Self::User, Self::Feedback, Self::Project, Self::Reference, Self::Run];

    /// The word for it, in files and inputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
            Self::Run => "run",
        }
    }

    /// The kind of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl From<String> for RecordKind {
    /// A word that this program does not know is a newer one's, and hides no record.
    fn from(word: String) -> Self {
        Self::from_word(&word).unwrap_or_default()
    }
}

impl From<RecordKind> for String {
    fn from(kind: RecordKind) -> Self {
        kind.word().to_owned()
    }
}

/// One thing that was kept for later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Which.
    pub id: RecordId,
    /// When it was kept.
    pub at: Timestamp,
    /// The skill that kept it; `None` where the agent itself did.
    #[serde(default)]
    pub skill: Option<String>,
    /// Where that skill is from. A name alone could be another skill tomorrow.
    #[serde(default)]
    pub origin: Option<String>,
    /// The digest of that skill's `SKILL.md`.
    #[serde(default)]
    pub digest: Option<String>,
    /// By which it is found, in their order.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What was kept.
    pub text: String,
    /// In which session.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// What it is about.
    #[serde(default)]
    pub kind: RecordKind,
    /// The project that it holds in; `None` is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Record {
    /// A record of the agent's own, made now.
    pub fn new(text: impl Into<String>) -> Result<Self, StoreError> {
        Ok(Self {
            id: RecordId::new()?,
            at: Timestamp::now(),
            skill: None,
            origin: None,
            digest: None,
            tags: Vec::new(),
            text: text.into(),
            session: None,
            kind: RecordKind::default(),
            project: None,
        })
    }
}

/// Whose records may come back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those that no skill kept.
    #[default]
    Agent,
    /// Those of one skill, and no others.
    Skill {
        /// Its name.
        name: String,
        /// Where it is from.
        origin: String,
    },
    /// All, because the user said so.
    Everything,
}

/// What is to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// What it is about. With none, the newest come first.
    pub text: String,
    /// Tags that it must have, all of them.
    pub tags: Vec<String>,
    /// Whose it may be.
    pub scope: Scope,
    /// Not these: they are in the conversation already, or came the last time.
    pub exclude: Vec<RecordId>,
    /// In which project. What holds in another one stays there; with none, only what holds everywhere comes.
    pub project: Option<String>,
    /// So many at most.
    pub limit: usize,
}

impl Recall {
    /// What of this scope is about this text.
    pub fn new(text: impl Into<String>, scope: Scope) -> Self {
        Self {
            text: text.into(),
            tags: Vec::new(),
            scope,
            exclude: Vec::new(),
            project: None,
            limit: RECALLED,
        }
    }

    pub(crate) fn read(&self, connection: &Connection) -> rusqlite::Result<Vec<Record>> {
        let mut sql =
            "SELECT r.number, r.id, r.at, r.skill, r.origin, r.digest, r.text, r.session, r.kind, r.project FROM record r"
                .to_owned();
        let mut parameters: Vec<Parameter> = Vec::new();
        let asked = question(&self.text, Match::Any);
        match &asked {
            Some(question) => {
                sql.push_str(" JOIN record_words w ON w.rowid = r.number WHERE w.words MATCH ?");
                parameters.push(question.clone().into());
            }
            None if self.text.trim().is_empty() => sql.push_str(" WHERE 1"),
            // Something was asked for, and it has no word in it: nothing is about that.
            None => return Ok(Vec::new()),
        }
        match &self.scope {
            Scope::Agent => sql.push_str(" AND r.skill IS NULL"),
            Scope::Everything => {}
            Scope::Skill { name, origin } => {
                sql.push_str(" AND r.skill = ? AND r.origin = ?");
                parameters.extend([name.clone().into(), origin.clone().into()]);
            }
        }
        for tag in &self.tags {
            sql.push_str(" AND EXISTS (SELECT 1 FROM record_tag t WHERE t.record = r.number AND t.tag = ?)");
            parameters.push(tag.clone().into());
        }
        if self.scope != Scope::Everything {
            sql.push_str(" AND (r.project IS NULL OR r.project = ?)");
            parameters.push(self.project.clone().map_or(Parameter::Null, Parameter::Text));
        }
        if !self.exclude.is_empty() {
            // One parameter, however many there are in a long conversation.
            sql.push_str(" AND r.id NOT IN (SELECT value FROM json_each(?))");
            let ids: Vec<String> = self.exclude.iter().map(ToString::to_string).collect();
            parameters.push(serde_json::Value::from(ids).to_string().into());
        }
        sql.push_str(match asked {
            Some(_) => " ORDER BY w.rank, r.at DESC, r.id DESC LIMIT ?",
            None => " ORDER BY r.at DESC, r.id DESC LIMIT ?",
        });
        parameters.push(whole(self.limit as u64));
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            records.push(read(connection, row)?);
        }
        Ok(records)
    }
}

/// All records, in the order of their time.
pub(crate) fn each<E>(
    connection: &Connection,
    mut take: impl FnMut(Record) -> Result<(), E>,
) -> rusqlite::Result<Result<(), E>> {
    let mut statement = connection
        .prepare("SELECT number, id, at, skill, origin, digest, text, session, kind, project FROM record ORDER BY at, id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(error) = take(read(connection, row)?) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn read(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Record> {
    let number: i64 = row.get(0)?;
    let tags = connection
        .prepare_cached("SELECT tag FROM record_tag WHERE record = ?1 ORDER BY place")?
        .query_map([number], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let session: Option<String> = row.get(7)?;
    Ok(Record {
        id: id(row, 1)?,
        at: Timestamp::from_millis(row.get(2)?),
        skill: row.get(3)?,
        origin: row.get(4)?,
        digest: row.get(5)?,
        tags,
        text: row.get(6)?,
        session: session.and_then(|session| session.parse().ok()),
        kind: row.get::<_, String>(8)?.into(),
        project: row.get(9)?,
    })
}

/// Checks that a record can be kept.
pub(crate) fn check(record: &Record) -> Result<(), StoreError> {
    let limits =
        [("the record", MAX_RECORD, record.text.len()), ("the list of tags", MAX_TAGS, record.tags.len())];
    let tags = record.tags.iter().map(|tag| ("a tag", MAX_TAG, tag.len()));
    for (what, limit, actual) in limits.into_iter().chain(tags) {
        if actual > limit {
            return Err(StoreError::TooLarge { what, limit, actual });
        }
    }
    Ok(())
}

/// Writes a record inside a transaction, and says whether it was new. One whose id is there already is left as it is.
pub(crate) fn insert(connection: &Connection, record: &Record) -> rusqlite::Result<bool> {
    let written = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO record (id, at, skill, origin, digest, text, session, kind, project)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            record.id.to_string(),
            record.at.millis(),
            record.skill,
            record.origin,
            record.digest,
            record.text,
            record.session.map(|session| session.to_string()),
            record.kind.word(),
            record.project
        ])?;
    if written == 0 {
        return Ok(false);
    }
    let number = connection.last_insert_rowid();
    for (place, tag) in record.tags.iter().enumerate() {
        connection
            .prepare_cached("INSERT INTO record_tag (record, place, tag) VALUES (?1, ?2, ?3)")?
            .execute(params![number, place, tag])?;
    }
    // Tags are words by which it is found too.
    let words = format!("{} {}", record.text, record.tags.join(" "));
    connection
        .prepare_cached("INSERT INTO record_words (rowid, words) VALUES (?1, ?2)")?
        .execute(params![number, words])?;
    Ok(true)
}
