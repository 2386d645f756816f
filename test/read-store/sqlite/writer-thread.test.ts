import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DocumentWrite, Generation, ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const documentsOfCommit = 500;
const definition = { name: 'items', version: 1, indexes: [['group'], ['key']] };
const page = { limit: 100_000, maxBytes: 1e9 };

describe('a read store whose filling is written by a thread', () => {
  let folder: string;
  let file: string;
  let writer: ReadStoreWriter;
  let reader: ReadStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'read-store-'));
    file = join(folder, 'read-store.sqlite');
    writer = openSqliteReadStoreWriter(file, assert.fail, { putsBeforeThread: 2 * documentsOfCommit });
    reader = openSqliteReadStore(file);
  });
  afterEach(async () => {
    await reader.close();
    await writer.close().catch(() => undefined);
    await rm(folder, { recursive: true });
  });

  /** Puts this many commits of a filling, each marked as followed by another one. */
  const fill = async (generation: Generation, commits: number, from = 0) => {
    for (let number = from; number < from + commits; number += 1)
      await writer.commit([{ generation, writes: writesOf(number), checkpoint: lastOf(number) }], true);
  };
  const stored = async () => (await reader.list('items', {}, page)).documents.map(({ order }) => order);

  it('stores the commits before, during and after the thread, and publishes them with all indexes', async () => {
    const generation = await writer.begin(definition, 0);
    await fill(generation, 14);
    const [id = ''] = writesOf(0).map((write) => ('id' in write ? write.id : ''));
    assert.deepEqual((await writer.read(generation, [id])).get(id)?.value, { group: 'g0', key: 'd0' });
    await writer.finish(generation);
    await writer.publish(generation);
    await writer.commit([{ generation, writes: writesOf(14), checkpoint: lastOf(14) }]);
    assert.deepEqual(await stored(), upTo(15));
    assert.equal((await reader.list('items', { group: 'g1' }, page)).documents.length, (15 * documentsOfCommit) / 5);
    assert.equal((await reader.list('items', { key: 'd700' }, page)).documents.length, 1);
    assert.deepEqual(indexesOf(file), 3);
  });

  it('keeps only the deferred commits up to its checkpoint after a crash', async () => {
    const generation = await writer.begin(definition, 0);
    await fill(generation, 10);
    const copy = join(folder, 'copy.sqlite');
    for (const suffix of ['', '-wal']) await copyFile(file + suffix, copy + suffix);
    const after = openSqliteReadStoreWriter(copy, assert.fail);
    const { current } = await after.generations('items');
    assert.ok(current);
    const documents = openSqliteReadStore(copy);
    const orders = (await documents.list('items', {}, page)).documents.map(({ order }) => order);
    assert.deepEqual(orders, upTo(current.checkpoint / documentsOfCommit));
    await documents.close();
    await after.close();
  });

  it('fails when the thread does not answer, so that its owner starts again', async () => {
    const generation = await writer.begin(definition, 0);
    await fill(generation, 3);
    // Ends the transaction.
    await writer.commit([{ generation, writes: writesOf(3), checkpoint: lastOf(3) }]);
    using time = new SimulatedTime(new Random(1)).install();
    using lock = new DatabaseSync(file);
    lock.exec('BEGIN IMMEDIATE');
    const silent = assert.rejects(writer.saveOperatorState({ position: 1, skipped: {} }), /does not answer/);
    await time.pass(900_000);
    await silent;
    await assert.rejects(writer.generations('items'), /does not answer/);
    lock.exec('ROLLBACK');
  });

  it('refuses and stores nothing after a deferred commit has failed', async () => {
    const generation = await writer.begin(definition, 0);
    await fill(generation, 3);
    const impossible: DocumentWrite = { kind: 'delete-where', where: { undeclared: 1 }, position: 1 };
    await writer.commit([{ generation, writes: [impossible], checkpoint: 9999 }], true).catch(() => undefined);
    await assert.rejects(async () => {
      for (let number = 3; number < 100; number += 1) await fill(generation, 1, number);
    }, /lost commits that were put off|before it that were put off have failed/);
    await assert.rejects(writer.publish(generation));
    await writer.close().catch(() => undefined);
    writer = openSqliteReadStoreWriter(file, assert.fail);
    const { current } = await writer.generations('items');
    assert.ok((current?.checkpoint ?? 9999) <= lastOf(2));
    assert.deepEqual(await stored(), upTo((current?.checkpoint ?? 0) / documentsOfCommit));
  });

  it('stores nothing of a deferred commit of many parts whose last part fails', async () => {
    const generation = await writer.begin(definition, 0);
    await fill(generation, 4);
    const large = writesOf(4).map((write) => ({ ...write, body: JSON.stringify({ text: 'x'.repeat(1000) }) }));
    const impossible: DocumentWrite = { kind: 'delete-where', where: { undeclared: 1 }, position: 1 };
    await writer.commit([{ generation, writes: [...large, impossible], checkpoint: lastOf(4) }], true).catch(() => {});
    await assert.rejects(writer.publish(generation));
    await writer.close().catch(() => undefined);
    writer = openSqliteReadStoreWriter(file, assert.fail);
    const { current } = await writer.generations('items');
    assert.ok((current?.checkpoint ?? 9999) <= lastOf(3));
    assert.deepEqual(await stored(), upTo((current?.checkpoint ?? 0) / documentsOfCommit));
  });

  it('saves the operator state and the status while the file passes between threads', async () => {
    const generation = await writer.begin(definition, 0);
    const saves: Promise<void>[] = [];
    for (let number = 0; number < 6; number += 1) {
      const commit = writer.commit([{ generation, writes: writesOf(number), checkpoint: lastOf(number) }], true);
      saves.push(writer.saveOperatorState({ position: number, skipped: {} }));
      await commit;
    }
    await Promise.all(saves);
    assert.equal((await writer.operatorState()).position, 5);
    await writer.finish(generation);
    await Promise.all([writer.publish(generation), writer.saveOperatorState({ position: 9, skipped: {} })]);
    assert.equal((await writer.operatorState()).position, 9);
    assert.deepEqual(await stored(), upTo(6));
  });
});

/** Returns the documents of a commit. Their orders increase from one commit to the next. */
function writesOf(number: number): ReadonlyArray<DocumentWrite> {
  return Array.from({ length: documentsOfCommit }, (_, index) => {
    const order = number * documentsOfCommit + index;
    const value = { group: `g${order % 5}`, key: `d${order}` };
    return { kind: 'put', id: `d${order}`, order, value, body: JSON.stringify(value), position: order };
  });
}

/** Returns the checkpoint after a commit. */
function lastOf(number: number): number {
  return (number + 1) * documentsOfCommit;
}

/** Returns the orders of all documents of the first commits. */
function upTo(commits: number): ReadonlyArray<number> {
  return Array.from({ length: commits * documentsOfCommit }, (_, order) => order);
}

function indexesOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare("SELECT count(*) AS count FROM sqlite_schema WHERE type = 'index' AND name LIKE '%By%'")
      .get()?.count;
  } finally {
    database.close();
  }
}
