import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Admission } from '#exchange/admission.ts';
import { sealText } from '#personal-data/sealed-text.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

const project = 'project1';
const subject = 'responses-project1-of-0.4';
const noLimit = { maxBytes: Number.MAX_SAFE_INTEGER, reserve: () => true };
const turns = 150;

describe('a conversation that release 0.4 has stored, in a file that release 0.5.0 has opened', () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'responses.db');
  const keys = new InMemorySubjectKeys();
  let writer: SqliteWriter;
  let responses: StoredResponses;

  /** A conversation whose turns were all deleted but for the last one. */
  before(async () => {
    const key = (await keys.obtain(subject)) ?? assert.fail();
    writer = new SqliteWriter({ onFatal: assert.fail });
    const store = openSqliteResponseStore({ file, writer });
    responses = new StoredResponses({ admission: new Admission(), store, keys, ttlDays: 30, quotaBytes: 1e9 });
    // Its responses have no chains, because release 0.4 stored neither ancestors nor subjects.
    const database = new DatabaseSync(file);
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
    database.close();
  });
  after(async () => {
    await responses.close();
    await writer.close();
    rmSync(folder.path, { recursive: true });
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
