import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type {
  Generation,
  GenerationCommit,
  ProjectionStatus,
  ReadStore,
  ReadStoreWriter,
} from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type OpenReadStore, readStoreContract } from '#test/contract/read-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const removed = 25_000;
readStoreContract('SQLite', async () => openIn(await mkdtemp(join(tmpdir(), 'read-store-'))), removed);
readStoreContract(
  'SQLite with a thread that writes',
  async () => openIn(await mkdtemp(join(tmpdir(), 'read-store-')), 0),
  removed,
);

const status: ProjectionStatus = {
  name: 'items',
  version: 1,
  state: 'running',
  ready: true,
  begunAt: 0,
  position: 4,
  failure: null,
  rebuild: null,
  incompleteStreams: noIncompleteStreams,
};

describe('SQLite read store file', () => {
  let folder: string;
  let file: string;
  let warnings: string[];
  const openWriter = () => openSqliteReadStoreWriter(file, (message) => warnings.push(message));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'read-store-'));
    file = join(folder, 'read-store.sqlite');
    warnings = [];
  });
  afterEach(() => rm(folder, { recursive: true }));

  const assertSetAside = async () => {
    const writer = openWriter();
    try {
      assert.deepEqual(await writer.generations('items'), { current: null, filling: null });
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', /set aside/);
      assert.ok((await readdir(folder)).some((name) => name.includes('.set-aside-')));
    } finally {
      await writer.close();
    }
  };

  it('sets aside a file that is not a database', async () => {
    await writeFile(
      file,
      'this is not a database, but it is long enough to have a header of a hundred bytes'.repeat(9),
    );
    await assertSetAside();
  });

  it('sets aside a database that is not a read store', async () => {
    const foreign = new DatabaseSync(file);
    foreign.exec('CREATE TABLE precious (id)');
    foreign.close();
    await assertSetAside();
  });

  it('sets aside a foreign database that has no table yet, by its mark', async () => {
    for (const mark of ['application_id', 'user_version']) {
      await rm(file, { force: true });
      const foreign = new DatabaseSync(file);
      foreign.exec(`PRAGMA ${mark} = 7`);
      foreign.close();
      warnings = [];
      await assertSetAside();
    }
  });

  it('sets aside a read store of a newer release', async () => {
    await openWriter().close();
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await assertSetAside();
  });

  describe('a deferred commit', () => {
    const definition = { name: 'items', version: 1, indexes: [] };
    const commitOf = (generation: Generation, id: string, checkpoint: number): GenerationCommit => ({
      generation,
      checkpoint,
      writes: [{ kind: 'put', id, order: 1, value: { id }, body: JSON.stringify({ id }), position: checkpoint }],
    });
    let writer: ReadStoreWriter;
    let reader: ReadStore;

    beforeEach(() => {
      writer = openWriter();
      reader = openSqliteReadStore(file);
    });
    afterEach(async () => {
      await reader.close();
      await writer.close();
    });

    const has = async (id: string) => (await reader.get('items', id)) !== null;

    it('stores a deferred commit with the next one, and lets the writer read it before that', async () => {
      const generation = await writer.begin(definition, 0);
      await writer.commit([commitOf(generation, 'a', 1)], true);
      assert.equal(await has('a'), false);
      assert.deepEqual([...(await writer.read(generation, ['a'])).keys()], ['a']);
      await writer.commit([commitOf(generation, 'b', 2)]);
      assert.deepEqual([await has('a'), await has('b')], [true, true]);
    });

    it('stores a deferred commit with any other write but a status, and on close', async () => {
      const generation = await writer.begin(definition, 0);
      await writer.commit([commitOf(generation, 'a', 1)], true);
      await writer.saveStatus([]);
      assert.equal(await has('a'), false);
      await writer.saveOperatorState({ position: 1, skipped: {} });
      assert.equal(await has('a'), true);
      await writer.commit([commitOf(generation, 'b', 2)], true);
      await writer.close();
      assert.equal(await has('b'), true);
      writer = openWriter();
      assert.equal((await writer.generations('items')).current?.checkpoint, 2);
    });

    it('stores a commit immediately when readers see its generation, or shortly after another commit', async () => {
      const read = await writer.begin(definition, 0);
      await writer.commit([commitOf(read, 'a', 1)], true);
      await writer.publish(read);
      await writer.commit([commitOf(read, 'b', 2)], true);
      assert.equal(await has('b'), true);
      const filling = await writer.begin({ ...definition, name: 'others' }, 0);
      await writer.commit([commitOf(filling, 'c', 1)], true);
      assert.notEqual(await reader.get('others', 'c'), null);
    });

    it('stores a status immediately when no commit is deferred', async () => {
      await writer.begin(definition, 0);
      await writer.saveStatus([status]);
      assert.deepEqual(
        (await reader.status()).map(({ name }) => name),
        ['items'],
      );
    });

    it('loses a deferred commit with its checkpoint in a crash, and nothing else', async () => {
      const generation = await writer.begin(definition, 0);
      await writer.commit([commitOf(generation, 'a', 1)]);
      await writer.commit([commitOf(generation, 'b', 2)], true);
      const copy = join(folder, 'copy.sqlite');
      for (const suffix of ['', '-wal']) await copyFile(file + suffix, copy + suffix);
      const after = openSqliteReadStoreWriter(copy, assert.fail);
      const { current } = await after.generations('items');
      assert.ok(current);
      assert.equal(current.checkpoint, 1);
      assert.deepEqual([...(await after.read(current, ['a', 'b'])).keys()], ['a']);
      await after.close();
    });
  });

  it('gives the document of a new generation as soon as that is published, while the old one is still there', async () => {
    const writer = openWriter();
    const reader = openSqliteReadStore(file);
    const filled = async (version: number) => {
      const generation = await writer.begin({ name: 'items', version, indexes: [] }, 0);
      const body = JSON.stringify({ version });
      const write = { kind: 'put', id: 'a', order: 1, value: { version }, body, position: 1 } as const;
      await writer.commit([{ generation, checkpoint: 1, writes: [write] }]);
      await writer.finish(generation);
      return generation;
    };
    await writer.publish(await filled(1));
    assert.deepEqual((await reader.get('items', 'a'))?.value, { version: 1 });
    const { number } = await filled(2);
    // As `publish` does in its first transaction. The second one removes the old documents.
    const other = new DatabaseSync(file);
    other.prepare("UPDATE collection SET generation = ? WHERE name = 'items'").run(number);
    other.close();
    assert.deepEqual((await reader.get('items', 'a'))?.value, { version: 2 });
    assert.equal(await reader.get('items', 'b'), null);
    await reader.close();
    await writer.close();
  });

  it('creates the indexes that cost little during a fill, and the others at its end', async () => {
    const writer = openWriter();
    const indexesNow = () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '%By%'").all();
      database.close();
      return rows.length;
    };
    const generation = await writer.begin({ name: 'items', version: 1, indexes: [['group'], ['key']] }, 0);
    const put = (from: number, to: number) =>
      writer.commit([
        {
          generation,
          checkpoint: to,
          writes: Array.from({ length: to - from }, (_, index) => {
            const value = { group: `g${index % 9}`, key: `k${from + index}` };
            const order = from + index;
            return {
              kind: 'put',
              id: `d${order}`,
              order,
              value,
              body: JSON.stringify(value),
              position: order,
            } as const;
          }),
        },
      ]);
    await put(1, 2_000);
    assert.equal(indexesNow(), 0, 'too few documents to decide');
    await put(2_000, 6_000);
    assert.equal(indexesNow(), 2, 'the index of the whole list, and that of the nine groups');
    await writer.finish(generation);
    assert.equal(indexesNow(), 3);
    await writer.close();
  });

  it('writes no entry of an index for a document whose indexed fields stay as they are', async () => {
    const writer = openWriter();
    const indexes = [['a'], ['b'], ['c']];
    const generation = await writer.begin({ name: 'items', version: 1, indexes }, 0);
    const documents = 5_000;
    const numbers = Array.from({ length: documents }, (_, number) => number);
    const put = (number: number, position: number, fields: object) => {
      const value = { ...fields, position };
      return { kind: 'put', id: `d${number}`, order: number, value, body: JSON.stringify(value), position } as const;
    };
    // Multiples of a prime spread the entries over each index in another order.
    const fieldsOf = (number: number) => ({
      a: (number * 7919) % documents,
      b: (number * 104729) % documents,
      c: (number * 1299709) % documents,
    });
    const commit = (position: number, changed: ReadonlyArray<number>, fields: (number: number) => object) =>
      writer.commit([
        { generation, checkpoint: position, writes: changed.map((number) => put(number, position, fields(number))) },
      ]);
    await commit(1, numbers, fieldsOf);
    await writer.finish(generation);
    await writer.publish(generation);
    const pagesOf = async (work: () => Promise<void>) => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
      await work();
      return Math.floor((await stat(`${file}-wal`)).size / 8192);
    };
    const some = numbers.filter((number) => number % 500 === 0);
    const unchanged = await pagesOf(() => commit(2, some, fieldsOf));
    const changed = await pagesOf(() => commit(3, some, (number) => ({ ...fieldsOf(number), a: -number })));
    assert.ok(unchanged <= some.length + 2, `${unchanged} pages`);
    assert.ok(changed > some.length * 2, `${changed} pages`);
    await writer.close();
  });

  it('leaves only the file itself behind when it is closed', async () => {
    const writer = openWriter();
    await writer.saveStatus([status]);
    await writer.close();
    await writer.close();
    assert.deepEqual(await readdir(folder), ['read-store.sqlite']);
  });

  it('opens its own file again without a warning', async () => {
    await openWriter().close();
    await openWriter().close();
    assert.deepEqual(warnings, []);
  });

  it('is unavailable to readers before the writer has made the file, and readable after it', async () => {
    const reader = openSqliteReadStore(file);
    await assert.rejects(reader.status(), UnavailableError);
    const writer = openWriter();
    assert.deepEqual(await reader.status(), []);
    await reader.close();
    await writer.close();
  });

  it('reopens the file for readers when the writer has begun a new one', async () => {
    const reader = openSqliteReadStore(file);
    await openWriter().close();
    assert.deepEqual(await reader.status(), []);
    await writeFile(`${file}-next`, 'damaged');
    await rm(file);
    await writeFile(file, 'x'.repeat(5000));
    const writer = openWriter();
    await writer.saveStatus([status]);
    await eventually(async () => (await reader.status()).length === 1, 'the reader reads the new file');
    await reader.close();
    await writer.close();
  });
});

function openIn(folder: string, putsBeforeThread?: number): OpenReadStore {
  const file = join(folder, 'read-store.sqlite');
  const options = putsBeforeThread === undefined ? {} : { putsBeforeThread };
  const writer = openSqliteReadStoreWriter(file, assert.fail, options);
  const reader = openSqliteReadStore(file);
  const close = async () => {
    await reader.close();
    await writer.close();
  };
  return {
    reader,
    writer,
    reopen: async () => {
      await close();
      return openIn(folder, putsBeforeThread);
    },
    dispose: async () => {
      await close();
      await rm(folder, { recursive: true });
    },
  };
}
