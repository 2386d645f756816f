import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataDirectory, runningOwner } from '#app/data-directory.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

/** A process that locks a folder, prints a line, and holds the lock until it is killed. */
const holder = `
  const { openDataDirectory } = await import(process.argv[1]);
  openDataDirectory(process.argv[2]).announce('http://127.0.0.1:1234');
  process.stdout.write('taken');
  setInterval(() => {}, 1000);
`;

describe('openDataDirectory', function () {
  this.timeout(180_000);

  let parent: string;
  let path: string;
  const children: ChildProcess[] = [];

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'switchyard-data-'));
    path = join(parent, 'nested', 'data');
  });

  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    rmSync(parent, { recursive: true, force: true });
  });

  async function startHolder(): Promise<ChildProcess> {
    const module = new URL('../../src/app/data-directory.ts', import.meta.url).href;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', holder, module, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  it('creates a folder that only its owner can access', () => {
    const directory = openDataDirectory(path);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    directory.release();
  });

  it('records the owner’s process id and URL, and removes the record on release', () => {
    const directory = openDataDirectory(path);
    directory.announce('http://127.0.0.1:8080');
    const owner = JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'));
    assert.equal(owner.pid, process.pid);
    assert.equal(owner.url, 'http://127.0.0.1:8080');
    assert.ok(Math.abs(Date.parse(owner.startedAt) - Date.now()) < 60_000);
    directory.release();
    assert.equal(existsSync(join(path, 'owner.json')), false);
  });

  it('opens a folder again after its release', () => {
    const directory = openDataDirectory(path);
    directory.release();
    directory.release();
    openDataDirectory(path).release();
  });

  it('refuses a folder in use by another process, in one line that names folder and process', async () => {
    const child = await startHolder();
    assert.throws(
      () => openDataDirectory(path),
      (error) =>
        error instanceof StartupError &&
        error.message.includes(path) &&
        error.message.includes(`process ${child.pid}`) &&
        !error.message.includes('\n'),
    );
    assert.equal(runningOwner(path)?.url, 'http://127.0.0.1:1234');
  });

  it('opens a folder again after kill -9, whatever files the dead process left', async () => {
    await kill(await startHolder());
    assert.ok(existsSync(join(path, 'owner.json')));
    assert.equal(runningOwner(path), null);
    const directory = openDataDirectory(path);
    assert.equal(JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8')).pid, process.pid);
    directory.release();
  });

  it('refuses a folder that the same process has open', () => {
    const directory = openDataDirectory(path);
    assert.throws(() => openDataDirectory(path), StartupError);
    directory.release();
  });

  it('finds no running owner of a folder that does not exist', () => {
    assert.equal(runningOwner(path), null);
    assert.equal(existsSync(path), false);
  });

  it('refuses a folder that cannot be made, even where the system denies its parent', () => {
    for (const folder of ['/proc/switchyard/data', '/dev/null/data'])
      assert.throws(() => openDataDirectory(folder), StartupError);
  });

  it('refuses a path that is a file', () => {
    writeFileSync(join(parent, 'file'), '');
    assert.throws(() => openDataDirectory(join(parent, 'file')), {
      name: 'StartupError',
      message: /file cannot be used as the data folder/,
    });
  });

  it('refuses a folder whose lock file is not a SQLite database', () => {
    openDataDirectory(path).release();
    writeFileSync(join(path, 'lock.sqlite'), 'not a database, but long enough to be looked at as one'.repeat(10));
    assert.throws(() => openDataDirectory(path), StartupError);
  });
});
