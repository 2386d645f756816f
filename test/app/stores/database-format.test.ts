import assert from 'node:assert/strict';
import { checkDatabaseFormat, ownFormat, recordDatabaseFormat } from '#app/stored-format.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Json } from '#shared/json/json.ts';

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
  beforeEach(() => {
    record = new FormatRecord();
  });
  const isNewer = (error: unknown) =>
    error instanceof StartupError &&
    error.message.includes('READ_STORE_URL') &&
    error.message.includes('Switchyard 9.1.0 (format 9,');

  it('is 1 in a database of a release before formats had numbers, and its own after a start', async () => {
    assert.equal(await checkDatabaseFormat(record, 'READ_STORE_URL'), 1);
    await recordDatabaseFormat(record, 'READ_STORE_URL');
    assert.equal(await checkDatabaseFormat(record, 'READ_STORE_URL'), ownFormat.format);
    assert.deepEqual(record.value, ownFormat);
  });

  it('refuses a database of a newer release in one line that names its variable and the release', async () => {
    record.value = { format: 9, writtenBy: '9.1.0' };
    await assert.rejects(recordDatabaseFormat(record, 'READ_STORE_URL'), isNewer);
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
    await assert.rejects(recordDatabaseFormat(record, 'READ_STORE_URL'), isNewer);
    assert.deepEqual(record.value, { format: 9, writtenBy: '9.1.0' });
  });

  it('does not start while a newer release has begun to take the database over', async () => {
    await record.take('format', 9);
    await assert.rejects(
      recordDatabaseFormat(record, 'READ_STORE_URL'),
      (error) => error instanceof StartupError && error.message.includes('READ_STORE_URL'),
    );
  });
});
