-- What happened. `session` is a summary that the writer keeps; everything in it can be made again from `event`.
CREATE TABLE session (
    number        INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    -- A text and no reference: a child can be imported before its parent, or without it.
    parent        TEXT,
    began         INTEGER NOT NULL,
    changed       INTEGER NOT NULL,
    last_seq      INTEGER NOT NULL,
    title         TEXT    NOT NULL DEFAULT '',
    started_by    TEXT    NOT NULL DEFAULT '',
    project       TEXT,
    model         TEXT,
    agent         TEXT,
    outcome       TEXT,
    turns         INTEGER NOT NULL DEFAULT 0,
    calls         INTEGER NOT NULL DEFAULT 0,
    input         INTEGER NOT NULL DEFAULT 0,
    output        INTEGER NOT NULL DEFAULT 0,
    cached        INTEGER NOT NULL DEFAULT 0,
    cache_written INTEGER NOT NULL DEFAULT 0,
    cost_micros   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX session_by_change ON session (changed);
CREATE INDEX session_by_parent ON session (parent) WHERE parent IS NOT NULL;

CREATE TABLE session_skill (
    session INTEGER NOT NULL,
    skill   TEXT    NOT NULL,
    PRIMARY KEY (session, skill)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_skill_by_skill ON session_skill (skill, session);

-- AUTOINCREMENT: a position is never given twice, so whoever follows misses nothing after a deletion.
CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    session  INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    type     TEXT    NOT NULL,
    skill    TEXT,
    -- How many texts of `data` are kept in `blob`.
    blobs    INTEGER NOT NULL DEFAULT 0,
    data     TEXT    NOT NULL,
    UNIQUE (session, seq)
) STRICT;

CREATE INDEX event_by_skill ON event (skill, position) WHERE skill IS NOT NULL;

-- Large texts, once each, however many events hold them.
CREATE TABLE blob (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    text   TEXT NOT NULL
) STRICT;

-- In which event, and at which JSON pointer of its data, a large text stands.
CREATE TABLE event_blob (
    position INTEGER NOT NULL,
    pointer  TEXT    NOT NULL,
    blob     INTEGER NOT NULL,
    PRIMARY KEY (position, pointer)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_blob_by_blob ON event_blob (blob);
