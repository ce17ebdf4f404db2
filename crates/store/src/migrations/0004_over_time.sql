-- What is counted about skills, found without reading every event.
CREATE INDEX event_for_stats ON event (at) WHERE type IN ('offered', 'activated', 'used');

-- A session that came from elsewhere: what was allowed in it is nobody's word here.
ALTER TABLE session ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;

-- What a record is about, and where it holds; nothing is everywhere.
ALTER TABLE record ADD COLUMN kind TEXT NOT NULL DEFAULT 'note';
ALTER TABLE record ADD COLUMN project TEXT;
