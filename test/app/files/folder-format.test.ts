import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDataDirectory } from '#app/data-directory.ts';
import { checkFolderFormat, recordFolderFormat } from '#app/files/folder-format.ts';
import { ownFormat } from '#app/stored-format.ts';
import { openLog } from '#app/stores/open-log.ts';
import { openBlobsBeside } from '#cli/stores/blobs-beside.ts';
import { openStreams, openTarget } from '#cli/stores/event-logs.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { oldestFormat } from '#shared/stored-format.ts';

describe('the format of a data folder', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchyard-format-'));
    file = join(folder, 'format.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const writeFormat = (format: number, writtenBy: string) => writeFileSync(file, JSON.stringify({ format, writtenBy }));
  /** Whether an error is one clear line that names the folder and the newer release. */
  const namesBoth = (error: unknown) =>
    error instanceof StartupError &&
    !error.message.includes('\n') &&
    error.message.includes(folder) &&
    error.message.includes('Switchyard 9.1.0 (format 9,');

  const isTooOld = (release: string) => (error: unknown) =>
    error instanceof StartupError &&
    error.message ===
      `The data folder ${folder} was written by Switchyard ${release}: start Switchyard 0.5.0 once on it, then this release.`;

  it('is none in a new folder, and its own after a start', () => {
    assert.equal(checkFolderFormat(folder), null);
    recordFolderFormat(folder);
    assert.equal(checkFolderFormat(folder), ownFormat.format);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), ownFormat);
    assert.deepEqual([readdirSync(folder), statSync(file).mode & 0o077], [['format.json'], 0]);
  });

  it('stays as it is when the same release starts again, and replaces that of the release before', () => {
    writeFormat(ownFormat.format, '0.0.1');
    recordFolderFormat(folder);
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).writtenBy, '0.0.1');
    writeFormat(oldestFormat, '0.0.1');
    recordFolderFormat(folder);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), ownFormat);
  });

  it('refuses a folder of a newer release in one line that names the folder and the release', () => {
    writeFormat(9, '9.1.0');
    assert.throws(() => checkFolderFormat(folder), namesBoth);
    assert.throws(() => recordFolderFormat(folder), namesBoth);
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).format, 9);
  });

  it('refuses a folder of an older release in one line that names the release to go through', () => {
    writeFormat(oldestFormat - 1, '0.4.0');
    assert.throws(() => checkFolderFormat(folder), isTooOld('0.4.0'));
    assert.throws(() => recordFolderFormat(folder), isTooOld('0.4.0'));
    assert.throws(() => openDataDirectory(folder), isTooOld('0.4.0'));
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).format, oldestFormat - 1);
  });

  it('refuses a folder of a release that stored no number, but neither a copy of newer databases nor what a tool has made', () => {
    for (const name of ['events.db', 'read.db', 'subject-keys.db']) writeFileSync(join(folder, name), '');
    assert.equal(checkFolderFormat(folder), null);
    writeFileSync(join(folder, 'processes.db'), '');
    assert.throws(() => openDataDirectory(folder), isTooOld('0.3.0 or an older release'));
    writeFileSync(join(folder, 'records.db'), '');
    assert.equal(checkFolderFormat(folder), null);
  });

  it('is not raised by an import into an event store of an older release', async () => {
    const path = join(folder, 'events.db');
    await (await openTarget({ kind: 'sqlite', path })).close();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 1');
    database.close();
    rmSync(file);
    await assert.rejects(
      openTarget({ kind: 'sqlite', path }),
      /events\.db was written by .*start Switchyard 0\.5\.0 once/,
    );
    assert.ok(!existsSync(file));
  });

  for (const text of ['', '{"format":', 'null', '{"format":"2","writtenBy":"0.4.0"}']) {
    it(`refuses a folder whose number is damaged: ${JSON.stringify(text)}`, () => {
      writeFileSync(file, text);
      assert.throws(
        () => recordFolderFormat(folder),
        (error) => error instanceof StartupError && error.message.includes(folder),
      );
    });
  }

  it('stops the opening of a newer folder, and leaves the folder free', () => {
    writeFormat(9, '9.1.0');
    assert.throws(() => openDataDirectory(folder), namesBoth);
    rmSync(file);
    openDataDirectory(folder).release();
  });

  it('stops every tool that opens a store in a newer folder', async () => {
    writeFormat(9, '9.1.0');
    const log = { kind: 'sqlite', path: join(folder, 'events.db') } as const;
    await assert.rejects(openLog(log), namesBoth);
    await assert.rejects(openStreams(log), namesBoth);
    await assert.rejects(openTarget(log), namesBoth);
    await assert.rejects(openBlobsBeside({ kind: 'folder', path: join(folder, 'blobs') }), namesBoth);
  });
});
