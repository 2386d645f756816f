import { copiesSchema } from './sqlite-provider-copies.ts';

/**
 * The content is the last column, so that outlines are read without it. What releases after 0.4 have added to a
 * response is in `chains` for the same reason: a column behind the content would be read through it.
 *
 * `needed` has the responses that need another one, and `removable` the deleted ones that nothing may need.
 */
export const responseSchema = `
  CREATE TABLE IF NOT EXISTS responses (
    project TEXT NOT NULL, id TEXT NOT NULL, conversation TEXT NOT NULL, depth INTEGER NOT NULL, previous TEXT,
    at INTEGER NOT NULL, bytes INTEGER NOT NULL, deleted INTEGER NOT NULL, needs TEXT NOT NULL, items TEXT NOT NULL,
    provider TEXT, background TEXT, content TEXT NOT NULL, UNIQUE (project, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS responses_by_time ON responses (project, at) WHERE deleted = 0;
  CREATE INDEX IF NOT EXISTS responses_by_age ON responses (at, project, id) WHERE deleted = 0;
  CREATE TABLE IF NOT EXISTS chains (
    project TEXT NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL, ancestors TEXT, UNIQUE (project, id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS needed (
    project TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (project, id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS removable (
    project TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS items (
    project TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (project, id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS amounts (
    project TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS subjects (project TEXT PRIMARY KEY, subject TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS erasures (
    subject TEXT PRIMARY KEY, project TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS needs_added AFTER INSERT ON responses WHEN new.needs <> '[]' BEGIN
    INSERT INTO needed SELECT new.project, value, new.id FROM json_each(new.needs);
  END;
  CREATE TRIGGER IF NOT EXISTS items_added AFTER INSERT ON responses WHEN new.items <> '[]' BEGIN
    INSERT INTO items SELECT new.project, value, new.id FROM json_each(new.items);
  END;
  CREATE TRIGGER IF NOT EXISTS response_added AFTER INSERT ON responses BEGIN
    INSERT INTO amounts (project, count, bytes) VALUES (new.project, 1, new.bytes)
      ON CONFLICT (project) DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER IF NOT EXISTS response_marked AFTER UPDATE OF deleted ON responses WHEN new.deleted > old.deleted BEGIN
    INSERT OR IGNORE INTO removable VALUES (old.project, old.id);
    DELETE FROM items WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.items));
    UPDATE amounts SET count = count - 1 WHERE project = old.project;
  END;
  CREATE TRIGGER IF NOT EXISTS response_ended AFTER UPDATE OF content ON responses BEGIN
    INSERT OR IGNORE INTO items SELECT new.project, value, new.id FROM json_each(new.items) WHERE new.deleted = 0;
    UPDATE amounts SET bytes = bytes - old.bytes + new.bytes WHERE project = old.project;
  END;
  CREATE TRIGGER IF NOT EXISTS response_gone AFTER DELETE ON responses BEGIN
    DELETE FROM chains WHERE project = old.project AND id = old.id;
    DELETE FROM removable WHERE project = old.project AND id = old.id;
    DELETE FROM needed WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.needs));
    INSERT OR IGNORE INTO removable SELECT project, id FROM responses
      WHERE project = old.project AND deleted = 1 AND id IN (SELECT value FROM json_each(old.needs));
    DELETE FROM items WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.items));
    UPDATE amounts SET count = count - 1 + old.deleted, bytes = bytes - old.bytes WHERE project = old.project;
    DELETE FROM amounts WHERE project = old.project AND bytes <= 0;
  END;
  ${copiesSchema}
`;
