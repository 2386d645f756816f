import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockStoreFile } from '#app/files/store-file-lock.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

describe('lockStoreFile', () => {
  let folder: string;
  let file: string;
  const lockEventFile = (path: string) => lockStoreFile(path, 'EVENT_STORE_URL');

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'switchyard-lock-')));
    file = join(folder, 'events.db');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('refuses a file to a second store of the same process, in one line that names the file', () => {
    const lock = lockEventFile(file);
    assert.throws(
      () => lockStoreFile(file, 'READ_STORE_URL'),
      (error) =>
        error instanceof StartupError &&
        error.message.startsWith(`${file} is in use by process ${process.pid}, this one`) &&
        error.message.includes('READ_STORE_URL') &&
        !error.message.includes('\n'),
    );
    lock.release();
    lockEventFile(file).release();
  });

  it('holds one lock for all symbolic links to a file, whether or not the file exists yet', () => {
    mkdirSync(join(folder, 'other'));
    const link = join(folder, 'other', 'link.db');
    symlinkSync('../events.db', link);
    symlinkSync(folder, join(folder, 'other', 'folder'));
    for (const make of [() => undefined, () => writeFileSync(file, '')]) {
      make();
      const lock = lockEventFile(file);
      for (const name of [link, join(folder, 'other', 'folder', 'events.db')])
        assert.throws(() => lockEventFile(name), /is in use by process/);
      lock.release();
      const byLink = lockEventFile(link);
      assert.throws(() => lockEventFile(file), /is in use by process/);
      byLink.release();
    }
  });

  it('refuses a file with a second hard link, because SQLite would keep two logs of it', () => {
    writeFileSync(file, '');
    linkSync(file, join(folder, 'twin.db'));
    assert.throws(() => lockEventFile(file), {
      name: 'StartupError',
      message: /2 names \(hard links\).*EVENT_STORE_URL/,
    });
    rmSync(join(folder, 'twin.db'));
    lockEventFile(file).release();
  });

  it('refuses a file in a folder that does not exist, and symbolic links in a circle', () => {
    assert.throws(() => lockEventFile(join(folder, 'nowhere', 'events.db')), /check that its folder exists/);
    symlinkSync('b', join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    assert.throws(() => lockEventFile(join(folder, 'a')), { name: 'StartupError' });
  });
});
