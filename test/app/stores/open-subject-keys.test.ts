import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSubjectKeys } from '#app/stores/open-subject-keys.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';

describe('openSubjectKeys of an embedded read store', () => {
  let dataDir: string;
  let warnings: string[];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'open-subject-keys-'));
    warnings = [];
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  const start = async (isLogBegun: () => Promise<boolean>, isReadOnly = false) => {
    const writer = new SqliteWriter({ onFatal: assert.fail });
    const log = { warn: (_: object, message: string) => void warnings.push(message) };
    const keys = await openSubjectKeys({ kind: 'embedded', dataDir, writer }, { isLogBegun, isReadOnly, log });
    await keys.close();
    await writer.close();
  };

  it('warns with instructions when the keys are missing and the log is older', async () => {
    await start(async () => true);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /reads as erased here\. Restore .* stop this one: .* READ_STORE_URL=mongodb:/);
  });

  it('names the copy of the keys when a read-only service has none', async () => {
    await start(async () => true, true);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /reads as erased here\. To read it, .* npm run subject-keys -- copy/);
  });

  it('creates the keys with a new log, and finds them at every later start', async () => {
    await start(async () => false);
    await start(() => assert.fail('the log is asked'));
    assert.deepEqual(warnings, []);
  });
});
