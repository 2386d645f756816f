import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { Unavailable } from '#src/unavailable.ts';
import { type OpenReadStore, readStoreContract } from '#test/contract/read-store.ts';

readStoreContract('SQLite', async () => openIn(await mkdtemp(join(tmpdir(), 'read-store-'))));

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

  it('sets a file aside that is no database', async () => {
    await writeFile(file, 'this is no database, but it is long enough to have a header of a hundred bytes'.repeat(9));
    await assertSetAside();
  });

  it('sets a database aside that is no read store', async () => {
    const foreign = new DatabaseSync(file);
    foreign.exec('CREATE TABLE precious (id)');
    foreign.close();
    await assertSetAside();
  });

  it('sets a read store of a newer release aside', async () => {
    await openWriter().close();
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await assertSetAside();
  });

  it('opens its own file again without a warning', async () => {
    await openWriter().close();
    await openWriter().close();
    assert.deepEqual(warnings, []);
  });

  it('is unavailable to readers before its writer has made it, and seen by them after', async () => {
    const reader = openSqliteReadStore(file);
    await assert.rejects(reader.status(), Unavailable);
    const writer = openWriter();
    assert.deepEqual(await reader.status(), []);
    await reader.close();
    await writer.close();
  });

  it('is opened anew by readers when its writer has begun a new file', async () => {
    const reader = openSqliteReadStore(file);
    await openWriter().close();
    assert.deepEqual(await reader.status(), []);
    await writeFile(`${file}-next`, 'damaged');
    await rm(file);
    await writeFile(file, 'x'.repeat(5000));
    const writer = openWriter();
    const status = { name: 'items', version: 1, state: 'running', ready: true, begunAt: 0, position: 4 } as const;
    await writer.saveStatus([{ ...status, failure: null, rebuild: null }]);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    assert.equal((await reader.status()).length, 1);
    await reader.close();
    await writer.close();
  });
});

function openIn(folder: string): OpenReadStore {
  const file = join(folder, 'read-store.sqlite');
  const writer = openSqliteReadStoreWriter(file, assert.fail);
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
      return openIn(folder);
    },
    dispose: async () => {
      await close();
      await rm(folder, { recursive: true });
    },
  };
}
