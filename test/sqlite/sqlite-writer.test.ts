import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Admission } from '#exchange/admission.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { isOutage, RefusedWriteError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { SqliteFile } from '#sqlite/sqlite-file.ts';
import { SqliteWriter, type SqliteWriterOptions, type SqlValue, type SqlWrite } from '#sqlite/sqlite-writer.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const schema = 'CREATE TABLE IF NOT EXISTS texts (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT';
const failingCheckpoint = new URL('../support/fakes/failing-checkpoint-thread.ts', import.meta.url);
const dyingThread = new URL('../support/fakes/dying-writer-thread.ts', import.meta.url);

describe('SqliteWriter', () => {
  let folder: TemporaryFolder;
  let writer: SqliteWriter;
  let failures: Error[];
  const files: SqliteFile[] = [];
  beforeEach(() => {
    folder = temporaryFolder();
    failures = [];
    writer = open();
  });
  afterEach(async () => {
    await writer.close();
    for (const file of files.splice(0)) file.close();
    folder.remove();
  });

  const writesUpTo = (maxPlaces: number, maxBytes: number) =>
    new Admission({ limits: { rooms: { 'small write': { maxPlaces, maxBytes } } } });
  const open = (options: Partial<SqliteWriterOptions> = {}) =>
    new SqliteWriter({ onFatal: (error) => failures.push(error), ...options });
  const reopen = async (options: Partial<SqliteWriterOptions>) => {
    await writer.close();
    writer = open(options);
  };
  const table = (name: string, isDurable = false) => {
    const path = join(folder.path, name);
    const file = new SqliteFile({ file: path, contents: 'The texts', schema, writer, isDurable });
    files.push(file);
    return {
      path,
      write: (write: SqlWrite) => file.write(write),
      insert: (...rows: SqlValue[][]) =>
        file.write({ statements: [{ sql: 'INSERT INTO texts (name, body) VALUES (?, ?)', rows }] }),
      names: () => file.rows('SELECT name FROM texts ORDER BY name'),
    };
  };

  it('shows every answered write to readers, in several files', async () => {
    const [one, two] = [table('one.db'), table('two.db', true)];
    await Promise.all([one.insert(['a', '']), two.insert(['b', '']), one.insert(['c', ''])]);
    assert.deepEqual(one.names(), [{ name: 'a' }, { name: 'c' }].map(row));
    assert.deepEqual(two.names(), [{ name: 'b' }].map(row));
  });

  it('writes all the bytes that may wait with a third of the memory of its thread', async () => {
    await reopen({ maxHeapMb: 170 });
    const one = table('one.db');
    const text = 'ü'.repeat(1_024 * 1_023);
    const outcomes = await Promise.allSettled(Array.from({ length: 65 }, (_, index) => one.insert([`${index}`, text])));
    const [written, refused] = ['fulfilled', 'rejected'].map(
      (status) => outcomes.filter((outcome) => outcome.status === status).length,
    );
    assert.deepEqual([written, refused, failures], [64, 1, []]);
  });

  it('writes all statements of a failed write, or none, and the writes beside it', async () => {
    const one = table('one.db');
    const outcomes = await Promise.allSettled([
      one.insert(['a', '']),
      one.insert(['b', ''], ['a', '']),
      one.insert(['c', '']),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.ok(outcomes[1]?.status === 'rejected' && outcomes[1].reason instanceof UnavailableError);
    assert.deepEqual(one.names(), [{ name: 'a' }, { name: 'c' }].map(row));
  });

  it('refuses a write whose query finds a row, also one of the same transaction', async () => {
    const one = table('one.db');
    const unless = { sql: 'SELECT 1 FROM texts WHERE name = ?', values: ['a'] };
    const write = (name: string) =>
      one.write({
        statements: [{ sql: 'INSERT INTO texts (name, body) VALUES (?, ?)', rows: [[name, '']] }],
        unless,
      });
    assert.deepEqual(await Promise.all([write('b'), write('a'), write('c')]), ['done', 'done', 'refused']);
    assert.deepEqual(one.names(), [{ name: 'a' }, { name: 'b' }].map(row));
  });

  it('leaves no overwritten byte of a durable file when asked', async () => {
    const one = table('one.db', true);
    const secret = 'a secret of the test';
    await one.insert(['a', secret]);
    const holds = () => ['', '-wal'].some((ending) => readFileSync(one.path + ending).includes(secret));
    assert.ok(holds());
    const overwrite = { sql: 'UPDATE texts SET body = ?', rows: [['x'.repeat(secret.length)]] };
    await one.write({ statements: [overwrite], emptiesLog: true });
    assert.ok(!holds());
  });

  it('fails a write whose log cannot be emptied, because a reader uses it', async function () {
    this.timeout(30_000);
    const one = table('one.db', true);
    await one.insert(['a', '']);
    const reader = new DatabaseSync(one.path, { readOnly: true });
    try {
      reader.exec('BEGIN');
      reader.prepare('SELECT * FROM texts').all();
      const message = /^UnavailableError: The texts cannot be written: the file is in use\.$/;
      await assert.rejects(one.write({ statements: [], emptiesLog: true }), message);
    } finally {
      reader.close();
    }
    await one.write({ statements: [], emptiesLog: true });
  });

  it('executes each write once when the log cannot be emptied, and fails only the write that asked for it', async () => {
    await reopen({ entry: failingCheckpoint });
    const one = table('one.db');
    const insert = (name: string) => ({
      statements: [{ sql: 'INSERT INTO texts (name, body) VALUES (?, ?)', rows: [[name, '']] }],
    });
    const unless = { sql: 'SELECT 1 FROM texts WHERE name = ?', values: ['a'] };
    const [first, emptying, last] = await Promise.allSettled([
      one.write({ ...insert('a'), unless }),
      one.write({ ...insert('b'), emptiesLog: true }),
      one.write(insert('c')),
    ]);
    assert.deepEqual([first, last], Array(2).fill({ status: 'fulfilled', value: 'done' }));
    assert.ok(emptying.status === 'rejected', 'the log is not emptied');
    assert.match(String(emptying.reason), /^UnavailableError: The texts cannot be written: disk I\/O error\.$/);
    assert.deepEqual(
      one.names(),
      ['a', 'b', 'c'].map((name) => row({ name })),
    );
  });

  it('refuses writes beyond its limits, and accepts further ones after the answers', async () => {
    await reopen({ admission: writesUpTo(2, 50) });
    const one = table('one.db');
    await assert.rejects(one.insert(['large', 'x'.repeat(50)]), UnavailableError);
    const accepted = [one.insert(['a', '']), one.insert(['b', ''])];
    await assert.rejects(one.insert(['c', '']), /^UnavailableError: Too many writes/);
    await Promise.all(accepted);
    await one.insert(['d', '']);
    assert.equal(one.names().length, 3);
  });

  it('says whether it is the values of a write that SQLite does not take', async () => {
    const one = table('one.db');
    await one.insert(['a', '']);
    for (const values of [
      ['a', ''],
      [null, null],
      [undefined as unknown as string, ''],
    ])
      await assert.rejects(one.insert(values), RefusedWriteError);
    const reader = new DatabaseSync(one.path);
    try {
      reader.exec('DROP TABLE texts');
    } finally {
      reader.close();
    }
    await assert.rejects(one.insert(['b', '']), (error) => isOutage(error));
  });

  it('writes the first write of a project before most of those of another one', async function () {
    this.timeout(30_000);
    const one = table('one.db');
    const done: string[] = [];
    const insert = (project: string, name: string, body = '') =>
      runFor(project, () => one.insert([name, body])).then(() => done.push(project));
    const text = 'x'.repeat(1024 * 1024);
    const busy = Array.from({ length: 30 }, (_, index) => insert('busy', `busy ${index}`, text));
    await Promise.all([...busy, insert('quiet', 'quiet')]);
    // The thread has 8 MiB at a time.
    assert.ok(done.indexOf('quiet') <= 9, `${done.indexOf('quiet')} of 30 are before it`);
  });

  it('leaves half of its places, and half of its bytes, to other projects', async () => {
    await reopen({ admission: writesUpTo(10, 1_000) });
    const one = table('one.db');
    const insert = (project: string, name: string, body = '') => runFor(project, () => one.insert([name, body]));
    const accepted = Array.from({ length: 5 }, (_, index) => insert('busy', `${index}`));
    await assert.rejects(insert('busy', 'too many'), UnavailableError);
    accepted.push(insert('quiet', 'quiet'));
    await Promise.all(accepted);
    const large = [insert('busy', 'large', 'x'.repeat(600))];
    await assert.rejects(insert('busy', 'too large', 'x'.repeat(100)), UnavailableError);
    large.push(insert('quiet', 'small', 'x'.repeat(100)));
    await Promise.all(large);
    assert.equal(one.names().length, 8);
  });

  it('ends a wait for the thread after a limit', async () => {
    await reopen({ entry: dyingThread, answerTimeoutMs: 20 });
    await assert.rejects(
      table('one.db').insert(['a', '']),
      /^UnavailableError: The texts cannot be written: .*does not answer\.$/,
    );
    assert.deepEqual(failures, []);
  });

  it('reports a thread that dies once, and refuses waiting and further writes', async () => {
    await reopen({ entry: dyingThread });
    const one = table('one.db');
    const waiting = [one.insert(['a', '']), one.insert(['b', ''])];
    for (const write of waiting) await assert.rejects(write, UnavailableError);
    await assert.rejects(one.insert(['c', '']), UnavailableError);
    assert.deepEqual(
      failures.map(({ message }) => message),
      ['The test ends the thread.'],
    );
    await writer.close();
    assert.equal(failures.length, 1);
  });

  it('writes everything that was accepted before it is closed, and refuses the rest', async () => {
    const one = table('one.db');
    const accepted = Array.from({ length: 1_200 }, (_, index) => one.insert([`name ${index}`, '']));
    const closed = writer.close();
    await assert.rejects(one.insert(['late', '']), UnavailableError);
    await Promise.all([...accepted, closed, writer.close()]);
    assert.equal(one.names().length, 1_200);
    assert.deepEqual(failures, []);
  });
});

/** A row as `node:sqlite` returns it: without a prototype. */
function row(values: object): object {
  return Object.assign(Object.create(null), values);
}
