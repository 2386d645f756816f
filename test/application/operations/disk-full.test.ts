import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keepDiskReserve } from '#app/files/private-files.ts';
import { isDiskFull } from '#application/operations/unexpected-error.ts';

describe('isDiskFull and keepDiskReserve', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchyard-full-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('recognizes a full disk by errors of the file system and of SQLite, wrapped or not', () => {
    const system = (code: string) => Object.assign(new Error('write'), { code });
    assert.ok(isDiskFull(system('ENOSPC')));
    assert.ok(isDiskFull(system('EDQUOT')));
    assert.ok(isDiskFull(new Error('outer', { cause: system('ENOSPC') })));
    assert.ok(!isDiskFull(system('EACCES')));
    assert.ok(!isDiskFull('ENOSPC'));
    const database = new DatabaseSync(join(folder, 'full.db'));
    try {
      database.exec('CREATE TABLE t (text TEXT); PRAGMA max_page_count = 2');
      assert.throws(() => database.exec("INSERT INTO t VALUES (printf('%.*c', 100000, 'x'))"), isDiskFull);
    } finally {
      database.close();
    }
  });

  it('removes the reserve of a full data folder at the start, and creates it again when there is space', () => {
    const reserve = join(folder, 'reserve');
    keepDiskReserve(folder, () => 2_000_000);
    assert.equal(statSync(reserve).size, 1024 * 1024);
    assert.equal(statSync(reserve).mode & 0o777, 0o600);
    keepDiskReserve(folder, () => 0);
    assert.equal(existsSync(reserve), false);
    keepDiskReserve(folder);
    assert.equal(existsSync(reserve), true);
  });
});
