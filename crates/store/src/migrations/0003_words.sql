-- The words by which sessions are found: one row per event that has some, under its position.
CREATE VIRTUAL TABLE event_words USING fts5 (words, tokenize = 'porter unicode61 remove_diacritics 2');
-- A deleted row leaves no words in the index, at the price of slower deletions.
INSERT INTO event_words (event_words, rank) VALUES ('secure-delete', 1);

-- Of what is there already, the requests and messages; what is in `blob` is found after an export and import.
INSERT INTO event_words (rowid, words)
SELECT position, substr(json_extract(data, '$.request'), 1, 4096) FROM event
WHERE type = 'started' AND json_valid(data) AND json_type(data, '$.request') = 'text'
UNION ALL
SELECT position, substr(json_extract(data, '$.text'), 1, 4096) FROM event
WHERE type = 'said' AND json_valid(data) AND json_type(data, '$.text') = 'text';
