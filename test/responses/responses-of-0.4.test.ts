import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sealText } from '#personal-data/sealed-text.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

/** The schema of release 0.4.0, as it is in its files. It never changes. */
const schemaOf04 = `
  CREATE TABLE responses (
    project TEXT NOT NULL, id TEXT NOT NULL, conversation TEXT NOT NULL, depth INTEGER NOT NULL, previous TEXT,
    at INTEGER NOT NULL, bytes INTEGER NOT NULL, deleted INTEGER NOT NULL, needs TEXT NOT NULL, items TEXT NOT NULL,
    provider TEXT, background TEXT, content TEXT NOT NULL, UNIQUE (project, id)
  ) STRICT;
  CREATE INDEX responses_by_conversation ON responses (project, conversation, depth) WHERE depth > 0;
  CREATE INDEX responses_by_time ON responses (project, at) WHERE deleted = 0;
  CREATE TABLE needed (
    project TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (project, id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE items (
    project TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (project, id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE amounts (
    project TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE subjects (project TEXT PRIMARY KEY, subject TEXT NOT NULL) STRICT;
  CREATE TRIGGER needs_added AFTER INSERT ON responses WHEN new.needs <> '[]' BEGIN
    INSERT INTO needed SELECT new.project, value, new.id FROM json_each(new.needs);
  END;
  CREATE TRIGGER items_added AFTER INSERT ON responses WHEN new.items <> '[]' BEGIN
    INSERT INTO items SELECT new.project, value, new.id FROM json_each(new.items);
  END;
  CREATE TRIGGER response_added AFTER INSERT ON responses BEGIN
    INSERT INTO amounts (project, count, bytes) VALUES (new.project, 1, new.bytes)
      ON CONFLICT (project) DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER response_deleted AFTER UPDATE OF deleted ON responses BEGIN
    UPDATE amounts SET count = count + old.deleted - new.deleted WHERE project = old.project;
  END;
  CREATE TRIGGER response_finished AFTER UPDATE OF content ON responses BEGIN
    INSERT OR IGNORE INTO items SELECT new.project, value, new.id FROM json_each(new.items);
    UPDATE amounts SET bytes = bytes - old.bytes + new.bytes WHERE project = old.project;
  END;
  CREATE TRIGGER response_removed AFTER DELETE ON responses BEGIN
    DELETE FROM needed WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.needs));
    DELETE FROM items WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.items));
    UPDATE amounts SET count = count - 1 + old.deleted, bytes = bytes - old.bytes WHERE project = old.project;
    DELETE FROM amounts WHERE project = old.project AND bytes <= 0;
  END;
  CREATE TABLE copies (
    project TEXT NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL,
    organization TEXT NOT NULL, partner TEXT, counted INTEGER NOT NULL, checkAt INTEGER NOT NULL,
    failures INTEGER NOT NULL, PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX copies_by_time ON copies (checkAt);
`;
const project = 'project1';
const subject = 'responses-project1-of-0.4';
const noLimit = { maxBytes: Number.MAX_SAFE_INTEGER, reserve: () => true };
const turns = 150;

describe('a file of stored responses of release 0.4', () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'responses.db');
  const keys = new InMemorySubjectKeys();
  let writer: SqliteWriter;
  let responses: StoredResponses;

  /** A conversation whose turns were all deleted but for the last one. */
  before(async () => {
    const key = (await keys.obtain(subject)) ?? assert.fail();
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA journal_mode = WAL; ${schemaOf04}`);
    database.prepare('INSERT INTO subjects VALUES (?, ?)').run(project, subject);
    const insert = database.prepare('INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    for (let index = 0; index < turns; index += 1) {
      const [id, previous] = [`r${index}`, index === 0 ? null : `r${index - 1}`];
      const text = `{"input":[],"response":{"id":"${id}","output":[]}}`;
      const content = sealText(key, { subject, field: id }, text).ciphertext;
      const needs = JSON.stringify(previous === null ? [] : [previous]);
      const place = [project, id, 'r0', index, previous, Date.now(), content.length] as const;
      insert.run(...place, 0, needs, `["m${index}"]`, 'openai', null, content);
    }
    database.prepare('UPDATE responses SET deleted = 1 WHERE depth < ?').run(turns - 1);
    insert.run('project2', 'left', 'left', 0, null, Date.now(), 1, 1, '[]', '[]', null, null, 'x');
    database.close();
    writer = new SqliteWriter({ onFatal: assert.fail });
    const store = openSqliteResponseStore({ file, writer });
    responses = new StoredResponses({ store, keys, ttlDays: 30, quotaBytes: 1e9 });
  });
  after(async () => {
    await responses.close();
    await writer.close();
    rmSync(folder.path, { recursive: true });
  });

  it('loses a deleted response whose removal the end of a process has prevented', async () => {
    await responses.removal.removeAll(new AbortController().signal);
    assert.equal(await responses.store.bytesOf('project2'), 0);
    assert.notEqual(await responses.store.find(project, 'r0'), null);
    assert.deepEqual(await responses.store.projectsToClean(9), []);
  });

  it('is read, is continued, and loses with its last response what nothing needs any more', async () => {
    const before = await responses.turns.conversation(project, `r${turns - 1}`, noLimit);
    assert.ok(Array.isArray(before) && before.length === turns, `${before}`);
    const previous = before.at(-1)?.outline ?? assert.fail();
    const rest = { inputText: '[]', responseText: '{"output":[]}', provider: null, referenced: [], names: [] };
    assert.equal(await responses.add({ ...rest, projectId: project, id: 'new', previous }), 'stored');
    const after = await responses.turns.conversation(project, 'new', noLimit);
    assert.ok(Array.isArray(after) && after.length === turns + 1);
    await responses.delete(project, `r${turns - 1}`);
    await responses.removal.idle();
    assert.notEqual(await responses.store.find(project, 'r0'), null, 'the new one needs it');
    await responses.delete(project, 'new');
    await responses.removal.idle();
    assert.deepEqual(await responses.amountOf(project), { count: 0, bytes: 0, oldestAt: null });
  });
});
