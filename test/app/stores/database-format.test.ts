import assert from 'node:assert/strict';
import { checkDatabaseFormat, recordDatabaseFormat, type SharedDatabase } from '#app/database-format.ts';
import { ownFormat } from '#app/stored-format.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Json } from '#shared/json/json.ts';
import { oldestFormat } from '#shared/stored-format.ts';

/** The record of the format in memory, fenced like a record store. */
class FormatRecord {
  value: Json | null = null;
  #fence = 0;

  async get(): Promise<Json | null> {
    return this.value;
  }

  async take(_kind: string, fence: number): Promise<void> {
    if (fence < this.#fence) throw new FencedError('A newer token is known.');
    this.#fence = fence;
  }

  async put(_kind: string, entries: ReadonlyMap<string, Json>, { fence = 0 } = {}): Promise<void> {
    if (fence < this.#fence) throw new FencedError('A newer token is known.');
    for (const [key, value] of entries) {
      assert.equal(key, 'database');
      this.value = value;
    }
  }
}

describe('the format of a shared database', () => {
  let record: FormatRecord;
  let collections: ReadonlyArray<string>;
  let database: SharedDatabase;
  beforeEach(() => {
    record = new FormatRecord();
    collections = [];
    database = { records: record, connection: { collectionNames: async () => collections } };
  });
  const isNewer = (error: unknown) =>
    error instanceof StartupError &&
    error.message.includes('READ_STORE_URL') &&
    error.message.includes('Switchyard 9.1.0 (format 9,');

  it('is none in a database with nothing but what a tool has copied there, and its own after a start', async () => {
    collections = ['subjectKeys'];
    assert.equal(await checkDatabaseFormat(database, 'READ_STORE_URL'), null);
    await recordDatabaseFormat(database, 'READ_STORE_URL');
    assert.equal(await checkDatabaseFormat(database, 'READ_STORE_URL'), ownFormat.format);
    assert.deepEqual(record.value, ownFormat);
  });

  it('refuses a database of an older release in one line that names the release to go through', async () => {
    const isTooOld = (release: string) => (error: unknown) =>
      error instanceof StartupError &&
      error.message ===
        `The database of READ_STORE_URL was written by Switchyard ${release}: start Switchyard 0.5.0 once on it, then this release.`;
    const stored = { format: oldestFormat - 1, writtenBy: '0.4.0' };
    record.value = stored;
    await assert.rejects(recordDatabaseFormat(database, 'READ_STORE_URL'), isTooOld('0.4.0'));
    assert.deepEqual(record.value, stored);
    record.value = null;
    collections = ['leases', 'readModels'];
    await assert.rejects(recordDatabaseFormat(database, 'READ_STORE_URL'), isTooOld('0.3.0 or an older release'));
    assert.equal(record.value, null);
  });

  it('rises from that of the release before', async () => {
    record.value = { format: oldestFormat, writtenBy: '0.5.0' };
    collections = ['readModels', 'readModelGenerations'];
    await recordDatabaseFormat(database, 'READ_STORE_URL');
    assert.deepEqual(record.value, ownFormat);
  });

  it('refuses a database of a newer release in one line that names its variable and the release', async () => {
    record.value = { format: 9, writtenBy: '9.1.0' };
    await assert.rejects(recordDatabaseFormat(database, 'READ_STORE_URL'), isNewer);
    assert.deepEqual(record.value, { format: 9, writtenBy: '9.1.0' });
  });

  it('does not lower the number of a newer release that starts at the same time', async () => {
    const read = record.get.bind(record);
    record.get = async () => {
      const found = await read();
      await record.take('format', 9);
      record.value = { format: 9, writtenBy: '9.1.0' };
      return found;
    };
    await assert.rejects(recordDatabaseFormat(database, 'READ_STORE_URL'), isNewer);
    assert.deepEqual(record.value, { format: 9, writtenBy: '9.1.0' });
  });

  it('does not start while a newer release has begun to take the database over', async () => {
    await record.take('format', 9);
    await assert.rejects(
      recordDatabaseFormat(database, 'READ_STORE_URL'),
      (error) => error instanceof StartupError && error.message.includes('READ_STORE_URL'),
    );
  });
});
