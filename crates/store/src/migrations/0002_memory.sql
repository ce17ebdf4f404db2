-- What is kept for later.
CREATE TABLE record (
    number  INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    at      INTEGER NOT NULL,
    skill   TEXT,
    origin  TEXT,
    digest  TEXT,
    text    TEXT    NOT NULL,
    session TEXT
) STRICT;

CREATE INDEX record_by_skill ON record (skill, at);
CREATE INDEX record_by_session ON record (session) WHERE session IS NOT NULL;

CREATE TABLE record_tag (
    record INTEGER NOT NULL,
    -- The place of the tag among the record's, so that they come back in their order.
    place  INTEGER NOT NULL,
    tag    TEXT    NOT NULL,
    PRIMARY KEY (record, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX record_tag_by_tag ON record_tag (tag, record);

CREATE VIRTUAL TABLE record_words USING fts5 (words, tokenize = 'porter unicode61 remove_diacritics 2');
-- A deleted row leaves no words in the index, at the price of slower deletions.
INSERT INTO record_words (record_words, rank) VALUES ('secure-delete', 1);
