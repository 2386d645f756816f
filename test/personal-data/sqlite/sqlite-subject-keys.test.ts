import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteSubjectKeys } from '#personal-data/subject-keys.sqlite.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { subjectKeysContract } from '#test/contract/subject-keys.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'subject-keys-'));

subjectKeysContract('SQLite', async () => {
  const folder = await newFolder();
  const file = join(folder, 'keys.db');
  const writer = new SqliteWriter({ onFatal: assert.fail });
  return {
    keys: openSqliteSubjectKeys({ file, writer }),
    another: () => openSqliteSubjectKeys({ file, writer }),
    dispose: async () => {
      await writer.close();
      await rm(folder, { recursive: true });
    },
  };
});

describe('openSqliteSubjectKeys', () => {
  let folder: string;
  let writer: SqliteWriter;
  beforeEach(async () => {
    folder = await newFolder();
    writer = new SqliteWriter({ onFatal: assert.fail });
  });
  afterEach(async () => {
    await writer.close();
    await rm(folder, { recursive: true });
  });

  const open = (file = join(folder, 'keys.db')) => openSqliteSubjectKeys({ file, writer });

  const contents = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const holds = (files: ReadonlyArray<Buffer>, secret: Buffer) => files.some((bytes) => bytes.includes(secret));

  it('creates files that only their owner can access', async () => {
    const keys = open();
    await keys.obtain('one');
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    await keys.close();
  });

  it('refuses any other file, and leaves it unchanged', () => {
    const other = join(folder, 'events.db');
    const database = new DatabaseSync(other);
    database.exec('CREATE TABLE events (position INTEGER PRIMARY KEY) STRICT');
    database.close();
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'no database '.repeat(100));
    const before = contents();
    for (const file of [other, text, folder]) {
      assert.throws(() => open(file), new RegExp(`^StartupError: .*${file}`));
    }
    assert.deepEqual(contents(), before);
  });

  it('leaves no byte of destroyed keys, whichever of thousands, in any order', async function () {
    this.timeout(180_000);
    const keys = open();
    const made = new Map<string, Buffer>();
    for (let index = 0; index < 1_000; index += 1) {
      // Inserted out of order, so that the index splits its pages everywhere.
      const subject = `subject ${(index * 7_919) % 1_000} ${'x'.repeat(index % 40)}`;
      made.set(subject, Buffer.from((await keys.obtain(subject)) ?? []));
    }
    const before = contents();
    for (const secret of made.values()) assert.ok(secret.length > 0 && holds(before, secret));
    const order = [...made].sort(([one], [other]) => (one < other ? -1 : 1));
    const doomed = order.filter((_, index) => index % 4 === 0);
    for (const [subject] of doomed) await keys.destroy(subject);
    const after = contents();
    for (const [subject, secret] of doomed) assert.ok(!holds(after, secret), subject);
    assert.equal((await keys.find([...made.keys()])).size, made.size - doomed.length);
    await keys.close();
  });

  it('returns a key that is stored in the file, also for another connection', async () => {
    const keys = open();
    const key = await keys.obtain('one');
    const database = new DatabaseSync(join(folder, 'keys.db'), { readOnly: true });
    try {
      assert.deepEqual(database.prepare('SELECT secret FROM subjectKeys').get()?.secret, key);
    } finally {
      database.close();
      await keys.close();
    }
  });

  it('erases a key from the write-ahead log of an ended process', async () => {
    const file = join(folder, 'keys.db');
    const diedWriter = new SqliteWriter({ onFatal: assert.fail });
    const died = openSqliteSubjectKeys({ file, writer: diedWriter });
    const secret = Buffer.from((await died.obtain('one')) ?? []);
    assert.ok(secret.length > 0 && holds(contents(), secret));
    // It is not closed, so that its write-ahead log stays unchanged.
    const next = open(file);
    await next.destroy('one');
    assert.ok(!holds(contents(), secret));
    await next.close();
    await died.close();
    await diedWriter.close();
    assert.ok(!holds(contents(), secret));
  });
});
